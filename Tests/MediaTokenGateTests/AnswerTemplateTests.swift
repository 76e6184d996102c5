import Testing

@testable import MediaTokenGate

@Suite("Bodies of answers")
struct AnswerTemplateTests {
    private func template(_ text: String, _ type: String) throws(AnswerTemplateError) -> AnswerTemplate {
        try AnswerTemplate(text, type: type, filling: [.token, .code])
    }

    @Test(
        "a media type has values that can be escaped, and UTF-8 at most as its parameter",
        arguments: [
            ("text/plain", true), ("Text/Plain; charset=UTF-8", true), ("text/plain;charset=utf-8", true),
            ("text/plain;", false), ("text/plain; charset=utf-8; charset=utf-8", false),
            ("text/plain; charset=latin1", false), ("text/html", false), ("a\u{1}+json", false), ("ä+json", false),
            ("a+json", true), ("a+xml", true), ("json", false),
        ])
    func types(type: String, isTaken: Bool) {
        let text = type.hasSuffix("json") ? "{}" : "<a/>"
        #expect(((try? template(text, type)) != nil) == isTaken)
    }

    @Test(
        "a name in braces is a placeholder, and other braces stand for themselves",
        arguments: [
            ("{code}", "1"), ("{code", "{code"), ("{code }", "{code }"), ("{{code}}", "{1}"), ("{1}", "{1}"),
            ("{}", "{}"),
            ("{é}", "{é}"), ("{-a}", "{-a}"), ("{a,}{code}", "{a,}1"),
        ])
    func placeholders(text: String, body: String) throws {
        #expect(try template(text, "text/plain").body([.code: "1"]).elementsEqual(body.utf8))
    }

    @Test("an unknown name in braces is a mistake", arguments: ["{url}", "{co-de}", "{a_1}", "{Code}"])
    func unknown(text: String) {
        let error = #expect(throws: AnswerTemplateError.self) { try template(text, "text/plain") }
        #expect(
            error?.reason.contains("has \(text), for which this answer has no value; expected {token}, {code}") == true)
    }

    @Test(
        "a body of XML declares no encoding, whatever its elements are called",
        arguments: [
            ("<?xml version='1.0'?><a encoding='x'/>", true), ("<a encoding='x'/>", true),
            ("<?xml version='1.0' encoding='utf-8'?><a/>", false),
        ])
    func encoding(text: String, isTaken: Bool) {
        #expect(((try? template(text, "text/xml")) != nil) == isTaken)
    }
}
