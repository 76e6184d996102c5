import Testing
import TokenXML

@Suite("Strict XML")
struct StrictXMLReaderTests {
    private let reader: StrictXMLReader

    init() throws {
        reader = try StrictXMLReader()
    }

    private func read(_ text: String, allowsDeclaration: Bool = false) throws -> XMLElements {
        try read(Array(text.utf8), allowsDeclaration: allowsDeclaration)
    }

    private func read(_ bytes: [UInt8], allowsDeclaration: Bool = false) throws -> XMLElements {
        try reader.read(bytes[...], allowsDeclaration: allowsDeclaration)
    }

    /// The text of each element.
    private func texts(_ text: String, allowsDeclaration: Bool = false) throws -> [String] {
        let elements = try read(text, allowsDeclaration: allowsDeclaration)
        return elements.list.map { elements.text(of: $0) }
    }

    @Test("elements come in document order, with their own text")
    func elements() throws {
        let elements = try read("<a>1<b x='y'>2<![CDATA[3]]>&amp;&#x34;</b><p:c xmlns:p='urn:x'/>5</a>")
        #expect(elements.list.map { elements.name(of: $0) } == ["a", "b", "c"])
        #expect(elements.list.map(\.depth) == [0, 1, 1])
        #expect(elements.list.map { elements.text(of: $0) } == ["1", "23&4", ""])
        #expect(elements.list.map(\.isDecorated) == [false, true, true])
        #expect(elements.list.map(\.hasChildren) == [true, false, false])
    }

    @Test(
        "text between the children of an element shows, wherever it is",
        arguments: [
            ("<a> <b/>\r\n</a>", true), ("<a>x<b/></a>", false), ("<a><b/>x</a>", false), ("<a><b/> &#32;</a>", true),
            ("<a>&#13;\t<b/></a>", true),
        ])
    func blank(text: String, isBlank: Bool) throws {
        #expect(try read(text).root.isBlank == isBlank)
    }

    @Test("a line break is one line feed, in CDATA too; a carriage return that is written as a reference stays")
    func lineBreaks() throws {
        #expect(try texts("<a>1\r\n2\r3\n\n<![CDATA[\r\n4\r\r\n]]>&#13;</a>") == ["1\n2\n3\n\n\n4\n\n\r"])
    }

