import Testing

@testable import TokenXML

@Suite("Differences of XML documents")
struct CanonicalDifferenceTests {
    private static let mrss = """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>MML</title><item>\
        <title>A &amp; B</title><guid>1</guid><media:rating scheme="urn:v-chip">tv-pg</media:rating>\
        </item></channel></rss>
        """

    private func form(_ text: String) throws -> [UInt8] {
        try Array(text.utf8).withUnsafeBufferPointer { try CanonicalXML.form(of: $0) }
    }

    @Test(
        "the first is told by its path, with both values",
        arguments: [
            (">1<", ">2<", "/rss/channel/item/guid", .values(expected: "1", found: "2")),
            (">1<", "><", "/rss/channel/item/guid", .values(expected: "1", found: "")),
            ("A &amp; B", "A &lt; B", "/rss/channel/item/title", .values(expected: "A &amp; B", found: "A &lt; B")),
            (
                "\"urn:v-chip\"", "'urn:mpaa'", "/rss/channel/item/media:rating/@scheme",
                .values(expected: "urn:v-chip", found: "urn:mpaa")
            ),
            (" scheme=\"urn:v-chip\"", "", "/rss/channel/item/media:rating/@scheme", .missing),
            ("<guid>", "<guid a='1'>", "/rss/channel/item/guid/@a", .extra),
            (
                "/mrss/", "/mrss", "/rss/@xmlns:media",
                .values(expected: "http://search.yahoo.com/mrss/", found: "http://search.yahoo.com/mrss")
            ),
            ("<guid>1</guid>", "", "/rss/channel/item/guid", .missing),
            ("<guid>1</guid>", "<guid>1</guid><link/>", "/rss/channel/item/link", .extra),
            ("<guid>1</guid>", "<guid>1</guid><guid>1</guid>", "/rss/channel/item/guid[2]", .extra),
            ("</item>", "</item><item/>", "/rss/channel/item[2]", .extra),
            ("guid>", "id>", "/rss/channel/item/guid", .otherElement(found: "id")),
            ("<guid>1</guid>", "<guid><b/></guid>", "/rss/channel/item/guid", .values(expected: "1", found: "<b>")),
            ("<item>", "<item>x", "/rss/channel/item", .values(expected: "<title>", found: "x")),
            ("rss", "feed", "/rss", .otherElement(found: "feed")),
        ] as [(String, String, String, CanonicalDifference.Kind)])
    func path(replaced: String, replacement: String, path: String, kind: CanonicalDifference.Kind) throws {
        let other = Self.mrss.replacing(replaced, with: replacement)
            .replacing("yahoo.com/mfeed/", with: "yahoo.com/mrss/")
        let difference = CanonicalDifference(between: try form(Self.mrss), and: try form(other))
        #expect(difference?.path == path && difference?.kind == kind, "\(String(describing: difference))")
    }

    @Test("of repeated elements the number is told, and the last one may be missing")
    func repeated() throws {
        let two = try form("<a><item>1</item><b/><item>2</item></a>")
        let other = CanonicalDifference(between: two, and: try form("<a><item>1</item><b/><item>3</item></a>"))
        #expect(other?.path == "/a/item[2]" && other?.kind == .values(expected: "2", found: "3"))
        let missing = CanonicalDifference(between: two, and: try form("<a><item>1</item><b/></a>"))
        #expect(missing?.path == "/a/item[2]" && missing?.kind == .missing)
    }

    @Test("bytes that are no canonical form have no difference, and no end that is overrun")
    func junk() throws {
        let bytes = try form(Self.mrss)
        for length in bytes.indices {
            #expect(CanonicalDifference(between: Array(bytes[..<length]), and: bytes) == nil)
        }
        let deep = Array(String(repeating: "<a>", count: 100_000).utf8)
        #expect(CanonicalDifference(between: deep, and: deep + deep) == nil)
        #expect(CanonicalDifference(between: bytes, and: bytes) == nil)
    }

    @Test(
        "documents of one canonical form differ in what is named, and in nothing else",
        arguments: [
            ("\"2.0\"", "'2.0'", [.quotes]),
            ("<guid>1</guid>", "<guid>1</guid >", [.spaceInTags]), ("<item>", "\n<item>", [.spaceBetweenElements]),
            ("A &amp; B", "<![CDATA[A & B]]>", [.escapes]), ("urn:v-chip", "urn:v&#45;chip", [.escapes]),
            ("<a/>", "<a></a>", [.emptyTags]), ("<guid>", "<guid xmlns=\"\">", [.namespaces]),
            ("x=\"1\" y=\"2\"", "y=\"2\" x=\"1\"", [.attributeOrder]),
            ("x=\"1\" y=\"2\"", "y = '2' x=\"1\"", [.attributeOrder, .quotes, .spaceInTags]),
            ("\n", "\r\n", [.lineBreaks]),
        ] as [(String, String, Set<MarkupDetail>)])
    func details(replaced: String, replacement: String, details: Set<MarkupDetail>) throws {
        let one = Self.mrss.replacing("<guid>", with: "<b x=\"1\" y=\"2\"><a/></b><c>d\ne</c><guid>")
        let other = one.replacing(replaced, with: replacement)
        #expect(try form(one) == form(other) && one != other)
        #expect(CanonicalXML.details(between: Array(one.utf8), and: Array(other.utf8)) == details)
        #expect(CanonicalXML.details(between: Array(one.utf8), and: Array(one.utf8)).isEmpty)
    }
}
