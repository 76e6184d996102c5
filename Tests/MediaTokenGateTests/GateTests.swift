import Foundation
import HTTP
import MediaToken
import StreamPaths
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("From a request to an answer")
struct GateTests {
    private static let sources = TokenSources()
    private let gate: Gate
    private let verifier: MediaTokenVerifier
    private let token: String

    init() throws {
        let routes = [
            GateRoute(path: "/live", access: .token(Expectation(requestor: "MML", resource: "TNT"))),
            GateRoute(path: "/live/free", access: .open),
        ]
        gate = Gate(routes: routes.compactMap(\.self))
        let keys = try KeyRing(loading: Fixtures.keys, minimumRSABits: 1024)
        verifier = MediaTokenVerifier(keys: keys, replays: MemoryReplayStore.unfenced())
        token = try Fixtures.realToken().trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func answer(
        _ request: HTTPRequest, by other: Gate? = nil, at time: Timestamp = Fixtures.realTokenTime
    ) -> HTTPAnswer {
        (other ?? gate).reply(to: request, by: verifier, at: time).answer
    }

    private func verify(
        _ body: String, type: String? = nil, query: String? = "requestor=MML&resource=TNT",
        headers: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        HTTPRequest(
            method: "POST", path: "/v1/verify", query: query,
            headers: headers + (type.map { [(name: "content-type", value: $0)] } ?? []), body: Array(body.utf8))
    }

    private var base64: String { Fixtures.base64(token) }

    @Test("a token is taken in every form in which tokens travel, and is one token in all of them")
    func forms() {
        let escaped = Fixtures.percentEncoded(token)
        let bodies =
            [
                (token, "text/plain; charset=utf-8"), (token, nil), (base64, "text/plain"),
                ("token=\(escaped)", "application/x-www-form-urlencoded"),
                ("accessToken=\(escaped)", "application/x-www-form-urlencoded"),
                ("auth=\(base64.replacing("+", with: "%2B"))", "application/x-www-form-urlencoded"),
                ("mediaToken=\(base64)", "application/x-www-form-urlencoded"),
                ("adobeToken=\(base64)", "application/x-www-form-urlencoded"),
                ("tveToken=\(base64)", "application/x-www-form-urlencoded"),
                ("adobeShortMediaToken=\(base64)", "application/x-www-form-urlencoded"),
                ("{\"token\":\"\(base64)\"}", "application/json"),
                ("{\"resource\":\"x\",\"serializedToken\":\"\(base64)\",\"requestor\":\"y\"}", "application/json"),
                ("<play><serializedToken>\(base64)</serializedToken></play>", "application/xml"),
            ] as [(String, String?)]
        for (number, (body, type)) in bodies.enumerated() {
            let answer = answer(verify(body, type: type))
            let expected = number == 0 ? "VALID_TOKEN" : "TOKEN_ALREADY_USED"
            #expect(
                answer.value(of: "X-Media-Token-Code") == expected, "\(body.prefix(20)) as \(type ?? "nothing")")
        }
    }

    @Test("what the token must be for comes from the body, the query or a header, and all must agree")
    func expectation() {
        let json = "{\"token\":\"\(base64)\",\"requestor\":\"MML\",\"resource\":\"TNT\"}"
        let named = [(name: "x-requestor-id", value: "MML"), (name: "X-RESOURCE-ID", value: "TNT")]
        #expect(answer(verify(json, type: "application/json", query: nil)).status == 200)
        #expect(answer(verify(token, query: nil, headers: named)).status == 403)
        #expect(answer(verify(json, type: "application/json", headers: named)).status == 403)
        for (query, headers) in [
            (nil, []), ("requestor=MML", []), ("requestor=MML&resource=TNT&resource=TBS", []),
            ("requestor=A&resource=TNT", named), ("requestor=MML&resource=%ff", []), ("requestor=MML&resource=%4", []),
        ] as [(String?, [(name: String, value: String)])] {
            let answer = answer(verify(token, query: query, headers: headers))
            #expect(answer.status == 400, "\(query ?? "no query")")
            #expect(answer.value(of: "Content-Type") == "application/problem+json")
        }
    }

