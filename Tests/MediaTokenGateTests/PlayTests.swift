import Basics
import Foundation
import HTTP
import MediaToken
import PlaybackGrants
import StreamPaths
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("From a token to a grant")
struct PlayTests {
    private let directory: TemporaryDirectory
    private let gate: Gate
    private let verifier: MediaTokenVerifier
    private let token: String

    init() throws {
        directory = try TemporaryDirectory()
        let key = try directory.write(String(repeating: "0f", count: 32) + "\n", to: "key")
        let pem = try directory.write(try Self.pem(), to: "key.pem")
        let mml = #""requestor": "MML", "resource": "TNT""#
        let routes = """
            {"keys": ["x"], "routes": [
              {"path": "/live", \(mml), "grant": {"kind": "cat", "key-file": "\(key)", "issuer": "gate", "validity": 600}},
              {"path": "/live/premium", \(mml), "grant": {"kind": "cat", "key-file": "\(key)", "issuer": "gate"}},
              {"path": "/again", \(mml), "grant": {"kind": "cat", "key-file": "\(key)", "renew": "cookie:300:60",
                "renew-until": 20000, "retry-window": 10}},
              {"path": "/only", \(mml), "grant": {"kind": "cat", "key-file": "\(key)", "methods": ["GET"]}},
              {"path": "/vod", \(mml), "grant": {"kind": "akamai", "key-file": "\(key)", "validity": 60}},
              {"path": "/cf", \(mml), "grant": {"kind": "cloudfront", "key-file": "\(pem)", "key-pair-id": "K1", "origins": ["https://d.example"]}},
              {"path": "/cfc", \(mml), "grant": {"kind": "cloudfront", "key-file": "\(pem)", "key-pair-id": "K1", "delivery": "cookie", "origins": ["https://d.example"]}},
              {"path": "/ng", \(mml), "grant": {"kind": "secure-link", "key-file": "\(key)"}},
              {"path": "/two", "requestor": ["MML", "OTHER"], "resource": ["TNT", "CNN"], "grant": {"kind": "cat", "key-file": "\(key)"}},
              {"path": "/wide", \(mml), "grant": {"kind": "akamai", "key-file": "\(key)", "scope": "/wide/in"}},
              {"path": "/plain", \(mml)}, {"path": "/free", "open": true}]}
            """
        gate = try Gate(reading: routes)
        verifier = MediaTokenVerifier(
            keys: try KeyRing(loading: Fixtures.keys, minimumRSABits: 1024), replays: MemoryReplayStore.unfenced())
        token = Fixtures.base64(try Fixtures.realToken().trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static func pem() throws -> String {
        try Program("openssl").succeed(["genrsa", "2048"])
    }

    private static let now = Fixtures.realTokenTime

    private func play(
        _ query: String, body: String? = nil, type: String = "text/plain", attempt keys: [String] = [],
        at time: Timestamp = now
    ) -> HTTPAnswer {
        let request = HTTPRequest(
            method: "POST", path: "/v1/play", query: query,
            headers: [("Content-Type", type)] + keys.map { ("Idempotency-Key", $0) },
            body: Array((body ?? token).utf8))
        return gate.reply(to: request, by: verifier, at: time).answer
    }

    private func authorize(_ target: String, _ headers: [(name: String, value: String)], at time: Timestamp = now)
        -> HTTPAnswer
    {
        answer("GET", "/v1/authz/forward-auth", [("X-Forwarded-Uri", target)] + headers, at: time)
    }

    private func answer(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)], at time: Timestamp = now
    ) -> HTTPAnswer {
        let request = HTTPRequest(method: method, path: path, headers: headers)
        guard case .settled(let reply) = gate.task(request, at: time) else { return HTTPAnswer(299) }
        return reply.answer
    }

