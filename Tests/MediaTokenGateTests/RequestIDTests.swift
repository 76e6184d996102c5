import HTTP
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("The ID of a request")
struct RequestIDTests {
    private func id(_ headers: (name: String, value: String)...) -> String? {
        RequestID.of(HTTPRequest(method: "GET", path: "/", headers: headers))
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test(
        "IDs as programs make them are taken",
        arguments: [
            "r", "00112233445566778899aabbccddeeff", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "Root=1-67891233-abcdef01",
            "a+b/c==", "host:1.2.3_4@x", String(repeating: "x", count: 64),
        ])
    func taken(text: String) {
        #expect(id(("X-Request-Id", text)) == text)
        #expect(id(("x-request-id", text), ("traceparent", "00-\(Self.trace)-00f067aa0ba902b7-01")) == text)
    }

    @Test("what does not look like an ID is not, and no token does")
    func notTaken() throws {
        let token = try Mint.token()
        let texts = [
            "", " ", "a b", "a%20b", "<a", "a>", "é", "a\u{7F}", "a\tb", "a;b", "a\"b", "a'b", "a,b", "a&b", "a?b",
            "a#b",
            String(repeating: "x", count: 65), token, Fixtures.base64(token), Fixtures.percentEncoded(token),
        ]
        for text in texts { #expect(id(("X-Request-Id", text)) == nil, "\(text)") }
        #expect(id(("X-Request-Id", "a"), ("X-Request-Id", "a")) == nil)
        #expect(id() == nil)
    }

    @Test("the trace ID stands in for an ID that is missing or not taken, if traceparent is valid")
    func traced() {
        let valid = "00-\(Self.trace)-00f067aa0ba902b7-01"
        #expect(id(("traceparent", valid)) == Self.trace)
        #expect(id(("X-Request-Id", "a b"), ("traceparent", valid)) == Self.trace)
        #expect(id(("traceparent", "cc-\(Self.trace)-00f067aa0ba902b7-01-what-comes")) == Self.trace)
        for invalid in [
            "", Self.trace, "00-\(Self.trace)-00f067aa0ba902b7", "00-\(Self.trace)-00f067aa0ba902b7-01-x",
            "ff-\(Self.trace)-00f067aa0ba902b7-01", "0-\(Self.trace)-00f067aa0ba902b7-01",
            "00-\(Self.trace.uppercased())-00f067aa0ba902b7-01", "00-\(Self.trace)a-00f067aa0ba902b7-01",
            "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01", "00-\(Self.trace)-0000000000000000-01",
            "00-\(Self.trace.dropLast())g-00f067aa0ba902b7-01", "00-\(Self.trace)-00f067aa0ba902b7-1",
            "01-\(Self.trace)-00f067aa0ba902b7", "00-\(Self.trace)--00f067aa0ba902b7-01", "00-\(Self.trace)-",
            "00--00f067aa0ba902b7-01",
            "00_\(Self.trace)-00f067aa0ba902b7-01",
        ] {
            #expect(id(("traceparent", invalid)) == nil, "\(invalid)")
        }
        #expect(id(("traceparent", valid), ("traceparent", valid)) == nil)
    }
}
