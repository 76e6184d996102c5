import HTTP
import MediaTokenGate
import PlaybackGrants
import StreamPaths
import TestSupport
import Testing

/// Paths, each given to whatever reads paths: a gate that a proxy asks, the URL of a play, and the check of a grant.
enum PathVectors {
    static func read(_ vector: Vector) throws -> VectorOutcome {
        let target = try #require(vector.path)
        let isRead = StreamPath(target) != nil
        #expect(try isOpen(target) == isRead, "the gate")
        #expect(
            (StreamURL("https://origin.example" + target) != nil) == isRead || target.utf8.contains(UInt8(ascii: "*")))
        // A check cuts a query and a fragment off, and takes a whole URL too, with spaces and accents as people write
        // them.
        let isWritten = target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#".utf8.contains($0) }
        if target.utf8.first == UInt8(ascii: "/"), isWritten {
            #expect(try isGranted(target) == isRead, "the grant")
        }
        return VectorOutcome(code: isRead ? "ONE_READING" : "REFUSED", message: target)
    }

    private static func isOpen(_ target: String) throws -> Bool {
        let route = try #require(GateRoute(path: "/free", access: .open))
        let request = HTTPRequest(
            method: "GET", path: "/v1/authz/forward-auth", headers: [("X-Forwarded-Uri", target)])
        guard case .settled(let reply) = Gate(routes: [route]).task(request, at: Mint.now) else { return false }
        #expect(reply.answer.status == (reply.code == "TOKEN_NOT_REQUIRED" ? 200 : 403))
        return reply.code == "TOKEN_NOT_REQUIRED"
    }

    /// Whether a grant for all paths from `/` on is said to open this one.
    private static func isGranted(_ path: String) throws -> Bool {
        let tokens = try CommonAccessToken(key: GrantSecret(Array(repeating: 1, count: 32)), keyID: "k")
        var claims = CATClaims()
        (claims.expires, claims.scope.pathPrefix) = (Mint.now.milliseconds / 1000 + 60, "/")
        var question = GrantQuestion(at: Mint.now)
        question.url = path
        return try tokens.check(try tokens.grant(claims).fields[0].value, question).opens
    }
}