    private func document(_ answer: HTTPAnswer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test("a token is exchanged for a cookie that opens its route until it ends, once")
    func cookie() throws {
        let answer = play("url=https://cdn.example/live/tnt/index.m3u8")
        #expect(answer.status == 200)
        let said = try document(answer)
        #expect(
            said["url"] as? String == "https://cdn.example/live/tnt/index.m3u8" && said["mvpd"] as? String == "TempPass"
        )
        #expect(said["expires"] as? Int64 == Self.now.milliseconds / 1000 + 600)
        let cookie = try #require(answer.value(of: "Set-Cookie"))
        #expect(cookie.hasSuffix("; Path=/live; Max-Age=600; Secure; HttpOnly; SameSite=None"))
        let pair = String(cookie.prefix { $0 != ";" })
        let headers = [(name: "Cookie", value: "a=b; " + pair)]
        for target in ["/live/tnt/index.m3u8", "/live/tnt/1.ts?x=y", "/live/a%20b"] {
            let opened = authorize(target, headers)
            #expect(opened.status == 200 && opened.value(of: "X-Media-Token-Code") == "GRANT_VALID", "\(target)")
        }
        let bare = String(pair.dropFirst(CommonAccessToken.name.count + 1))
        #expect(authorize("/live/1", [(CommonAccessToken.name, bare)]).status == 200)
        for (target, changed, time) in [
            ("/live/1", headers, Self.now.advanced(byMilliseconds: 600_000)),
            ("/live/1", [("Cookie", pair.replacing("=2D3R", with: "=2D3S"))], Self.now),
            ("/live/premium/1", headers, Self.now),
        ] {
            let refused = authorize(target, changed, at: time)
            #expect(refused.status == 403 && refused.value(of: "X-Media-Token-Code") == "GRANT_REFUSED")
            #expect(refused.value(of: "X-Media-Token-Detail")?.isEmpty == false)
        }
        #expect(authorize("/vod/1", headers).status == 401, "a route whose grants the gate does not take")
        #expect(authorize("/live/1", []).status == 401)
        #expect(
            authorize("/live/1", headers + [("X-Media-Token", "x")], at: Self.now.advanced(byMilliseconds: 600_000))
                .status == 299)
        #expect(play("url=/live/tnt/index.m3u8").status == 403, "the token is used up")
    }

    @Test("whoever asks again under the same Idempotency-Key within the window gets the same grant, and nobody else")
    func again() throws {
        let (key, url) = ("8e03978e-40d5-43e8-bc93-6894a57f9324", "url=/again/1")
        for keys in [
            [""], ["short"], [String(repeating: "a", count: 15)], [key, key], [key + " "],
            [String(repeating: "a", count: 256)],
        ] {
            let answer = play(url, attempt: keys)
            #expect(answer.status == 400 && String(decoding: answer.body, as: UTF8.self).contains("Idempotency-Key"))
        }
        let first = play(url, attempt: [key])
        try #require(first.status == 200)
        let cookie = try #require(first.value(of: "Set-Cookie"))
        #expect(cookie.contains("; Max-Age=14400;"))
        let later = play(url, attempt: [key], at: Self.now.advanced(byMilliseconds: 9_999))
        #expect(later.status == 200 && later.body == first.body)
        // The cookie lives for as long as is left of the grant.
        #expect(try #require(later.value(of: "Set-Cookie")) == cookie.replacing("Max-Age=14400", with: "Max-Age=14390"))
        for (keys, milliseconds) in [([key], 10_001), ([], 1), ([key.replacing("8", with: "9")], 1)]
            as [([String], Int64)]
        {
            let refused = play(url, attempt: keys, at: Self.now.advanced(byMilliseconds: milliseconds))
            #expect(refused.status == 403 && refused.value(of: "X-Media-Token-Code") == "TOKEN_ALREADY_USED")
        }
        #expect(play("url=/live/1", attempt: [key]).status == 403, "a route without a window")
        #expect(play("url=/again/2", attempt: [key]).status == 403, "another URL")
        #expect(play("url=/again/1?", attempt: [key]).status == 403, "another URL")
        let token = String(cookie.dropFirst(CommonAccessToken.name.count + 1).prefix { $0 != ";" })
        let tokens = try CommonAccessToken(
            key: GrantSecret(hexadecimal: String(repeating: "0f", count: 32)), keyID: "media-token")
        let claims = try tokens.authenticClaims(of: token)
        #expect(claims.renewal == CATRenewal(kind: .cookie, seconds: 300, deadline: 60))
        #expect(claims.scope.pathPrefix == "/again/", "with its slash, or /again-and-again would be open too")
    }

    @Test("a grant that others made with the key opens what it names below its route, and nothing where it is unclear")
    func strangers() throws {
        let tokens = try CommonAccessToken(
            key: GrantSecret(hexadecimal: String(repeating: "0f", count: 32)), keyID: "media-token")
        func status(
            _ target: String = "/live/1", _ more: [(name: String, value: String)] = [],
            _ change: (inout CATClaims) -> Void
        ) throws -> String? {
            var claims = CATClaims()
            (claims.issuer, claims.expires, claims.scope.pathPrefix) = (
                "gate", Self.now.milliseconds / 1000 + 60, "/live/"
            )
            change(&claims)
            let cookie = "\(CommonAccessToken.name)=\(try tokens.grant(claims).fields[0].value)"
            return authorize(target, [("Cookie", cookie)] + more).value(of: "X-Media-Token-Code")
        }
        #expect(try status { _ in } == "GRANT_VALID")
        #expect(try status("/live/a/1") { $0.scope.pathPrefix = "/live/a/" } == "GRANT_VALID")
        // A path is compared as it was requested, with the slash at its end.
        #expect(try status("/live/") { _ in } == "GRANT_VALID" && status("/live") { _ in } == "GRANT_REFUSED")
        for (path, code) in [("/live/a/", "GRANT_VALID"), ("/live/a", "GRANT_REFUSED")] {
            #expect(try status(path) { $0.scope.path = "/live/a/" } == code)
        }
        for prefix in [nil, "", "/", "/l", "/live/../", "/live/%"] {
            #expect(try status("/live/%25") { $0.scope.pathPrefix = prefix } == "GRANT_REFUSED", "\(prefix ?? "none")")
        }
        #expect(try status { $0.issuer = "another" } == "GRANT_REFUSED")
        #expect(try status { $0.issuer = nil } == "GRANT_REFUSED")
        // This route names no hosts, so nobody has told the proxy to say which one is meant.
        let host = [(name: "X-Forwarded-Host", value: "cdn.example")]
        #expect(try status("/live/1", host) { $0.scope.host = "cdn.example" } == "GRANT_REFUSED")
        #expect(try status("/live/1", host) { _ in } == "GRANT_VALID")
    }

    @Test("of the grants that come with a request the first four are looked at")
    func manyGrants() throws {
        let cookie = String(try #require(play("url=/live/1").value(of: "Set-Cookie")).prefix { $0 != ";" })
        for (others, code) in [(0, 200), (3, 200), (4, 403)] {
            let cookies = Array(repeating: "\(CommonAccessToken.name)=x", count: others) + [cookie]
            #expect(authorize("/live/1", [("Cookie", cookies.joined(separator: "; "))]).status == code, "\(others)")
        }
    }

    @Test("on a route without a window an Idempotency-Key lets nobody ask again")
    func noWindow() {
        let key = "8e03978e-40d5-43e8-bc93-6894a57f9324"
        #expect(play("url=/live/1", attempt: [key]).status == 200)
        #expect(play("url=/live/1", attempt: [key]).status == 403)
    }

    @Test("of several requestors and resources of a route, a play is for those that it names")
    func narrowed() {
        for (query, code) in [
            ("requestor=OTHER", 403), ("resource=CNN", 403), ("requestor=OTHER&resource=TNT", 403),
            ("requestor=MML&resource=TNT", 200),
        ] {
            #expect(play("url=/two/1&" + query).status == code, "\(query)")
        }
    }

    @Test("a grant for some methods opens where the proxy says which one is meant")
    func methods() throws {
        let cookie = String(try #require(play("url=/only/1").value(of: "Set-Cookie")).prefix { $0 != ";" })
        let nginx = ("auth-request", "X-Original-URI", "X-Original-Method")
        let caddy = ("forward-auth", "X-Forwarded-Uri", "X-Forwarded-Method")
        for ((kind, target, method), other) in [(nginx, caddy.2), (caddy, nginx.2)] {
            for (headers, code) in [
                ([], 403), ([(method, "GET")], 200), ([(method, "POST")], 403), ([(method, "")], 403),
                ([(method, "GET"), (method, "GET")], 403),
                // Another proxy's header is the client's.
                ([(other, "GET")], 403), ([(method, "GET"), (other, "POST")], 200),
            ] as [([(name: String, value: String)], Int)] {
                let all = [(target, "/only/1"), ("Cookie", cookie)] + headers
                #expect(answer("GET", "/v1/authz/\(kind)", all).status == code, "\(kind): \(headers)")
            }
        }
        for (method, code) in [("GET", 200), ("POST", 403), ("", 403)] {
            let envoy = answer(
                method, "/v1/authz/ext-authz/only/1", [("Cookie", cookie), ("X-Original-Method", "GET")])
            #expect(envoy.status == code, "Envoy: \(method)")
        }
    }

    @Test(
        "each kind, behind the URL or by cookies",
        arguments: [
            ("/vod/a.m3u8?b=c", "/vod/a.m3u8?b=c&hdnts=exp="), ("/ng/a%20b.mp4", "/ng/a%20b.mp4?md5="),
            ("https://d.example/cf/a.mp4", "https://d.example/cf/a.mp4?Expires="),
            ("https://d.example/cfc/a.mp4", "https://d.example/cfc/a.mp4"),
        ])
    func kinds(url: String, beginning: String) throws {
        let answer = play("path=" + Fixtures.percentEncoded(url))
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        let said = try #require(try document(answer)["url"] as? String)
        #expect(said.hasPrefix(beginning) && (said == url) == (url.contains("/cfc/")))
        let cookies = answer.headers.filter { $0.name == "Set-Cookie" }.map(\.value)
        #expect(
            cookies.map { String($0.prefix { $0 != "=" }) }
                == (url.contains("/cfc/")
                    ? [
                        "CloudFront-Policy", "CloudFront-Signature", "CloudFront-Key-Pair-Id",
                        "CloudFront-Hash-Algorithm",
                    ] : []))
    }

    @Test("what cannot be exchanged is refused before the token is used up")
    func refusals() throws {
        for (query, code, part) in [
            ("", 400, "no url is given"), ("url=/live/1&path=/live/1", 400, "a url and a path"),
            ("url=/live/1&url=/live/2", 400, "given as"),
            ("url=/live/../vod/1", 400, "name 2 of the path is a step up"),
            ("url=ftp://x/live/1", 400, "or an http(s) URL"),
            ("url=https:///live/1", 400, "or an http(s) URL"),
            ("url=https://*.example/live/1", 400, "could take the * for"),
            ("url=https://d.example/cf/*", 400, "could take the * for"),
            ("url=https://x%2fy/live/1", 403, "no route"),
            ("url=https://x%252fy/live/1", 400, "or an http(s) URL"),
            ("url=/nothing", 403, "no route"),
            ("url=/LIVE/premium", 403, "no route"),
            ("url=/plain/1", 400, "the route '/plain' has no grant"), ("url=/free/1", 400, "needs no token"),
            ("url=/cf/1", 400, "absolute URL"), ("url=https://d.example/cf?premium/a.mp4", 400, "without a query"),
            ("url=/live", 400, "below /live"), ("url=/live/", 400, "below /live"), ("url=/vod?a=b", 400, "below /vod"),
            ("path=live/1", 400, "the path is 'live/1'; expected a path"),
            ("path=/nothing", 403, "the path is '/nothing'"),
            ("path=/nothing&requestor=", 403, "the path is '/nothing'"),
            ("path=/live/1&requestor=", 400, "the requestor is empty"),
            ("path=/cf/1", 400, "made: path: is '/cf/1'"), ("url=/cf/1", 400, "made: url: is '/cf/1'"),
            ("url=/live/1&requestor=OTHER", 400, "the requestor is 'OTHER'; its route is for 'MML'"),
            ("url=/live/1&resource=CNN", 400, "the resource is 'CNN'; its route is for 'TNT'"),
            ("url=/live/1&resource=C+N%2BN", 400, "the resource is 'C N+N'"),
            ("url=/wide/1", 400, "below /wide/in"), ("url=/wide/out/1", 400, "below /wide/in"),
        ] {
            let answer = play(query)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(
                answer.status == code && text.contains(part),
                "\(query): \(text)")
        }
        #expect(play("url=/live/1", body: "x").status == 401)
        #expect(play("url=/live/1&requestor=MML&resource=TNT").status == 200)
        let json = #"{"token": "\#(token)", "url": "/live/1"}"#
        #expect(play("", body: json, type: "application/json").status == 403, "used up, and read from JSON")
    }

    @Test("every problem of a grant's settings is found, with its place")
    func settings() throws {
        func problems(_ grant: String) throws -> [String] {
            let text = #"{"keys":["x"],"routes":[{"path":"/live","requestor":"A","resource":"B","grant":\#(grant)}]}"#
            return try GateSettingsReader(reading: text).lines
        }
        #expect(try problems(#"{"kind":"cat","key-env":"X","methods":["GET"],"scope":"/live/a"}"#) == [])
        for (grant, part) in [
            ("{}", "grant.kind: is missing"), (#"{"kind":"x"}"#, "grant.kind: is 'x'; expected akamai"),
            (#"{"kind":"cat"}"#, "grant.key-file: expected one of"),
            (#"{"kind":"cat","key-file":"a","key-env":"X"}"#, "grant.key-file: expected one of"),
            (#"{"kind":"cat","key-file":[]}"#, "grant.key-file: is an empty list"),
            (#"{"kind":"cat","key-file":["a",1]}"#, "grant.key-file: is an array; expected a string or an array"),
            (#"{"kind":"cat","key-file":["a","b"]}"#, "grant.key-id: has 0 for 2 keys; expected one for each"),
            (#"{"kind":"cat","key-file":["a","b"],"key-id":"b"}"#, "grant.key-id: has 1 for 2 keys"),
            (#"{"kind":"cat","key-file":"a","key-id":["b","a"]}"#, "grant.key-id: has 2 for 1 keys"),
            (#"{"kind":"cat","key-env":"X","key-id":["b","a"]}"#, "grant.key-id: has 2 for 1 keys"),
            (#"{"kind":"akamai","key-file":["a","b"]}"#, "grant.key-file: has 2 files; expected one"),
            (#"{"kind":"cloudfront","key-env":"X"}"#, "grant.key-pair-id: is missing"),
            (#"{"kind":"cloudfront","key-env":"X","key-pair-id":"K"}"#, "grant.origins: is missing"),
            (
                #"{"kind":"cat","key-env":"X","origins":["cdn.example"]}"#,
                "grant.origins[0]: is 'cdn.example'; expected https://"
            ),
            (#"{"kind":"cat","key-env":"X","origins":[]}"#, "grant.origins: is an empty list"),
            (#"{"kind":"cat","key-env":"X","validity":0}"#, "grant.validity: is 0"),
            (#"{"kind":"cat","key-env":"X","retry-window":61}"#, "grant.retry-window: is 61"),
            (#"{"kind":"cat","key-env":"X","methods":[]}"#, "grant.methods: is an empty list"),
            (#"{"kind":"cat","key-env":"X","methods":["get"]}"#, "grant.methods: is 'get'"),
            (#"{"kind":"akamai","key-env":"X","name":"a;b"}"#, "grant.name: is 'a;b'"),
            (#"{"kind":"cat","key-env":"X","renew":"never"}"#, "grant.renew: is 'never'; expected a kind of automatic"),
            (#"{"kind":"cat","key-env":"X","renew-until":0}"#, "grant.renew-until: is 0; expected a whole number"),
            (#"{"kind":"akamai","key-env":"X","renew-until":9}"#, "grant.renew-until: no such setting"),
            (#"{"kind":"cat","key-env":"X","digest":"md5"}"#, "grant.digest: is 'md5'"),
            (
                #"{"kind":"akamai","key-env":"X","digest":"sha3"}"#,
                "grant.digest: is 'sha3'; expected sha256, sha1, md5"
            ),
            (#"{"kind":"secure-link","key-env":"X","digest":"sha256"}"#, "grant.digest: no such setting"),
            (#"{"kind":"akamai","key-env":"X","issuer":"a"}"#, "grant.issuer: no such setting"),
            (#"{"kind":"cat","key-env":"X","cookie-domain":"a;b"}"#, "grant.cookie-domain: is 'a;b'"),
            (
                #"{"kind":"akamai","key-env":"X","cookie-domain":"a.b"}"#,
                "grant.cookie-domain: has no effect with delivery query"
            ),
            (
                #"{"kind":"akamai","key-env":"X","partitioned":true}"#,
                "grant.partitioned: has no effect with delivery query"
            ),
        ] {
            let found = try problems(grant)
            #expect(found.contains { $0.hasPrefix("routes[0].\(part)") }, "\(grant): \(found)")
        }
        for several in [#"["a"]"#, #"["a","b"],"key-id":["b","a"]"#] {
            #expect(try problems(#"{"kind":"cat","key-file":\#(several)}"#) == [])
        }
        let (short, good) = (try directory.write("abc", to: "short"), directory.path + "/key")
        for (scope, file, problem) in [
            ("/live", short, "key-file: \(short) has 3 digits"),
            ("/a/../b", good, "scope: is '/a/../b'; name 2 of the path is a step up"),
            ("/live%2e", good, "scope: is '/live%2e'"), ("/live;a", good, "scope: is '/live;a'"),
            ("/live/*", good, "scope: is '/live/*'"),
            ("/vod", good, "scope: is '/vod'; expected a path at or below /live"),
            ("/live/a", "/nowhere", "key-file: /nowhere"),
        ] {
            var maker = GrantConfiguration(CommonAccessToken.kind)
            maker.keyFiles = [file]
            let route = try #require(
                GateRoute(path: "/live", access: .open, grant: RouteGrantSettings(maker, scope: scope)))
            do throws(GrantError) {
                _ = try route.withGrant(among: [])
                Issue.record("\(scope) is taken")
            } catch {
                #expect("\(error)".hasPrefix(problem), "\(error)")
            }
        }
    }

    @Test("a route with a comma in its path hands out Akamai tokens by query, and none by cookie")
    func comma() throws {
        let path = "/i/film_,500,1000,.mp4.csmil"
        var maker = GrantConfiguration(AkamaiToken.kind)
        maker.keyFiles = [directory.path + "/key"]
        var settings = RouteGrantSettings(maker, scope: path)
        let grant = try RouteGrant(settings, hosts: [])
        let url = try #require(StreamURL("https://d.example\(path)/master.m3u8"))
        let made = try grant.order(for: .one(url), at: Self.now).outcome(
            identifier: [], firstUse: Self.now, at: Self.now
        )
        .get()
        #expect(made.grant.fields[0].value.contains("acl=\(path)/*~"))
        settings.delivery = .cookie
        #expect {
            _ = try RouteGrant(settings, hosts: [])
        } throws: {
            "\($0)".hasPrefix("delivery: is cookie, and the grant has a comma")
        }
        #expect {
            _ = try RouteGrant(RouteGrantSettings(maker, scope: "/a&b"), hosts: [])
        } throws: {
            "\($0)".hasPrefix("delivery: is in a query, and the grant has & or #")
        }
    }

    @Test("what a CDN would open beyond its route is refused when the settings are read")
    func beyond() throws {
        let key = directory.path + "/key"
        func problem(
            _ kind: GrantKind, other: String = "/live/premium",
            _ change: (inout RouteGrantSettings) -> Void = { _ in }
        ) throws -> String? {
            var maker = GrantConfiguration(kind)
            maker.keyFiles = [kind.name == "cloudfront" ? directory.path + "/key.pem" : key]
            maker.values["key-pair-id"] = "K1"
            var settings = RouteGrantSettings(maker, scope: "/live")
            settings.origins = kind.name == "cloudfront" ? [try #require(StreamOrigin("https://d.example"))] : []
            change(&settings)
            let token = GateRoute.Access.token(Expectation(requestor: "A", resource: .unsafeAnyResource))
            let paths = ["/live", other, "/livestock"]
            let routes = paths.compactMap { GateRoute(path: $0, access: token, grant: settings) }
            do throws(GrantError) {
                _ = try routes[0].withGrant(among: routes)
                return nil
            } catch {
                return "\(error)"
            }
        }
        let tooMuch = "scope: is '/live', and so opens /live/premium too"
        #expect(try problem(AkamaiToken.kind)?.hasPrefix(tooMuch) == true)
        #expect(try problem(AkamaiToken.kind) { $0.scope = "/live/free" } == nil)
        #expect(try problem(CloudFrontGrant.kind) { $0.delivery = .cookie }?.hasPrefix(tooMuch) == true)
        #expect(try problem(CloudFrontGrant.kind) == nil)
        #expect(try problem(CloudFrontGrant.kind) { $0.origins = [] }?.hasPrefix("origins: is missing") == true)
        #expect(try problem(CommonAccessToken.kind) == nil, "the gate itself knows the nearer route")
        for kind in GrantKind.all {
            let inside = try problem(kind) { $0.scope = "/live/premium/a" }
            #expect(inside?.contains("so opens /live/premium too") == true, "\(kind)")
            #expect(
                try problem(kind) { $0.scope = "/live/premium" } != nil
                    && problem(kind) { $0.scope = "/live/pre" } == nil)
        }
        // An origin that takes capitals for small letters serves both.
        #expect(try problem(AkamaiToken.kind, other: "/LIVE/premium")?.contains("so opens /LIVE/premium too") == true)
        #expect(try problem(AkamaiToken.kind, other: "/live./a")?.contains("so opens /live./a too") == true)
        #expect(try problem(AkamaiToken.kind, other: "/l%C3%ADve/a") == nil)
        #expect(try problem(SecureLink.kind) == nil)
        #expect(try problem(SecureLink.kind) { $0.delivery = .cookie }?.hasPrefix("delivery: is cookie") == true)
        let everything = try problem(SecureLink.kind) { $0.maker.values["expression"] = "$secure_link_expires $secret" }
        #expect(everything?.hasPrefix("expression: has no $uri") == true)
    }

    @Test(
        "nginx' $uri of a folder ends with its slash",
        arguments: [("/ng/a/", "/ng/a/"), ("/ng/a", "/ng/a"), ("/?x=/", "/")])
    func folder(url: String, uri: String) throws {
        #expect(try #require(StreamURL(url)).path.uri == uri)
    }
}
