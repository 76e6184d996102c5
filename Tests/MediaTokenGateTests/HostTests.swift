import Basics
import Foundation
import HTTP
import MediaToken
import PlaybackGrants
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Virtual hosts")
struct HostTests {
    private let gate: Gate
    private let directory: TemporaryDirectory
    private let keyFile: String
    private let verifier: MediaTokenVerifier

    init() throws {
        directory = try TemporaryDirectory()
        keyFile = try directory.write(String(repeating: "0f", count: 32), to: "key")
        gate = try Gate(
            reading: Self.settings(
                """
                {"hosts": ["a.example"], "path": "/", "open": true},
                {"hosts": ["a.example", "B.Example."], "path": "/members", "requestor": "MML", "resource": "TNT",
                 "grant": {"kind": "cat", "key-file": "\(keyFile)", "scope": "/members"}},
                {"hosts": ["c.example"], "path": "/members", "open": true}
                """))
        verifier = try Mint.verifier()
    }

    private static func settings(_ routes: String) -> String { #"{"keys": ["x"], "routes": [\#(routes)]}"# }

    private func status(_ endpoint: String, _ headers: [(name: String, value: String)]) -> String {
        let request = HTTPRequest(method: "GET", path: "/v1/authz/" + endpoint, headers: headers)
        return gate.reply(to: request, by: verifier).code
    }

    @Test("a path is looked up among the routes of its host, whichever proxy tells it")
    func routes() {
        for (host, path, expected) in [
            ("a.example", "/x", "TOKEN_NOT_REQUIRED"), ("A.EXAMPLE:8443", "/x", "TOKEN_NOT_REQUIRED"),
            ("a.example.", "/members/1", "TOKEN_MISSING"), ("b.example", "/members/1", "TOKEN_MISSING"),
            ("b.example", "/x", "ROUTE_UNKNOWN"), ("c.example", "/members/1", "TOKEN_NOT_REQUIRED"),
            ("d.example", "/x", "ROUTE_UNKNOWN"), ("", "/x", "ROUTE_UNKNOWN"),
            ("a.example, c.example", "/x", "ROUTE_UNKNOWN"),
            ("a.example/", "/x", "ROUTE_UNKNOWN"), ("a.example", "/Members/1", "ROUTE_UNKNOWN"),
        ] {
            let answers = [
                status("auth-request", [("X-Original-URI", path), ("X-Original-Host", host)]),
                status("forward-auth", [("X-Forwarded-Uri", path), ("X-Forwarded-Host", host)]),
                status("ext-authz" + path, [("Host", host)]),
            ]
            #expect(answers == [expected, expected, expected], "\(host)\(path)")
        }
    }

    @Test("without a host, with two, or with another proxy's, nothing opens")
    func unknownHost() {
        #expect(status("forward-auth", [("X-Forwarded-Uri", "/x")]) == "ROUTE_UNKNOWN")
        #expect(
            status("auth-request", [("X-Original-URI", "/x"), ("X-Forwarded-Host", "a.example")]) == "ROUTE_UNKNOWN")
        #expect(status("forward-auth", [("X-Forwarded-Uri", "/x"), ("Host", "a.example")]) == "ROUTE_UNKNOWN")
        let twice = [("X-Forwarded-Uri", "/x"), ("X-Forwarded-Host", "a.example"), ("X-Forwarded-Host", "a.example")]
        #expect(status("forward-auth", twice) == "ROUTE_UNKNOWN")
    }