    @Test(
        "whatever is more than a plain name shows: an attribute, a prefix, a namespace, also one of an element around")
    func decorated() throws {
        let text = "<a><b c=''/><d xmlns:p='urn:x'><p:e/><f/></d><g xmlns='urn:x'><h/></g><i/></a>"
        #expect(
            try read(text).list.map(\.isDecorated) == [false, true, true, true, false, true, true, false])
        let elements = try read(
            "<a><b c='' p:d='' xmlns:p='urn:x'/><d xmlns:p='urn:x'><p:e/></d><g xmlns='urn:y'><h/></g></a>")
        #expect(
            elements.list.map { elements.decoration(of: $0) } == [
                nil, "the attribute 'c'", "the namespace 'urn:x'", "the prefix 'p'", "the namespace 'urn:y'",
                "the namespace 'urn:y'",
            ])
        for (shown, name) in [
            (String(repeating: "c", count: 40) + "…", String(repeating: "c", count: 9000)), ("\u{E9}", "\u{E9}"),
        ] {
            let long = try read("<a \(name)=''/>")
            #expect(long.decoration(of: long.root) == "the attribute '\(shown)'")
        }
    }

    @Test("names are told apart by every byte")
    func names() throws {
        let elements = try read("<ttl/>")
        #expect(elements.isNamed("ttl", elements.root))
        #expect((["ttL", "tt", "ttl ", ""] as [StaticString]).allSatisfy { !elements.isNamed($0, elements.root) })
    }

    @Test(
        "what is not elements and text is refused by name",
        arguments: [
            ("<a><!-- --></a>", XMLError.comment), ("<a/><!-- -->", .comment),
            ("<a><?x?></a>", .processingInstruction), ("<!DOCTYPE a><a/>", .documentType),
            ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", .documentType), ("<?xml version='1.0'?><a/>", .declaration),
            (" <a/>", .doesNotBeginWithTag), ("\u{FEFF}<a/>", .doesNotBeginWithTag), ("", .doesNotBeginWithTag),
            ("<", .doesNotBeginWithTag),
            ("<a>\0</a>", .holdsNUL),
        ])
    func refused(text: String, refusal: XMLError) {
        #expect(throws: refusal) { try read(text) }
    }

    @Test("nothing at all is refused")
    func nothing() {
        let nothing = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        #expect(throws: XMLError.doesNotBeginWithTag) { try reader.readByLibrary(nothing) }
    }

    @Test(
        "what is not well-formed is refused, wherever the fault is",
        arguments: [
            "<a", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a>&x;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a b></a>",
            "<a b='1' b='2'/>", "<a>]]></a>", "<a><![CDATA[</a>", "<p:a/>", "<a>\u{1}</a>", "<a b='<'/>",
            "<a>\u{FFFE}</a>", "<a" + String(repeating: " ", count: 2600),
        ])
    func malformed(text: String) {
        let error = #expect(throws: XMLError.self) { try read(text) }
        guard case .malformed(let code, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(code != 0)
    }

    @Test(
        "a fault is told by its number and its place, and as the first of several",
        arguments: [
            ("<a>\n<b></c></a>", 76, 2, 8), ("<a>\n<b>&x;</b></a>", 26, 2, 7), ("<a>\n<b x></b></a>", 41, 2, 5),
            ("<a>\n<b>x]]></b>&y;</a>", 62, 2, 5), ("<a>\n<b>\u{1}</b></a>", 9, 2, 4), ("<a>\n<p:b/></a>", 201, 2, 5),
        ])
    func place(text: String, code: Int, line: Int, column: Int) {
        #expect(throws: XMLError.malformed(code: code, line: line, column: column)) { try read(text) }
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [[0xC1, 0x81], [0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]])
    func encoding(bytes: [UInt8]) {
        #expect(throws: XMLError.notUTF8) { try read(Array("<a>".utf8) + bytes + Array("</a>".utf8)) }
    }

    @Test("an encoding that is declared is not believed")
    func declaredEncoding() throws {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
        #expect(try texts(text, allowsDeclaration: true) == ["é"])
    }

    @Test("depth and number of elements have limits")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try read(nested(16)).list.count == 16)
        #expect(throws: XMLError.tooDeep(limit: 16)) { try read(nested(17)) }
        #expect(try read("<a>" + String(repeating: "<b/>", count: 255) + "</a>").list.count == 256)
        #expect(throws: XMLError.tooManyElements(limit: 256)) {
            try read("<a>" + String(repeating: "<b/>", count: 256) + "</a>")
        }
        func attributes(_ count: Int) -> String { (0..<count).map { " a\($0)=''" }.joined() }
        #expect(try read("<a\(attributes(512))/>").list.count == 1)
        #expect(throws: XMLError.tooManyAttributes(limit: 512)) { try read("<a\(attributes(512))><b c=''/></a>") }
        func namespaces(_ count: Int) -> String { (0..<count).map { " xmlns:a\($0)='urn:x'" }.joined() }
        #expect(try read("<a\(namespaces(32))/>").list.count == 1)
        #expect(throws: XMLError.tooManyNamespaces(limit: 32)) {
            try read("<a\(namespaces(32))><b xmlns='urn:x'/></a>")
        }
    }

    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    @Test(
        "a section that looks like a tag of more attributes than a document may have is refused, and no other",
        arguments: [
            ("<\(many(" b=''", 512))", true), ("<\(many(" b=''", 513))", false), ("<\(many(" b=\"\"", 513))", false),
            ("<\(many(" b='\">'", 513))", false), ("<\(many(" b=\"'>\"", 513))", false),
            ("<\(many("'' b=", 513))", false),
            (many("<b=''", 513), true), ("<\(many(" b=''", 300))>\(many(" b=''", 300))", true),
            // No element in 2560 bytes has so many.
            ("<\(many("''", 513))\(many(" ", 1514))", true), ("<\(many("''", 513))\(many(" ", 1515))", false),
        ] as [(String, Bool)])
    func tags(section: String, isRead: Bool) {
        #expect(((try? read("<a><![CDATA[\(section)]]></a>")) != nil) == isRead)
    }

    @Test("a root of too many attributes is refused before libxml2 sees that two have one name")
    func rootTag() {
        #expect(throws: XMLError.tooManyAttributes(limit: 512)) { try read("<a\(Self.many(" b=''", 513))/>") }
    }

    @Test("a reader that has refused reads the next document as if nothing had been")
    func reuse() throws {
        for refused in ["<a><b>", "<!DOCTYPE a><a/>", "<a>&x;</a>", "<a><!-- --></a>", "<a/>x", ""] {
            #expect(throws: XMLError.self) { try read(refused) }
            #expect(try texts("<a><b>1</b></a>") == ["", "1"])
        }
    }

    @Test("a text of 60,000 bytes in many runs comes whole")
    func longText() throws {
        let text = String(repeating: "0123456789<![CDATA[&é]]>\n", count: 2500)
        let plain = text.replacing("<![CDATA[", with: "").replacing("]]>", with: "")
        #expect(try texts("<a>\(text)</a>") == [plain])
    }
}

