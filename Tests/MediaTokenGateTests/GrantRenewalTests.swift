import Basics
import HTTP
import MediaToken
import PlaybackGrants
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Grants that the gate renews")
struct GrantRenewalTests {
    private static let issued: Int64 = 1_800_000_000
    private let directory: TemporaryDirectory
    private let routes: String
    private let gate: Gate
    private let verifier: MediaTokenVerifier
    private let (old, new): (CommonAccessToken, CommonAccessToken)

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        let keys = try [1, 2].map { try directory.write(String(repeating: "0\($0)", count: 32), to: "\($0)") }
        let (mml, cat) = (#""requestor": "MML", "resource": "TNT""#, #""kind": "cat", "key-id": ["newer", "old"]"#)
        routes = """
            {"keys": ["x"], "routes": [
              {"path": "/live", \(mml), "grant": {\(cat), "key-file": \(keys), "issuer": "gate", "cookie-domain": "a.example",
                "partitioned": true, "renew": "automatic:300:60", "validity": 600, "renew-until": 1000}},
              {"path": "/once", \(mml), "grant": {\(cat), "key-file": \(keys), "issuer": "gate", "validity": 600}},
              {"path": "/free", "open": true}]}
            """
        gate = try Gate(reading: routes)
        verifier = try Mint.verifier()
        func tokens(_ byte: UInt8, _ name: String) throws -> CommonAccessToken {
            try CommonAccessToken(key: GrantSecret(Array(repeating: byte, count: 32)), keyID: name)
        }
        (new, old) = (try tokens(1, "newer"), try tokens(2, "old"))
    }

    /// The answer to a request with a token of the old key that expires 600 seconds after its issue.
    private func answer(
        _ target: String = "/live/1.ts", at second: Int64 = 599, method: String = "GET",
        _ change: (inout CATClaims) -> Void = { _ in }
    ) throws -> (code: String, cookies: [String]) {
        let reply = try reply(target, at: second, method: method, change)
        return (reply.code, reply.answer.headers.filter { $0.name == "Set-Cookie" }.map(\.value))
    }

    private func reply(
        _ target: String = "/live/1.ts", at second: Int64 = 599, method: String = "GET", by other: Gate? = nil,
        _ change: (inout CATClaims) -> Void
    ) throws -> GateReply {
        var claims = CATClaims()
        (claims.issuer, claims.issuedAt, claims.expires) = ("gate", Self.issued, Self.issued + 600)
        claims.scope.pathPrefix = "/\(target.split(separator: "/")[0])/"
        claims.renewal = CATRenewal(kind: .automatic, seconds: 300, deadline: 60)
        change(&claims)
        let cookie = "\(CommonAccessToken.name)=\(try old.grant(claims).fields[0].value)"
        let request = HTTPRequest(
            method: "GET", path: "/v1/authz/forward-auth",
            headers: [("X-Forwarded-Uri", target), ("X-Forwarded-Method", method), ("Cookie", cookie)])
        let now = Timestamp(milliseconds: (Self.issued + second) * 1000)
        return (other ?? gate).reply(to: request, by: verifier, at: now)
    }

