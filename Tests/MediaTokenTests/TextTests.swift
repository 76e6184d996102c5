import Basics
import Testing

@Suite("Texts and addresses")
struct TextTests {
    @Test(
        "texts are the same by their bytes, or by their letters of ASCII in either case, and by nothing else",
        arguments: [
            ("", "", true, true), ("ab", "ab", true, true), ("aB", "Ab", false, true), ("ab", "ac", false, false),
            ("ab", "abc", false, false), ("k", "\u{212A}", false, false), ("é", "e\u{301}", false, false),
            ("é", "É", false, false), ("[", "{", false, false),
        ])
    func same(left: String, right: String, bytes: Bool, letters: Bool) {
        // Substrings of another text have no storage of their own.
        for (left, right) in [(left, right), (right, left), (String("x\(left)".dropFirst()), right)] {
            #expect(left.hasSameBytes(as: right) == bytes)
            #expect(left.isSame(ignoringCaseOf: right) == letters)
        }
    }

    @Test(
        "bytes that were not UTF-8 show, and their neighbours do not",
        arguments: [("", false), ("a", false), ("\u{FFFC}", false), ("a\u{FFFD}", true)])
    func replacement(text: String, holds: Bool) {
        #expect(text.holdsReplacement == holds)
    }

    @Test(
        "a plus sign is a space only where the text's encoder wrote it so",
        arguments: [
            ("a+b", "a b"), ("a+b%2Bc", "a b+c"), ("a+b%20c", "a+b c"), ("%20a+b", " a+b"), ("a+b%20c%2b", "a b c+"),
            ("a+b%20c2B", "a+b c2B"), ("", ""),
        ])
    func plus(text: String, decoded: String) throws {
        #expect(try PercentEncoding.decode(Array(text.utf8)[...], holdsSpaces: true).elementsEqual(decoded.utf8))
        let plain = try PercentEncoding.decode(Array(text.utf8)[...], holdsSpaces: false)
        #expect(
            plain.elementsEqual(
                text.replacing("%20", with: " ").replacing("%2B", with: "+").replacing("%2b", with: "+").utf8))
    }

    @Test(
        "a network holds a network if it holds all of its addresses",
        arguments: [
            ("10.0.0.0/8", "10.1.0.0/16", true), ("10.0.0.0/8", "10.0.0.0/8", true),
            ("10.0.0.0/16", "10.0.0.0/8", false),
            ("10.0.0.0/8", "11.0.0.0/16", false), ("0.0.0.0/0", "11.0.0.0/16", true), ("::/0", "2001:db8::/32", true),
        ])
    func networks(network: String, other: String, holds: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(#require(IPNetwork(other))) == holds)
    }
}