@Suite("Canonical XML")
struct CanonicalXMLTests {
    private func form(_ text: String) throws -> String {
        let bytes = try Array(text.utf8).withUnsafeBufferPointer { try CanonicalXML.form(of: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "has the form that W3C gives",
        arguments: [
            ("<a  c='2' b=\"1\"/>", "<a b=\"1\" c=\"2\"></a>"),
            ("<a><![CDATA[<&]]>></a>", "<a>&lt;&amp;&gt;</a>"),
            ("<a>\n <b/>\n</a>", "<a><b></b></a>"),
            ("<a> <b/> x</a>", "<a> <b></b> x</a>"), ("<a><b> <c/>\n</b></a>", "<a><b><c></c></b></a>"),
            ("<a> </a>", "<a> </a>"),
            ("<a xmlns:y='urn:2' xmlns:x='urn:1'/>", "<a xmlns:x=\"urn:1\" xmlns:y=\"urn:2\"></a>"),
        ])
    func form(text: String, canonical: String) throws {
        #expect(try form(text) == canonical)
        #expect(try form(canonical) == canonical)
    }

    @Test("its size has a limit, and so has the product of what may be namespaces and of elements")
    func limits() throws {
        func repeating(_ text: String, _ count: Int) -> String { "<a>\(String(repeating: text, count: count))</a>" }
        #expect(try form(repeating("b", 16_377)).utf8.count == 16_384)
        #expect(throws: XMLError.tooLong(limit: 16_384)) { try form(repeating("b", 16_378)) }
        #expect(throws: Never.self) { try form(repeating("xmlns", 2048)) }
        #expect(throws: XMLError.tooManyNamespaces(limit: 2048)) { try form(repeating("xmlns", 2049)) }
    }

    @Test("a namespace name that is relative, or no URI at all, has none", arguments: ["y", "%"])
    func relativeNamespace(name: String) {
        #expect(throws: XMLError.relativeNamespace) { try form("<a xmlns:x='\(name)'/>") }
    }

    @Test(
        "comments, processing instructions and declarations have none",
        arguments: ["<a>1<!-- -->2</a>", "<a>1<?x?>2</a>", "<?xml version='1.0'?><a/>"])
    func refused(text: String) {
        #expect(throws: XMLError.self) { try form(text) }
    }
}