    @Test("a grant is for the host that it was made on")
    func grants() throws {
        let answer = try play("https://b.example/members/1", by: gate)
        let cookie = String(try #require(answer.value(of: "Set-Cookie")).prefix { $0 != ";" })
        func status(on host: String) -> String {
            self.status(
                "forward-auth",
                [("X-Forwarded-Uri", "/members/2"), ("X-Forwarded-Host", host), ("Cookie", cookie)])
        }
        #expect(status(on: "b.example") == "GRANT_VALID")
        #expect(status(on: "B.Example.:443") == "GRANT_VALID")
        #expect(status(on: "a.example") == "GRANT_REFUSED")
    }

    @Test("a grant that names no host opens nothing on a route that names its hosts")
    func grantForAnyHost() throws {
        let tokens = try CommonAccessToken(key: GrantSecret(Array(repeating: 15, count: 32)), keyID: "media-token")
        var claims = CATClaims()
        (claims.expires, claims.scope.pathPrefix) = (Mint.now.milliseconds / 1000 + 600, "/members/")
        for (host, expected) in [(nil, "GRANT_REFUSED"), ("b.example", "GRANT_VALID")] {
            claims.scope.host = host
            let cookie = "\(CommonAccessToken.name)=\(try tokens.grant(claims).fields[0].value)"
            let headers = [("X-Forwarded-Uri", "/members/2"), ("X-Forwarded-Host", "b.example"), ("Cookie", cookie)]
            #expect(status("forward-auth", headers) == expected)
        }
    }

    /// The answer to a play by a token that nobody has used.
    private func play(_ url: String, by gate: Gate) throws -> HTTPAnswer {
        let request = HTTPRequest(
            method: "POST", path: "/v1/play", query: "url=\(Fixtures.percentEncoded(url))",
            headers: [("Content-Type", "text/plain")], body: Array(try Mint.token().utf8))
        return gate.reply(to: request, by: try Mint.verifier()).answer
    }

    @Test("a play needs a URL on a host that a route names")
    func plays() throws {
        for (url, status) in [
            ("https://a.example/members/1", 200), ("https://B.EXAMPLE:8443/members/1", 200), ("/members/1", 400),
            ("https://d.example/members/1", 403), ("https://a.example.evil/members/1", 403),
            ("https://c.example/members/1", 400),
        ] {
            #expect(try play(url, by: gate).status == status, "\(url)")
        }
    }

    @Test("what a grant may be made for is a list of origins")
    func origins() throws {
        let gate = try Gate(
            reading: Self.settings(
                """
                {"path": "/members", "requestor": "MML", "resource": "TNT", "grant": {"kind": "akamai", "key-file": "\(keyFile)",
                 "origins": ["https://CDN.example:443", "http://cdn.example:8080"]}}
                """))
        for (url, isTaken) in [
            ("https://cdn.example/members/1", true), ("https://cdn.example.:443/members/1", true),
            ("http://cdn.example:8080/members/1", true), ("http://cdn.example/members/1", false), ("/members/1", false),
            ("https://cdn.example:8443/members/1", false), ("https://evil.example/members/1", false),
            ("https://cdn.example.evil/members/1", false),
        ] {
            #expect(try (play(url, by: gate).status == 200) == isTaken, "\(url)")
        }
    }

    @Test("settings of hosts are found out")
    func settings() throws {
        let open = #""path": "/x", "open": true"#
        for (routes, problem) in [
            (
                #"{"hosts": ["a.example:80"], \#(open)}"#,
                "routes[0].hosts[0]: is 'a.example:80'; expected the name of a host"
            ),
            (#"{"hosts": ["[::1]:443"], \#(open)}"#, "routes[0].hosts[0]: is '[::1]:443'"),
            (#"{"hosts": ["https://a.example"], \#(open)}"#, "routes[0].hosts[0]: is 'https://a.example'"),
            (#"{"hosts": [], \#(open)}"#, "routes[0].hosts: is an empty list"),
            (
                #"{"hosts": ["a.example"], \#(open)}, {"path": "/y", "open": true}"#,
                "routes[1].hosts: is set on some routes only"
            ),
            (
                #"{"hosts": ["a.example"], \#(open)}, {"hosts": ["A.example", "b"], \#(open)}"#,
                "routes[1].path: is that of another"
            ),
            (#"{\#(open), "attempt-window": 2}"#, "routes[0].attempt-window: is given, and the route is open"),
            (
                #"{"path": "/x", "requestor": "A", "resource": "B", "attempt-window": 11}"#,
                "routes[0].attempt-window: is 11"
            ),
        ] {
            let found = try GateSettingsReader(reading: Self.settings(routes)).lines
            #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
        }
        #expect(
            try GateSettingsReader(
                reading: Self.settings(#"{"hosts": ["a.example"], \#(open)}, {"hosts": ["b.example"], \#(open)}"#)
            ).lines == [])
    }
}
