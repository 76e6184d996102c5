import Testing
import TokenXML

@Suite("Fields of a document")
struct FieldElementsTests {
    private func fields(_ text: String) throws -> FieldElements {
        try FieldElements(reading: Array(text.utf8)[...], with: StrictXMLReader())
    }

    @Test(
        "a field is an element right below the root, or a child right below that",
        arguments: [
            ("<t><a>1</a></t>", nil, "1"), ("<t><b><a>1</a></b></t>", nil, nil), ("<a>1</a>", nil, nil),
            ("<t><a>x<c>1</c></a></t>", "c", "1"), ("<t><a><b>2</b><c>1</c></a></t>", "c", "1"),
            ("<t><b><c>1</c></b></t>", "c", nil), ("<t><c>1</c><a/></t>", "c", nil), ("<t><a/><c>1</c></t>", "c", nil),
            ("<t><a><b><c>1</c></b></a></t>", "c", nil), ("<t><a/><b><c>1</c></b></t>", "c", nil),
        ] as [(String, String?, String?)])
    func places(document: String, child: String?, expected: String?) throws {
        #expect(try fields(document).text("a", child: child == nil ? nil : "c") == expected)
    }

    @Test(
        "a field occurs once, and holds text alone",
        arguments: [
            ("<t><a>1</a><a>1</a></t>", "duplicate"), ("<t><a><a>1</a></a></t>", "nested"), ("<t><a/></t>", "empty"),
            ("<t><a x=''>1</a></t>", "decorated"), ("<t><b/></t>", "missing"),
        ])
    func refused(document: String, problem: String) throws {
        let fields = try fields(document)
        let error = #expect(throws: XMLFieldError.self) { try fields.requiredText("a") }
        #expect("\(try #require(error).reason)".hasPrefix(problem))
    }

    @Test("for display, the known fields right below the root are left out, and nothing else")
    func texts() throws {
        let texts = try fields("<t><a>1</a><b><a>2</a><c><d>3</d></c><e>4</e></b><f>5</f></t>").texts(except: ["a"])
        #expect(texts.map { "\($0.path)=\($0.text)" } == ["b/a=2", "b/c/d=3", "b/e=4", "f=5"])
    }
}
