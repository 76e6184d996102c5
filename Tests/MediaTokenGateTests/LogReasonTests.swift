import Basics
import MediaToken
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Reasons in the log")
struct LogReasonTests {
    private func short(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            var writer = ByteWriter(capacity: 16)
            LogReason.write(UnsafeRawBufferPointer(bytes), to: &writer)
            return writer.text
        }
    }

    @Test(
        "a long word is cut, and a long value; the rest of the text is kept",
        arguments: [
            ("", ""), ("this token was used before", "this token was used before"),
            ("is 'TNT'; expected 'CNN'", "is 'TNT'; expected 'CNN'"),
            ("a12345678901234567890 b", "a1234567890123456789… b"),
            ("a1234567890123456789 b", "a1234567890123456789 b"),
            ("is 'a b c d e f g h i j k l m n o p q r s t'; x", "is 'a b c d e f g h i j k l m n o p …'; x"),
            // A quotation mark within a value does not end it.
            ("is 'a='b c d e f g h i j k l m n o p q r s t'…, x", "is 'a='b c d e f g h i j k l m n o p…'…, x"),
            ("don't cut this one, which is no value at all", "don't cut this one, which is no value at all"),
            // No character is cut in two.
            ("ä2345678901234567890ö x", "ä234567890123456789… x"),
            ("ä234567890123456789ö x", "ä234567890123456789… x"),
            ("ä23456789012345678öö x", "ä23456789012345678ö… x"),
            ("ä23456789012345678ö x", "ä23456789012345678ö x"),
        ])
    func cut(text: String, expected: String) {
        #expect(short(text) == expected)
    }

    @Test("a text has an end")
    func longest() {
        let text = short(String(repeating: "word ", count: 1000))
        #expect(text.utf8.count <= 516 && text.hasSuffix("…"))
    }

    @Test("24 bytes of a token without a space get through in no wrapping, wherever they stand")
    func token() throws {
        let token = try Mint.token()
        for form in [token, token.replacing("+", with: " "), Fixtures.base64(token), Fixtures.percentEncoded(token)] {
            // The tag in front of the signature takes no fewer bytes in another form.
            let secret = Set(Self.windows(Array(form.utf8.dropFirst(15))))
            for text in [form, "'\(form)'", "is '\(printable(form))'; expected \(form)", "' \(form) '", "a'\(form)"] {
                #expect(secret.isDisjoint(with: Self.windows(Array(short(text).utf8))), "\(text)")
            }
        }
    }

    private static func windows(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.indices.dropLast(23).map { bytes[$0..<($0 + 24)] }.filter { !$0.contains(UInt8(ascii: " ")) }
    }

    @Test("what a client calls itself is logged as a name, shorter than a token or a session GUID")
    func app() {
        func app(_ userAgent: String?) -> String? { AnswerRecord.app(userAgent.map { Array($0.utf8)[...] }) }
        #expect(app("ExampleTV/4.2 (tvOS 17)") == "ExampleTV/4.2")
        #expect(
            [nil, "", " x", "(x)", "\"x", "<signatureInfo>abc", "\u{e9}"].map(app) == Array(repeating: nil, count: 7))
        #expect(app("0123456789abcdef0123456789abcdef") == "0123456789abcdef0123…")
        #expect(app("Example\u{1}x") == "Example" && app("a'('b") == "a'")
    }
}
