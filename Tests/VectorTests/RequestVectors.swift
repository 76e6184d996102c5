import HTTP
import MediaToken
import MediaTokenGate
import TestSupport
import Testing

/// Requests to a gate that opens `/free` to all, and `/free/members` and `/paid` to tokens. `{{token}}` in a header
/// stands for a good one.
enum RequestVectors {
    static func ask(_ vector: Vector) throws -> VectorOutcome {
        let routes = [
            GateRoute(path: "/free", access: .open), GateRoute(path: "/free/members", access: .token(Mint.expectation)),
            GateRoute(path: "/paid", access: .token(Mint.expectation)),
        ]
        let token = Fixtures.base64(try Mint.token())
        let target = try #require(vector.path).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let request = HTTPRequest(
            method: vector.method ?? "GET", path: String(target[0]),
            query: target.count > 1
                ? String(target[1]).replacing("{{token}}", with: Fixtures.percentEncoded(token)) : nil,
            headers: (vector.headers ?? []).map { ($0[0], $0[1].replacing("{{token}}", with: token)) },
            body: Array((vector.input ?? "").replacing("{{token}}", with: token).utf8))
        let reply: GateReply =
            switch Gate(routes: routes.compactMap(\.self)).task(request, at: Mint.now) {
            case .settled(let reply): reply
            case .verify(let task):
                task.reply(to: try Mint.verifier().verify([task.request], at: Mint.now)[0], at: Mint.now)
            case .explain: throw Program.Failure(description: "no case explains")
            }
        #expect([200, 400, 401, 403, 404, 405, 415].contains(reply.answer.status))
        // 200 is for a yes, and nothing else is.
        #expect((reply.answer.status == 200) == ["VALID_TOKEN", "TOKEN_NOT_REQUIRED"].contains(reply.code))
        return VectorOutcome(code: reply.code, message: "\(reply.answer.status)")
    }
}
