import Basics
import HTTP
import Testing

@testable import MediaTokenGate

@Suite("Pages that may read answers")
struct CORSTests {
    private func fields(_ origins: [String], _ origin: String, path: String = "/v1/play") -> [String: String] {
        let gate = Gate(routes: [], corsOrigins: CORSOrigins(origins.compactMap { CORSOrigin($0) }))
        let request = HTTPRequest(method: "POST", path: path, headers: [("Origin", origin)])
        let fields = gate.corsFields(for: request).map { (name: "\($0.name)", value: $0.value) }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    @Test(
        "a page of a listed origin may read answers and have cookies; no other page may, and no cache may mix the two")
    func listed() {
        let listed = ["https://Player.example:443", "http://dev.example:8080"]
        for origin in ["https://player.example", "http://dev.example:8080"] {
            let fields = fields(listed, origin)
            #expect(fields["Access-Control-Allow-Origin"] == origin)
            #expect(fields["Access-Control-Allow-Credentials"] == "true" && fields["Vary"] == "Origin")
        }
        for origin in [
            "https://player.example.evil", "https://player.example:444", "http://player.example",
            "https://dev.example:8080",
            "null", "", "*", "https://player",
        ] {
            #expect(fields(listed, origin) == ["Vary": "Origin"], "\(origin)")
        }
        #expect(fields(listed, "https://player.example", path: "/v1/authz/auth-request").isEmpty)
    }

    @Test("a page's preflight is answered at what pages may call, if any page may")
    func preflight() {
        for (origins, method, path, status) in [
            (["*"], "OPTIONS", "/v1/play", 204), (["*"], "OPTIONS", "/v1/verify", 204),
            ([], "OPTIONS", "/v1/play", 405),
            (["*"], "GET", "/v1/play", 405), (["*"], "OPTIONS", "/v1/authz/auth-request", 403),
            (["*"], "OPTIONS", "/", 404),
        ] {
            let gate = Gate(corsOrigins: CORSOrigins(origins.compactMap { CORSOrigin($0) }))
            guard case .settled(let reply) = gate.task(HTTPRequest(method: method, path: path), at: .now) else {
                Issue.record("expected an answer")
                continue
            }
            #expect(reply.answer.status == status, "\(method) \(path)")
            #expect((reply.answer.value(of: "Access-Control-Allow-Methods") == "POST") == (status == 204))
        }
    }

    @Test("with * a page of any origin may read answers, and none has cookies")
    func any() {
        let fields = fields(["*"], "https://any.example")
        #expect(fields["Access-Control-Allow-Origin"] == "*" && fields["Vary"] == "Origin")
        #expect(fields["Access-Control-Allow-Credentials"] == nil)
        #expect(self.fields([], "https://any.example").isEmpty)
    }
}