    @Test("a proxy may keep an answer only where a grant or an open route allows, and never beyond the grant's end")
    func kept() throws {
        let kept = try Gate(reading: routes.replacing(#"{"keys""#, with: #"{"decision-max-age": 20, "keys""#))
        func fields(_ target: String, at second: Int64, by gate: Gate) throws -> [String] {
            try reply(target, at: second, by: gate) { _ in }.answer.headers.filter {
                ["Cache-Control", "Vary"].contains($0.name)
            }.map(\.value)
        }
        #expect(try fields("/live/1.ts", at: 100, by: gate) == ["no-store"])
        #expect(try fields("/free/1.ts", at: 100, by: gate) == ["no-store"])
        let vary = "Cookie, CTA-Common-Access-Token, X-Forwarded-Uri, X-Forwarded-Method, X-Forwarded-Host"
        #expect(try fields("/live/1.ts", at: 100, by: kept) == ["max-age=20", vary])
        #expect(try fields("/free/1.ts", at: 100, by: kept) == ["max-age=20", vary])
        #expect(try fields("/once/1.ts", at: 590, by: kept) == ["max-age=9", vary])
        // With a renewed grant in it, and refused.
        for (target, second) in [("/live/1.ts", 599), ("/once/1.ts", 600), ("/none", 1)] {
            #expect(try fields(target, at: Int64(second), by: kept) == ["no-store"], "\(target)")
        }
        // For GET alone, and not if the proxy does not say.
        for (method, caching) in [("GET", "max-age=20"), ("VIPGET", "no-store"), (nil, "no-store")] {
            let headers = [("X-Forwarded-Uri", "/free/1.ts")] + (method.map { [("X-Forwarded-Method", $0)] } ?? [])
            let request = HTTPRequest(
                method: "GET", path: "/v1/authz/forward-auth", query: nil, headers: headers, body: [])
            guard case .settled(let reply) = kept.task(request, at: Timestamp(milliseconds: 0)) else {
                throw Program.Failure(description: "not settled")
            }
            #expect(reply.answer.value(of: "Cache-Control") == caching, "\(method ?? "none")")
        }
    }

    @Test("a grant that opens a request in its window is replaced by a later one of the first key, in one cookie")
    func renewed() throws {
        for (second, count) in [(0, 0), (539, 0), (540, 1), (599, 1)] {
            let (code, cookies) = try answer(at: Int64(second))
            #expect(code == "GRANT_VALID" && cookies.count == count, "\(second): \(cookies)")
        }
        let cookie = try #require(try answer().cookies.first)
        #expect(try answer().cookies == [cookie], "requests of one second get one cookie")
        let attributes = "; Path=/live; Domain=a.example; Max-Age=300; Secure; HttpOnly; SameSite=None; Partitioned"
        #expect(cookie.hasSuffix(attributes))
        let token = cookie.dropLast(attributes.utf8.count).dropFirst(CommonAccessToken.name.utf8.count + 1)
        let claims = try new.authenticClaims(of: String(token))
        #expect(claims.expires == Self.issued + 899 && claims.issuedAt == Self.issued && claims.issuer == "gate")
        #expect(claims.renewal == CATRenewal(kind: .automatic, seconds: 300, deadline: 60))
    }

    @Test("what opens nothing, has come to its bound, is not the route's own or asks for no renewal gets no cookie")
    func unrenewed() throws {
        for (second, change) in [
            (600, { _ in }), (599, { $0.issuer = "other" }), (599, { $0.methods = ["PUT"] }),
            (599, { $0.notBefore = Self.issued + 600 }), (599, { $0.scope.pathPrefix = "/once/" }),
        ] as [(Int64, (inout CATClaims) -> Void)] {
            let (code, cookies) = try answer(at: second, change)
            #expect(code == "GRANT_REFUSED" && cookies.isEmpty, "\(cookies)")
        }
        for (target, second, change) in [
            ("/once/1", 599, { _ in }), ("/live/1", 599, { $0.renewal = nil }),
            ("/live/1", 999, { $0.expires = Self.issued + 1000 }),
            ("/live/a/1", 599, { $0.scope.pathPrefix = "/live/a/" }),
        ] as [(String, Int64, (inout CATClaims) -> Void)] {
            let (code, cookies) = try answer(target, at: second, change)
            #expect(code == "GRANT_VALID" && cookies.isEmpty, "\(target): \(cookies)")
        }
        let (code, cookies) = try answer("/free/1")
        #expect(code == "TOKEN_NOT_REQUIRED" && cookies.isEmpty)
    }

    @Test("the log learns for which token a grant was made, and whether it is renewed or could not be")
    func logged() throws {
        let identifier = [UInt8](1...16)
        for (second, length, renews) in [(0, 16, false), (599, 16, true), (599, 15, true), (600, 16, false)] {
            let reply = try reply(at: Int64(second)) { $0.identifier = Array(identifier.prefix(length)) }
            #expect(reply.grant?.token?.description == (length == 16 ? "0102030405060708" : nil))
            #expect(reply.grant?.isRenewed == renews && reply.grant?.keyID == "old")
            #expect(second == 600 ? reply.detail?.contains("expired") == true : reply.detail == nil)
        }
        // The ID of the new key is longer, so that the longest grant of the old one cannot be renewed.
        let failed = try #require(
            (2000...3000).reversed().lazy.compactMap { length in
                try? self.reply { $0.methods = ["GET", String(repeating: "X", count: length)] }
            }.first)
        #expect(failed.code == "GRANT_VALID" && failed.grant?.isRenewed == false && failed.answer.status == 200)
        #expect(failed.detail?.hasPrefix("the grant is valid, and cannot be renewed: claims: ") == true)
        #expect(!failed.answer.headers.contains { $0.name == "Set-Cookie" || $0.name == "X-Media-Token-Detail" })
    }

    @Test("a renewal needs a bound that it can reach, and a bound needs a renewal by the gate")
    func settings() throws {
        func problem(_ change: (inout RouteGrantSettings) -> Void) throws -> String? {
            var maker = GrantConfiguration(CommonAccessToken.kind)
            maker.keyFiles = [directory.path + "/1"]
            var settings = RouteGrantSettings(maker, scope: "/live")
            settings.validity = .seconds(600)
            change(&settings)
            do throws(GrantError) {
                _ = try RouteGrant(settings, hosts: [])
                return nil
            } catch {
                return "\(error)"
            }
        }
        for (renew, until, delivery, part) in [
            (nil, nil, .cookie, nil), ("cookie:60", "601", .cookie, nil), ("automatic:60", "601", .cookie, nil),
            ("header:60", nil, .cookie, nil), ("redirect:60", nil, .cookie, nil), ("cookie:60", nil, .query, nil),
            ("cookie:60", nil, .cookie, "renew-until: is missing"),
            ("automatic:60", nil, .cookie, "renew-until: is missing"),
            ("cookie:60", "600", .cookie, "renew-until: is 600, and validity is 600; expected more"),
            (nil, "601", .cookie, "renew-until: is given"), ("header:60", "601", .cookie, "renew-until: is given"),
            ("cookie:60", "601", .query, "renew-until: is given"),
            ("cookie:60:60", "601", .cookie, "renew: is 'cookie:60:60'"),
        ] as [(String?, String?, GrantDelivery, String?)] {
            let found = try problem {
                ($0.maker.values["renew"], $0.maker.values["renew-until"], $0.delivery) = (renew, until, delivery)
            }
            #expect(part.map { found?.hasPrefix($0) == true } ?? (found == nil), "\(found ?? "none")")
        }
    }
}
