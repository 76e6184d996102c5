import Testing

@testable import TokenXML

@Suite("Plain documents")
struct PlainDocumentTests {
    private static let limit = StrictXMLReader.elementLimit

    static let plain = [
        "<a></a>", "<a>b</a>", "<a><b>c</b></a>", "<a>x<b>y</b>z</a>", "<a>\n\t<b>y</b>\n </a>",
        "<a><b></b>x<c></c></a>",
        "<a><b></b>x</a>", "<a> <b></b></a>", "<a><![CDATA[<x a='1'>&]>]]></a>", "<a><![CDATA[]]></a>",
        "<a><![CDATA[]]]]></a>",
        "<a-b.c_1>t</a-b.c_1>", "<a>></a>", "<a>\"'~</a>", "<xml></xml>", "<xmlns></xmlns>", "<a><![CDATA[]] >]]]></a>",
        "<aaa>12345678</aaa>",
        "<a><b>1</b><![CDATA[2]]><c>3</c></a>", "<a>x<![CDATA[]]></a>", "<a><![CDATA[]]>x</a>",
        "<a><b></b><b>x</b><b><![CDATA[]]></b></a>",
        "<\(String(repeating: "a", count: 1000))></\(String(repeating: "a", count: 1000))>",
        String(repeating: "<a>", count: 16) + "x" + String(repeating: "</a>", count: 16),
        "<r>" + String(repeating: "<b></b>", count: limit - 1) + "</r>",
    ]

    static let other = [
        "<a/>", "<a b='c'></a>", "<a:b xmlns:a='urn:x'></a:b>", "<a:b></a:b>", "<a>&amp;</a>", "<a>&</a>", "<a>]]></a>",
        "<a>]</a>",
        "<a>é</a>", "<é></é>", "<a>\u{7F}</a>", "<a>\u{80}</a>", "<a>\r\n</a>", "<a>\u{1}</a>", "<a>\u{0}</a>",
        "<a>1234567\u{1}</a>", "<a>1234567\u{7F}</a>", "<a>12345678\u{7F}</a>", "<a><![CDATA[\u{1}2345678]]></a>",
        "<a>x<![CDATA[y]]></a>",
        "<a><![CDATA[ ]]> <b></b></a>",
        "<a><![CDATA[x]]><![CDATA[y]]></a>", "<a></a >", "<a ></a>", "<1a></1a>", "<-a></-a>", "<.></.>", "<_a></_a>",
        "<></>", "<a></b>", "<a><![CDATA[]]]>]]></a>",
        "<\(String(repeating: "a", count: 1001))></\(String(repeating: "a", count: 1001))>",
        "<a></ab>", "<ab></a>", "<a>", "<a></a", "<a></a></a>", "<a></a><b></b>", "<a></a> ", " <a></a>", "<a></a>x",
        "", "<", "<a", "a", "xa></a>", "<a></ax", "<a><b></bx</a>",
        "<a><![CDATA[x]]</a>", "<a><![CDATA[x</a>", "<a><![cdata[x]]></a>", "<a><!x></a>", "<a><!-- --></a>",
        "<a><?x?></a>",
        "<?xml version='1.0'?><a></a>", "<!DOCTYPE a><a></a>", "<![CDATA[x]]>", "</a>", "<a><</a>", "<a>< b></b></a>",
        String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
        "<r>" + String(repeating: "<b></b>", count: limit) + "</r>",
        "<a><![CDATA[<" + String(repeating: " b=''", count: 600) + "]]></a>",
    ]

    /// All that is known of a document's elements, or why it is refused.
    private func details(_ body: () throws -> XMLElements) -> [String] {
        do {
            let elements = try body()
            return elements.list.map { element in
                "\(elements.name(of: element)) \(element.depth) \(element.isDecorated) \(element.hasChildren) "
                    + "\(element.isBlank) \(element.isEmpty) \(elements.text(of: element))"
            }
        } catch {
            return ["\(error)"]
        }
    }

    @Test("libxml2 reads what is plain alike, and decides about all else", arguments: plain + other)
    func alike(text: String) throws {
        let reader = try StrictXMLReader()
        // The document begins in the middle of an array, as a token's does.
        let bytes = (Array("<z>".utf8) + Array(text.utf8)).dropFirst(3)
        #expect((PlainDocument.read(bytes) != nil) == Self.plain.contains(text))
        let byLibrary = details { try bytes.withUnsafeBufferPointer { try reader.readByLibrary($0) } }
        #expect(details { try reader.read(bytes) } == byLibrary)
    }

    @Test("a document of up to 64 KiB is plain", arguments: [(65_536, true), (65_537, false)])
    func long(count: Int, isPlain: Bool) {
        let text = "<a>" + String(repeating: "b", count: count - "<a></a>".utf8.count) + "</a>"
        #expect((PlainDocument.read(Array(text.utf8)[...]) != nil) == isPlain)
    }

    @Test("no part of a plain document is plain")
    func truncated() throws {
        for text in Self.plain {
            let bytes = Array(text.utf8)
            for count in 0..<bytes.count { #expect(PlainDocument.read(bytes[..<count]) == nil, "\(count) of \(text)") }
        }
    }

    @Test("each byte in a name, in text and in CDATA is plain only where libxml2 takes it as it is")
    func bytes() throws {
        let reader = try StrictXMLReader()
        let places = (0..<17).flatMap { count -> [(String, String)] in
            let text = String(repeating: "x", count: count)
            return [("<a>\(text)", "</a>"), ("<a>\(text)", "xxxxxxxxx</a>"), ("<a><![CDATA[\(text)", "]]></a>")]
        }
        let names = [("<a", "></a", ">"), ("<", "a></", "a>")]
        for byte in UInt8.min...UInt8.max {
            for parts in names.map({ [$0, $1, $2] }) + places.map({ [$0, $1] }) {
                let document = Array(parts.map { Array($0.utf8) }.joined(separator: [byte]))
                guard let plain = PlainDocument.read(document[...]) else { continue }
                let byLibrary = details { try document.withUnsafeBufferPointer { try reader.readByLibrary($0) } }
                #expect(details { plain } == byLibrary, "\(byte) behind \(parts[0])")
            }
        }
    }
}