    @Test("what cannot be read is a problem that says what was expected, and claims nothing")
    func badRequests() {
        let form = "application/x-www-form-urlencoded"
        let cases: [(HTTPRequest, Int, String)] = [
            (HTTPRequest(method: "GET", path: "/v1/verify"), 405, "POST"),
            (HTTPRequest(method: "GET", path: "/"), 404, "/v1/verify"), (verify(""), 400, "no token"),
            (verify("x=1", type: form), 400, "no token"),
            (verify("token=a&auth=b", type: form), 400, "as token and as auth"),
            (verify("token=a&token=b", type: form), 400, "several tokens that differ"),
            (verify("{", type: "application/json"), 400, "malformed"),
            (verify("[]", type: "application/json"), 400, "it is an array; expected an object"),
            (verify("{\"token\":1}", type: "application/json"), 400, "another type"),
            (verify("{\"tokn\":\"x\",\"requestor\":\"MML\"}", type: "application/json"), 400, "no token"),
            (verify("x", query: "resource=TNT"), 400, "X-Requestor-Id"),
            (verify("x", query: "requestor=MML"), 400, "X-Resource-Id"),
            (verify("x", query: "requestor=&resource=TNT"), 400, "the requestor is empty"),
            (verify("{\"tokn\":\"x\"}", type: "application/json"), 400, "expected one, as token"),
            (verify("{\"token\":\"a\",\"token\":\"b\"}", type: "application/json"), 400, "twice"),
            (verify("x", type: "image/png"), 415, "text/plain"),
        ]
        for (request, status, text) in cases {
            let answer = answer(request)
            #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self).contains(text), "\(answer)")
        }
        let elsewhere = answer(verify("", query: "requestor=MML&resource=TNT", headers: [("X-Media-Token", base64)]))
        #expect(
            String(decoding: elsewhere.body, as: UTF8.self).contains(
                "in the header X-Adobe-Primetime-MediaToken; X-Media-Token is for requests to streams"))
        #expect(answer(verify(token)).status == 200)
    }

    @Test("a token in the header is the only one, in clear text or Base64, and the body need not be there")
    func tokenInHeader() {
        let form = "application/x-www-form-urlencoded"
        func sent(_ tokens: [String], _ body: String, _ type: String?, query: String? = nil) -> HTTPAnswer {
            let headers = tokens.map { (name: "x-adobe-primetime-mediatoken", value: $0) }
            return answer(verify(body, type: type, query: query, headers: headers))
        }
        let query = "requestor=MML&resource=TNT"
        #expect(sent([token], "", nil, query: query).status == 200)
        let otherNames = "requestorId=MML&resourceId=TNT"
        for answer in [sent([base64, base64], "", nil, query: query), sent([base64], "", form, query: otherNames)] {
            #expect(answer.value(of: "X-Media-Token-Code") == "TOKEN_ALREADY_USED")
        }
        for (tokens, body, type, named) in [
            ([base64], token, nil, "X-Adobe-Primetime-MediaToken and as the body"),
            ([base64], base64, "text/plain", "and as the body"),
            ([base64], "<play/>", "application/xml", "as the body"),
            ([base64], "token=\(base64)", form, "X-Adobe-Primetime-MediaToken and as token"),
            ([base64], "serializedToken=\(base64)", form, "and as serializedToken"),
            ([base64], "{\"tveToken\":\"\(base64)\"}", "application/json", "and as tveToken"),
            ([base64], "{\"serializedToken\":\"\(base64)\"}", "application/json", "and as serializedToken"),
            ([base64], "{\"decisions\":[]}", "application/json", "an answer of Adobe's"),
            ([base64, token], "", nil, "several tokens that differ"), ([""], "", nil, "no token"),
            ([""], token, nil, "and as the body"),
        ] as [([String], String, String?, String)] {
            let answer = sent(tokens, body, type, query: query)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 400 && text.contains(named), "\(text)")
        }
    }

    @Test("two names for one thing are refused, also where the values are equal, wherever they stand")
    func twoNames() {
        let (form, json) = ("application/x-www-form-urlencoded", "application/json")
        for (body, type, query, named) in [
            ("token=\(base64)&adobeToken=\(base64)", form, "requestor=MML&resource=TNT", "as token and as adobeToken"),
            (
                "{\"token\":\"x\",\"mediaToken\":\"x\"}", json, "requestor=MML&resource=TNT",
                "as token and as mediaToken"
            ),
            ("{\"token\":\"x\",\"serializedToken\":\"x\"}", json, "requestor=MML", "as token and as serializedToken"),
            (token, "text/plain", "requestor=MML&requestorId=MML&resource=TNT", "a requestor and a requestorId"),
            (token, "text/plain", "requestor=MML&resourceId=TNT&resource=TNT", "a resource and a resourceId"),
            ("token=x&requestorId=MML", form, "requestor=MML&resource=TNT", "a requestor and a requestorId"),
            (
                "{\"token\":\"x\",\"resource\":\"TNT\"}", json, "requestor=MML&resourceId=TNT",
                "a resource and a resourceId"
            ),
        ] {
            let answer = answer(verify(body, type: type, query: query))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 400 && text.contains(named), "\(text)")
        }
        #expect(answer(verify(token, query: "requestorId=MML&resourceId=TNT")).status == 200)
        let named = [(name: "X-Requestor-Id", value: "MML"), (name: "X-Resource-Id", value: "TNT")]
        #expect(answer(verify(token, query: "requestorId=MML&resourceId=TNT", headers: named)).status == 403)
        #expect(answer(verify(token, query: "requestorId=ABC&resourceId=TNT", headers: named)).status == 400)
    }

    @Test("a no carries its status, both values that differ, and RFC 6750's challenge where another token may help")
    func refusals() {
        let wrong = answer(verify(token, query: "requestor=MML&resource=TBS"))
        let text = String(decoding: wrong.body, as: UTF8.self)
        #expect(wrong.status == 403 && wrong.value(of: "WWW-Authenticate") == nil)
        #expect(text.contains("INVALID_RESOURCE_ID") && text.contains("TNT") && text.contains("TBS"))
        let late = answer(verify(token), at: Timestamp(milliseconds: Fixtures.realTokenTime.milliseconds + 3_600_000))
        #expect(late.status == 401)
        #expect(late.value(of: "WWW-Authenticate")?.contains("error=\"invalid_token\"") == true)
        #expect(late.value(of: "Cache-Control") == "no-store")
    }

    @Test("a proxy whose request has no stream, two, one that could be two, or a body, learns which of these it is")
    func unknownRoutes() {
        for (endpoint, headers, body, reason) in [
            ("forward-auth", [], "", "in X-Forwarded-Uri"),
            ("auth-request", [("X-Forwarded-Uri", "/live/1")], "", "in X-Original-URI"),
            ("forward-auth", [("X-Forwarded-Uri", "/live/1"), ("X-Forwarded-Uri", "/live/2")], "", "more than once"),
            (
                "forward-auth", [("X-Forwarded-Uri", "/live/../1?media_token=secret")], "",
                "name 2 of the path is a step"
            ),
            ("forward-auth", [("X-Forwarded-Uri", "/elsewhere?media_token=secret")], "", "no route names"),
            ("forward-auth", [("X-Forwarded-Uri", "/v1/play?path=/live/secret")], "", "the path is the gate's own"),
            ("gateway-fabric", [("X-Original-URI", "/live/1"), ("X-Forwarded-Uri", "/live/1")], "", "in Path"),
            ("gateway-fabric", [("Path", "/live/1"), ("Path", "/live/free/1")], "", "Path is given more than once"),
            ("forward-auth", [("X-Forwarded-Uri", "/live/FREE/secret")], "", "might take the stream's path for one"),
            ("auth-request", [("X-Original-URI", "https://live.example/live/secret")], "", "begin with a slash"),
            ("auth-request", [("X-Original-URL", "/live/secret")], "", "X-Original-URL is not a URL"),
            ("auth-request", [("X-Original-URL", "https://u@live.example/live/secret")], "", "is not a URL"),
            ("auth-request", [("X-Original-URL", "https://live.example")], "", "the path is empty"),
            ("auth-request", [("X-Original-URL", "https://live.example?x=/live")], "", "the path is empty"),
            (
                "auth-request", [("X-Original-URL", "https://a.example/live/1"), ("X-Original-URI", "/live/1")], "",
                "X-Original-URI and X-Original-URL are given"
            ),
            (
                "auth-request", [("X-Original-URL", "https://a.example/live/1"), ("X-Original-URI", "")], "",
                "X-Original-URI and X-Original-URL are given"
            ),
            (
                "auth-request",
                [("X-Original-URL", "https://a.example/live/1"), ("X-Original-URL", "https://a.example/live/free/1")],
                "", "X-Original-URL is given more than once"
            ),
            ("forward-auth", [("X-Forwarded-Uri", "/live/1")], "x", "has a body"),
            ("ext-authz", [], "", "is empty"),
        ] as [(String, [(name: String, value: String)], String, String)] {
            let answer = answer(
                HTTPRequest(method: "GET", path: "/v1/authz/" + endpoint, headers: headers, body: Array(body.utf8)))
            #expect(answer.status == 403 && answer.value(of: "X-Media-Token-Code") == "ROUTE_UNKNOWN")
            let detail = answer.value(of: "X-Media-Token-Detail") ?? ""
            #expect(detail.contains(reason) && !detail.contains("secret"), "\(endpoint), \(headers): \(detail)")
        }
    }

    @Test("what NGINX Gateway Fabric sets tells path, method and host, and nothing else does")
    func gatewayFabric() throws {
        let hosts = ["a.example"].compactMap { StreamHost(withoutPort: $0) }
        let routes = [
            GateRoute(
                path: "/live", hosts: hosts, access: .token(Expectation(requestor: "MML", resource: "TNT")),
                allowing: [.head]),
            GateRoute(path: "/live/free", hosts: hosts, access: .open),
        ]
        let gate = Gate(routes: routes.compactMap(\.self))
        for (fields, code) in [
            ([("Path", "/live/1?a=b"), ("Method", "GET"), ("Host", "a.example")], "VALID_TOKEN"),
            ([("Path", "/live/1"), ("Method", "HEAD"), ("Host", "a.example")], "TOKEN_NOT_CONSUMED"),
            ([("Path", "/live/free/1"), ("X-Original-URI", "/live/1"), ("Host", "a.example")], "TOKEN_NOT_REQUIRED"),
            ([("Path", "/live/1"), ("Host", "b.example"), ("X-Original-Host", "a.example")], "ROUTE_UNKNOWN"),
        ] {
            let answer = answer(
                HTTPRequest(
                    method: "GET", path: "/v1/authz/gateway-fabric",
                    headers: fields.map { (name: $0.0, value: $0.1) } + [("X-Media-Token", base64)]), by: gate)
            #expect(answer.value(of: "X-Media-Token-Code") == code, "\(fields)")
        }
    }

    @Test("a proxy's X-Original-URL tells path and host, and then nothing of the client's own headers counts")
    func originalURL() throws {
        let routes = [
            GateRoute(
                path: "/live", hosts: ["a.example"].compactMap { StreamHost(withoutPort: $0) },
                access: .token(Expectation(requestor: "MML", resource: "TNT")), attemptWindow: .seconds(5)),
            GateRoute(path: "/live", hosts: ["b.example"].compactMap { StreamHost(withoutPort: $0) }, access: .open),
        ]
        let gate = Gate(routes: routes.compactMap(\.self))
        func task(_ url: String, _ headers: [(name: String, value: String)] = []) -> GateTask {
            let headers = headers + [(name: "X-Original-URL", value: url)]
            return gate.task(
                HTTPRequest(method: "GET", path: "/v1/authz/auth-request", headers: headers),
                at: Fixtures.realTokenTime)
        }
        let clients = [
            (name: "X-Original-Host", value: "b.example"),
            (name: "X-Media-Token-Attempt", value: String(repeating: "a", count: 32)),
        ]
        guard case .settled(let open) = task("http://B.example:8080/live/1") else {
            Issue.record("the route is open")
            return
        }
        #expect(open.code == "TOKEN_NOT_REQUIRED")
        guard case .verify(let verification) = task("https://a.example/live/1?media_token=x", clients) else {
            Issue.record("the token of the query is not verified")
            return
        }
        #expect(verification.request.retries == nil)
        guard case .settled(let none) = task("https://c.example/live/1", clients) else { return }
        #expect(none.code == "ROUTE_UNKNOWN" && none.detail == "no route names the stream's host, 'c.example'")
    }

    /// The requests of the three kinds of proxies for a client's request with a method.
    private func proxied(_ method: String, token: String) -> [HTTPRequest] {
        let sent = [(name: "X-Media-Token", value: token)]
        return [
            HTTPRequest(
                method: "GET", path: "/v1/authz/auth-request",
                headers: sent + [("X-Original-URI", "/live/1"), ("X-Original-Method", method)]),
            HTTPRequest(
                method: "GET", path: "/v1/authz/forward-auth",
                headers: sent + [("X-Forwarded-Uri", "/live/1"), ("X-Forwarded-Method", method)]),
            HTTPRequest(method: method, path: "/v1/authz/ext-authz/live/1", headers: sent),
        ]
    }

    @Test("HEAD and OPTIONS consume no token, and are allowed by their settings only", arguments: ["HEAD", "OPTIONS"])
    func withoutMedia(method: String) throws {
        let name = method == "HEAD" ? "allow-head" : "allow-preflight"
        for request in proxied(method, token: token) {
            let denied = answer(request)
            #expect(denied.status == 403 && denied.value(of: "X-Media-Token-Code") == "METHOD_WITHOUT_MEDIA")
            #expect(denied.value(of: "X-Media-Token-Detail")?.contains(name) == true)
            #expect(denied.value(of: "WWW-Authenticate") == nil)
        }
        let expectation = Expectation(requestor: "MML", resource: "TNT")
        for other in [MethodWithoutMedia.head, .options] {
            let route = try #require(GateRoute(path: "/live", access: .token(expectation), allowing: [other]))
            for request in proxied(method, token: token) {
                let allowed = answer(request, by: Gate(routes: [route]))
                #expect(allowed.status == (other.rawValue == method ? 200 : 403), "\(other)")
            }
            for request in proxied(method, token: "") {
                let answer = answer(request, by: Gate(routes: [route]))
                let isPreflight = method == "OPTIONS" && other == .options
                #expect(
                    answer.value(of: "X-Media-Token-Code") == (isPreflight ? "CORS_PREFLIGHT" : "TOKEN_MISSING"))
                #expect((answer.value(of: "WWW-Authenticate") == nil) == isPreflight)
            }
        }
        // The token is as it was.
        #expect(answer(proxied("GET", token: token)[0]).status == 200)
        #expect(answer(proxied("GET", token: token)[0]).status == 403)
    }

    @Test("HEAD with a token that fails a check is denied by that check, and one without a token as any request")
    func headOfOthers() throws {
        let route = try #require(
            GateRoute(
                path: "/live", access: .token(Expectation(requestor: "MML", resource: "TBS")),
                allowing: [.head, .options]))
        let gate = Gate(routes: [route])
        for (token, code) in [
            (token, "INVALID_RESOURCE_ID"), ("x", "INVALID_TOKEN_FORMAT"), ("", "TOKEN_MISSING"),
            (token.replacing("TNT", with: "TBS"), "INVALID_SIGNATURE"),
        ] {
            for request in proxied("HEAD", token: token) {
                let answer = answer(request, by: gate)
                #expect(answer.status != 200 && answer.value(of: "X-Media-Token-Code") == code)
            }
        }
        let late = Timestamp(milliseconds: Fixtures.realTokenTime.milliseconds + 3_600_000)
        #expect(
            answer(proxied("HEAD", token: token)[0], by: gate, at: late).value(of: "X-Media-Token-Code")
                == "TOKEN_EXPIRED")
    }

    @Test(
        "a method that no proxy names, or that it names twice, in another case or beside its own, gets media and consumes the token"
    )
    func methodsOfClients() {
        let stream = [(name: "X-Original-URI", value: "/live/1"), (name: "X-Media-Token", value: token)]
        for (method, headers) in [
            ("HEAD", []), ("HEAD", [("X-Original-Method", "GET")]), ("OPTIONS", []),
            ("GET", [("X-Original-Method", "HEAD"), ("X-Original-Method", "GET")]),
            ("GET", [("X-Original-Method", "head")]), ("GET", [("X-Forwarded-Method", "HEAD")]),
            ("GET", [("X-HTTP-Method-Override", "HEAD")]), ("GET", [("X-Original-Method", "HEAD, GET")]),
        ] as [(String, [(name: String, value: String)])] {
            let request = HTTPRequest(method: method, path: "/v1/authz/auth-request", headers: stream + headers)
            guard case .verify = gate.task(request, at: Fixtures.realTokenTime) else {
                Issue.record("\(method), \(headers)")
                continue
            }
        }
    }

    @Test("a store that cannot tell is 503, to backends and to proxies, and no yes")
    func cannotTell() {
        let proxied = [(name: "X-Forwarded-Uri", value: "/live/tnt/1"), (name: "X-Media-Token", value: token)]
        let requests = [
            verify(token), HTTPRequest(method: "GET", path: "/v1/authz/forward-auth", headers: proxied),
        ]
        for request in requests {
            guard case .verify(let task) = gate.task(request, at: Fixtures.realTokenTime) else {
                Issue.record("no token is verified for \(request.path)")
                continue
            }
            let failure = VerificationError.replayStore(.unavailable("gone"))
            let answer = task.reply(to: .failure(failure), at: Fixtures.realTokenTime).answer
            #expect(answer.status == 503)
            #expect(answer.value(of: "X-Media-Token-Code") == "ERROR_UNKNOWN")
        }
    }

    @Test("a proxy's question is answered by status and headers alone, and by default with a refusal")
    func subrequests() {
        func ask(_ path: String, _ headers: [(name: String, value: String)]) -> HTTPAnswer {
            answer(HTTPRequest(method: path.contains("ext-authz") ? "GET" : "HEAD", path: path, headers: headers))
        }
        func authRequest(_ target: String, _ more: [(name: String, value: String)] = []) -> HTTPAnswer {
            ask("/v1/authz/auth-request", [("X-Original-URI", target)] + more)
        }
        let cases: [(HTTPAnswer, Int, String)] = [
            (authRequest("/live/free/x"), 200, "TOKEN_NOT_REQUIRED"), (authRequest("/live/x"), 401, "TOKEN_MISSING"),
            (authRequest("/elsewhere"), 403, "ROUTE_UNKNOWN"), (authRequest("/live/free/../x"), 403, "ROUTE_UNKNOWN"),
            (ask("/v1/authz/auth-request", []), 403, "ROUTE_UNKNOWN"),
            (authRequest("/live/free", [("X-Original-URI", "/live")]), 403, "ROUTE_UNKNOWN"),
            (authRequest("/live/x", [("X-Media-Token", "a"), ("Cookie", "media_token=b")]), 401, "TOKEN_AMBIGUOUS"),
            (authRequest("/live/x", [("X-Media-Token", "junk")]), 401, "INVALID_TOKEN_FORMAT"),
            (
                ask("/v1/authz/forward-auth", [("X-Forwarded-Uri", "/live/x"), ("Authorization", "bearer \(base64)")]),
                200, "VALID_TOKEN"
            ),
            (authRequest("/live/x?a=1&media_token=\(base64.replacing("+", with: "%2B"))"), 403, "TOKEN_ALREADY_USED"),
            (authRequest("/live/x", [("Cookie", "a=b; media_token=\"\(base64)\"; c=d")]), 403, "TOKEN_ALREADY_USED"),
            (ask("/v1/authz/ext-authz/live/x", [("X-Media-Token", base64)]), 403, "TOKEN_ALREADY_USED"),
            (ask("/v1/authz/ext-authz", []), 403, "ROUTE_UNKNOWN"),
            (ask("/v1/authz/ext-authzlive", []), 403, "ROUTE_UNKNOWN"),
        ]
        for (answer, code, status) in cases {
            #expect(answer.status == code && answer.value(of: "X-Media-Token-Code") == status, "\(answer)")
            #expect(answer.body.isEmpty)
        }
    }

    @Test("an explanation claims nothing, and is another question than a verification")
    func explanation() {
        let sent = verify(token)
        for (path, code) in [("/v1/explain", 200), ("/v1/verify", 200), ("/v1/verify", 403), ("/v1/explain", 200)] {
            let query = sent.query.map { String(decoding: $0, as: UTF8.self) }
            let request = HTTPRequest(
                method: "POST", path: path, query: query, headers: sent.headers, body: Array(sent.body))
            #expect(answer(request).status == code, "\(path)")
        }
        for path in ["/v1/verify", "/v1/explain", "/v1/play"] {
            #expect(answer(HTTPRequest(method: "PUT", path: path, body: Array(token.utf8))).status == 405)
        }
    }

    @Test("nginx may ask again about the same request within the route's window: the same ID, host and target")
    func attempts() throws {
        let routes = [
            GateRoute(path: "/again", access: .token(Mint.expectation), attemptWindow: .seconds(2)),
            GateRoute(path: "/once", access: .token(Mint.expectation)),
        ]
        let gate = Gate(routes: routes.compactMap(\.self))
        let id = "0123456789abcdef0123456789abcdef"
        func ask(_ verifier: MediaTokenVerifier, _ changes: [String: [String]] = [:]) throws -> String {
            let usual = [
                "X-Media-Token": [Fixtures.base64(try Mint.token())], "X-Original-URI": ["/again/1"],
                "X-Original-Method": ["GET"], "X-Original-Host": ["a.example"], "X-Media-Token-Attempt": [id],
            ]
            let headers = usual.merging(changes) { $1 }.flatMap { name, values in values.map { (name, $0) } }
            let request = HTTPRequest(method: "GET", path: "/v1/authz/auth-request", headers: headers)
            return gate.reply(to: request, by: verifier).code
        }
        let verifier = try Mint.verifier()
        for _ in 0..<2 { #expect(try ask(verifier) == "VALID_TOKEN") }
        for change in [
            ["X-Original-URI": ["/again/2"]], ["X-Original-Host": ["b.example"]],
            ["X-Media-Token-Attempt": [String(id.reversed())]], ["X-Media-Token-Attempt": []],
            ["X-Media-Token-Attempt": [id, id]],
        ] {
            #expect(try ask(verifier, change) == "TOKEN_ALREADY_USED", "\(change)")
        }
        for change in [
            ["X-Original-URI": ["/once/1"]], ["X-Media-Token-Attempt": [id + "0"]],
            ["X-Media-Token-Attempt": [String(id.dropLast())]],
            ["X-Media-Token-Attempt": [id.replacing("a", with: "g")]],
        ] {
            let verifier = try Mint.verifier()
            #expect(try ask(verifier, change) == "VALID_TOKEN")
            #expect(try ask(verifier, change) == "TOKEN_ALREADY_USED", "\(change)")
        }
    }

    @Test("a header value is one line of printable ASCII, whatever a token says")
    func headerValues() {
        #expect(HTTPAnswer.fieldValue("a\r\nSet-Cookie: b=c") == "a\\u{d}\\u{a}Set-Cookie: b=c")
        #expect(HTTPAnswer.fieldValue("é\u{202E}") == "?\\u{202e}")
    }

    @Test("an answer that does not allow names its reason, and one about a route that route's path as configured")
    func reasons() throws {
        func reply(_ request: HTTPRequest) -> GateReply {
            gate.reply(to: request, by: verifier, at: Fixtures.realTokenTime)
        }
        func proxied(_ target: String, _ headers: [(name: String, value: String)] = []) -> GateReply {
            reply(
                HTTPRequest(
                    method: "GET", path: "/v1/authz/auth-request",
                    headers: [("X-Original-URI", target)] + headers))
        }
        let free = proxied("/live/free/1.ts")
        #expect(free.detail == nil && free.route == "/live/free")
        let missing = proxied("/live/1.ts")
        #expect(missing.detail == "the request has no token" && missing.route == "/live")
        for (target, headers, place) in [
            ("/live/1.ts?token=\(base64)", [], "the parameter token"),
            ("/live/1.ts", [("Cookie", "t=\(base64)")], "the cookie t"),
            ("/live/1.ts", [("X-Token", base64)], "the header x-token"),
        ] as [(String, [(name: String, value: String)], String)] {
            let elsewhere = proxied(target, headers)
            #expect(
                elsewhere.code == "TOKEN_MISSING"
                    && elsewhere.detail?.lowercased().hasPrefix(
                        "the request has no token; \(place) contains one; the gate reads the header") == true,
                "\(elsewhere.detail ?? "")")
        }
        let several = proxied("/live/1.ts?media_token=a", [("X-Media-Token", "b")])
        #expect(several.detail?.contains("differ") == true && several.route == "/live")
        let unknown = proxied("/other/1.ts")
        #expect(unknown.detail?.contains("no route") == true && unknown.route == nil)
        let accepted = proxied("/live/1.ts", [("X-Media-Token", base64)])
        #expect(accepted.code == "VALID_TOKEN" && accepted.detail == nil && accepted.route == "/live")
        let used = proxied("/live/1.ts", [("X-Media-Token", base64)])
        #expect(used.detail?.contains("used before") == true && used.route == "/live")
        let wrong = reply(verify(token, query: "requestor=X&resource=TNT"))
        #expect(wrong.detail?.contains("expected 'X'") == true && wrong.route == nil)
        #expect(reply(verify(token, query: nil)).detail?.hasPrefix("no requestor is given") == true)
        let post = reply(HTTPRequest(method: "GET", path: "/v1/verify"))
        #expect(post.detail == "expected POST" && post.answer.status == 405)
        #expect(reply(HTTPRequest(method: "GET", path: "/")).detail?.hasPrefix("no endpoint has this path") == true)
    }

    @Test("an endpoint is known by its path alone, and Envoy's by what its path begins with")
    func endpoints() {
        for endpoint in GateEndpoint.allCases {
            let path = Array("\(endpoint.path)".utf8)[...]
            #expect(GateEndpoint(path) == endpoint)
            #expect(GateEndpoint(path + [UInt8(ascii: "/")]) == (endpoint == .extAuthz ? .extAuthz : nil))
            #expect(GateEndpoint(path.dropLast()) == nil)
        }
        #expect(GateEndpoint.allCases.filter(\.isForBackends) == [.verify, .play, .explain])
    }
}
