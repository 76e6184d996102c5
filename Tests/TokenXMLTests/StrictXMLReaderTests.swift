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
        ])
    func blank(text: String, isBlank: Bool) throws {
        #expect(try read(text).root.isBlank == isBlank)
    }

    @Test("a line break is one line feed, in CDATA too; a carriage return that is written as a reference stays")
    func lineBreaks() throws {
        #expect(try texts("<a>1\r\n2\r3<![CDATA[\r\n4\r\r\n]]>&#13;</a>") == ["1\n2\n3\n4\n\n\r"])
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

    @Test(
        "what is not well-formed is refused, wherever the fault is",
        arguments: [
            "<a", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a>&x;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a b></a>",
            "<a b='1' b='2'/>", "<a>]]></a>", "<a><![CDATA[</a>", "<p:a/>", "<a>\u{1}</a>", "<a b='<'/>",
            "<a>\u{FFFE}</a>",
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
        #expect(try read(nested(StrictXMLReader.depthLimit)).list.count == StrictXMLReader.depthLimit)
        #expect(throws: XMLError.tooDeep(limit: StrictXMLReader.depthLimit)) {
            try read(nested(StrictXMLReader.depthLimit + 1))
        }
        let many = "<a>" + String(repeating: "<b/>", count: StrictXMLReader.elementLimit) + "</a>"
        #expect(throws: XMLError.tooManyElements(limit: StrictXMLReader.elementLimit)) { try read(many) }
        func attributes(_ count: Int) -> String { (0..<count).map { " a\($0)=''" }.joined() }
        #expect(try read("<a\(attributes(StrictXMLReader.attributeLimit))/>").list.count == 1)
        #expect(throws: XMLError.tooManyAttributes(limit: StrictXMLReader.attributeLimit)) {
            try read("<a\(attributes(StrictXMLReader.attributeLimit))><b c=''/></a>")
        }
        func namespaces(_ count: Int) -> String { (0..<count).map { " xmlns:a\($0)='urn:x'" }.joined() }
        #expect(try read("<a\(namespaces(StrictXMLReader.namespaceLimit))/>").list.count == 1)
        #expect(throws: XMLError.tooManyNamespaces(limit: StrictXMLReader.namespaceLimit)) {
            try read("<a\(namespaces(StrictXMLReader.namespaceLimit))><b xmlns='urn:x'/></a>")
        }
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
            ("<a> <b/> x</a>", "<a> <b></b> x</a>"),
            ("<a> </a>", "<a> </a>"),
            ("<a xmlns:y='urn:2' xmlns:x='urn:1'/>", "<a xmlns:x=\"urn:1\" xmlns:y=\"urn:2\"></a>"),
        ])
    func form(text: String, canonical: String) throws {
        #expect(try form(text) == canonical)
        #expect(try form(canonical) == canonical)
    }

    @Test("a relative namespace name has none")
    func relativeNamespace() {
        #expect(throws: XMLError.relativeNamespace) { try form("<a xmlns:x='y'/>") }
    }

    @Test("comments and processing instructions have none", arguments: ["<a>1<!-- -->2</a>", "<a>1<?x?>2</a>"])
    func refused(text: String) {
        #expect(throws: XMLError.self) { try form(text) }
    }
}
