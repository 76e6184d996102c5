import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Abuse of HTTP")
    struct AbuseTests {
        private let place: GateDestination
        private let gate: GateProcess

        init() throws {
            place = GateDestination()
            let routes = ["--route", "/free=open", "--route", "/free/members=MML:TNT", "--route", "/paid=MML:TNT"]
            gate = try GateProcess(in: place, GateDestination.strict + routes)
        }

        private static let question = "GET /v1/authz/forward-auth HTTP/1.1\r\nHost: gate\r\n"
        private static let free = "X-Forwarded-Uri: /free/x\r\n"
        /// A request that is allowed.
        private static let inner = question + free + "\r\n"
        private static let verify = "POST /v1/verify?requestor=MML&resource=TNT HTTP/1.1\r\nHost: gate\r\n"

        @Test("a request overtakes the examinations that others have asked for")
        func overtaken() throws {
            let gate = try GateProcess(
                in: place,
                GateDestination.strict + [
                    "--route", "/free=open", "--workers", "1", "--max-connections-per-peer", "200",
                ])
            let token = try #require(place.tokens(1).first)
            let explain = GateProcess.verification(token).replacing("/v1/verify", with: "/v1/explain")
            let others = try (0..<150).map { _ in try RawConnection(port: gate.port) }
            gate.signal(SIGSTOP)
            for other in others { other.send(explain) }
            gate.signal(SIGCONT)
            // All of them have come to the gate once the first has its answer.
            let viewer = try RawConnection(port: gate.port)
            #expect(others.contains { !$0.isSilent(forMilliseconds: 60_000) })
            #expect(viewer.ask(Self.inner)?.status == 200)
            #expect(others.contains { $0.isSilent(forMilliseconds: 0) })
            for other in others { #expect(other.answer()?.status == 200) }
        }

        /// What came back to `request`, and whether the connection was closed then: at once, unless it is to be.
        private func ask(
            _ request: String, closes: Bool = false
        ) throws -> (status: Int?, headers: String, isClosed: Bool) {
            let connection = try RawConnection(port: gate.port)
            let answer = connection.ask(request)
            return (answer?.status, answer?.headers ?? "", connection.isClosed(withinMilliseconds: closes ? nil : 0))
        }

        /// ``RequestReaderTests`` has more such requests.
        @Test("what two programs could read in two ways is refused, and nothing behind it is read")
        func ambiguous() throws {
            let (verify, question, free) = (Self.verify, Self.question, Self.free)
            for (what, request) in [
                ("a HEAD with a body", question.replacing("GET", with: "HEAD") + "Content-Length: 80\r\n\r\n"),
                ("two lengths that differ", verify + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n"),
                ("a body of two lengths", verify + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
                ("two codings", verify + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"),
                ("an unknown coding", verify + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
                ("a length with a unit", verify + "Content-Length: 5a\r\n\r\nhello"),
                ("a fold before the first header", "GET /v1/authz/forward-auth HTTP/1.1\r\n \(free)Host: gate\r\n\r\n"),
                ("NUL in a name", question + "X-Forwarded-Uri\0: /free/x\r\n\r\n"),
                ("an older version", "GET /v1/authz/forward-auth HTTP/0.9\r\nHost: gate\r\n\(free)\r\n"),
                ("no host", "GET /v1/authz/forward-auth HTTP/1.1\r\n\(free)\r\n"),
                (
                    "no host, and a version in the target",
                    "GET /v1/authz/forward-auth?x=HTTP/1.0 HTTP/1.1\r\n\(free)\r\n"
                ),
                ("a longer name than Host", "GET /v1/authz/forward-auth HTTP/1.1\r\nX-Host: gate\r\n\(free)\r\n"),
                ("Host in two names", "GET /v1/authz/forward-auth HTTP/1.1\r\nHos: gate\r\nost: gate\r\n\(free)\r\n"),
            ] {
                let answer = try ask(request + Self.inner, closes: true)
                #expect(answer.status == 400 && answer.isClosed, "\(what): \(answer)")
            }
        }

        @Test("a body in chunks ends its connection, since not all agree where it ends")
        func chunks() throws {
            let token = try place.tokens(1)[0]
            let good = "\(String(token.utf8.count, radix: 16))\r\n\(token)\r\n0\r\n\r\n"
            let head = Self.verify + "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            for (body, status) in [(good, 200), ("0x1\r\nx\r\n0\r\n\r\n", 400)] {
                let answer = try ask(head + body + Self.inner, closes: true)
                #expect(answer.status == status && answer.isClosed, "\(body.prefix(3)): \(answer)")
            }
            let trailer = try ask(
                Self.question + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-Forwarded-Uri: /free/x\r\n\r\n")
            #expect(trailer.status == 403, "a trailer is no header")
        }

        @Test("methods that nobody needs, and forms of target that are a proxy's, get nothing")
        func methods() throws {
            let rest = "/v1/authz/forward-auth HTTP/1.1\r\nHost: gate\r\n\(Self.free)\r\n"
            for method in ["TRACE", "CONNECT", "PROPFIND", "get", "FOO", "", " GET"] {
                let connection = try RawConnection(port: gate.port)
                connection.send("\(method) \(rest)GET \(rest)")
                // Until its end.
                while let answer = connection.answer() {
                    #expect(answer.status == 400, "\(method), or what follows it")
                }
            }
            // What follows is no request either.
            for rest in [
                "Content-Length: 999999\r\n\r\n", "Content-Length: x\r\n\r\n", "X-A\r\n\r\n",
                "Expect: x\r\nContent-Length: 1\r\n\r\n1", "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            ] {
                let connection = try RawConnection(port: gate.port)
                connection.send("CONNECT gate:1 HTTP/1.1\r\nHost: gate\r\n\(rest)\(Self.question)\(Self.free)\r\n")
                let answers = connection.rest()
                #expect(answers.hasPrefix("HTTP/1.1 4") && !answers.contains("HTTP/1.1 2"), "\(rest)")
            }
            for target in [
                "http://gate/v1/authz/ext-authz/free/x", "https://gate/v1/authz/ext-authz/free/x", "*",
                "//gate/v1/authz/ext-authz/free/x", "/v1/authz/../authz/ext-authz/free/x",
                "/v1//authz/ext-authz/free/x",
                "/V1/authz/ext-authz/free/x", "/v1/authz%2Fext-authz/free/x",
            ] {
                let expected = target.hasPrefix("/") ? 404 : 400
                #expect(try ask("GET \(target) HTTP/1.1\r\nHost: gate\r\n\r\n").status == expected, "\(target)")
            }
        }

        @Test("a route is not dodged", arguments: ["ext-authz", "auth-request", "forward-auth"])
        func dodges(kind: String) throws {
            func status(_ target: String) throws -> String? {
                let header = ["auth-request": "X-Original-URI", "forward-auth": "X-Forwarded-Uri"][kind]
                let path = "/v1/authz/\(kind)" + (header == nil ? target : "")
                let line = header.map { "\($0): \(target)\r\n" } ?? ""
                let answer = try ask("GET \(path) HTTP/1.1\r\nHost: gate\r\n\(line)\r\n")
                #expect(answer.status != 200 || target == "/free/x", "\(target)")
                return answer.headers.split(separator: "\r\n").first { $0.hasPrefix("X-Media-Token-Code: ") }
                    .map { String($0.dropFirst(20)) }
            }
            #expect(try status("/free/x") == "TOKEN_NOT_REQUIRED")
            #expect(try status("/%70aid/x") == "TOKEN_MISSING")
            for target in [
                "/free/../paid/x", "//paid", "/free//../paid", "/free/%2e%2e/paid", "/free/.%2E/paid",
                "/free/..%2fpaid",
                "/free%2f..%2fpaid", "/free/%252e%252e/paid", "/free/..;/paid", "/free/..;a=b/paid", "/free/..%5cpaid",
                "/free\\..\\paid", "/free/.../paid", "/free/x%00", "/free/MEMBERS/x", "/free/members;a/x", "/FREE/x",
                "/free/members%2e/x", "/free/#/../paid", "/free/%EF%BF%BD", "http://gate/free/x", "/free/%c0%af../paid",
            ] {
                #expect(try status(target) == "ROUTE_UNKNOWN", "\(target)")
            }
        }

        @Test("tokens that differ are refused, wherever they are")
        func duplicates() throws {
            let token = Fixtures.base64(try place.tokens(1)[0])
            let question = Self.question + "X-Forwarded-Uri: /paid/x\r\n"
            for headers in [
                "X-Media-Token: \(token)\r\nX-Media-Token: AAAA\r\n",
                "X-Media-Token: \(token)\r\nAuthorization: Bearer AAAA\r\n",
                "Authorization: Bearer \(token)\r\nAuthorization: Bearer AAAA\r\n",
                "Cookie: media_token=\(token)\r\nCookie: media_token=AAAA\r\n",
            ] {
                let answer = try ask(question + headers + "\r\n")
                #expect(answer.status == 401 && answer.headers.contains("TOKEN_AMBIGUOUS"))
            }
            // None of them has used it up.
            #expect(try ask(question + "X-Media-Token: \(token)\r\n\r\n").status == 200)
        }

        /// To `String`, a run of accents is one character: to compare it, or to bring it into a normal form, takes time
        /// that grows with its square.
        @Test("a run of accents is dear nowhere")
        func accents() throws {
            let accents = String(repeating: "\u{0301}\u{0316}", count: 6000)
            // As much as a head may hold.
            let short = String(repeating: "\u{0301}\u{0316}", count: 2500)
            let escaped = Fixtures.percentEncoded(accents)
            let type = "Content-Type: application/"
            func post(_ headers: String, _ body: String) -> String {
                Self.verify + "\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
            let paid = Self.question + "X-Forwarded-Uri: /paid/x\r\n"
            for request in [
                post("\(type)json\r\n", "{\"a\(accents)\":1,\"\(accents)\":2,\"token\":\"\(accents)\"}"),
                post("", accents),
                post("", "{\"serializedToken\":\"\(accents)\",\"\(accents)\":1}"), post("", "<\(accents)/>"),
                post("", "<play>\(accents)</play>"), post("", "<signatureInfo>\(accents)</signatureInfo>"),
                post("\(type)x-www-form-urlencoded\r\n", "\(accents)=\(accents)&token=\(accents)&resource=\(accents)"),
                post("\(type)x-www-form-urlencoded\r\n", "\(escaped)=1&token=1&requestor=\(escaped)"),
                post("Content-Type: \(short)\r\n", "x"), post("X-Requestor-Id: \(short)\r\n", "x"),
                "HEAD /v1/authz/forward-auth HTTP/1.1\r\nHost: gate\r\nContent-Length: \(short)\r\n\r\n",
                post("Content-Encoding: \(short)\r\n", "x"), paid + "X-Media-Token: \(short)\r\n\r\n",
                paid + "Cookie: \(short)=; media_token=\(short)\r\n\r\n",
                paid + "Authorization: Bearer \(short)\r\n\r\n",
                paid + "X-Request-Id: \(short)\r\nHost: \(short)\r\n\r\n",
                Self.question + "X-Forwarded-Uri: /free/\(short)\r\n\r\n",
                Self.question + "X-Forwarded-Uri: /free/\(escaped.prefix(24_000))\r\n\r\n",
                Self.question + "X-Forwarded-Uri: /\(escaped.prefix(24_000))/members\r\n\r\n",
            ] {
                let before = try gate.processorTime()
                let answer = try ask(request)
                #expect([400, 401, 403, 415].contains(answer.status), "\(answer) to \(request.prefix(150))")
                let time = try gate.processorTime() - before
                #expect(time < .milliseconds(50 * Program.slowness), "\(time) for \(request.prefix(150))")
            }
        }

        @Test("floods end early, and leave the gate as it was")
        func floods() throws {
            let megabyte = String(repeating: "a", count: 1_000_000)
            let floods = [
                "GET /\(megabyte) HTTP/1.1\r\nHost: gate\r\n\r\n", Self.question + "X-Long: \(megabyte)\r\n\r\n",
                Self.question + (0..<20_000).map { "X-\($0): y\r\n" }.joined() + "\r\n",
                Self.question + String(repeating: " \(megabyte)\r\n", count: 3) + "\r\n",
                Self.question + String(repeating: "Cookie: a=b\r\n", count: 50_000) + "\r\n",
                Self.verify + "Content-Length: 99999999999999999999\r\n\r\n",
                Self.verify + "Content-Length: 1000000\r\n\r\n\(megabyte)",
            ]
            var before = 0
            for round in 0..<20 {
                // What the first floods make it take, it keeps; no more is taken by those that follow.
                if round == 2 { before = try gate.residentMegabytes() }
                for flood in floods {
                    let connection = try RawConnection(port: gate.port)
                    connection.send(flood)
                    // The end may have come, and what was not read is a reset, before the answer could be read.
                    if let status = connection.answer()?.status { #expect([400, 413, 431].contains(status)) }
                    #expect(connection.isClosed())
                }
            }
            // AddressSanitizer keeps what was freed for a while.
            #expect(try gate.residentMegabytes() - before < (Program.isSanitized ? 40 : 5))
            #expect(try ask(Self.inner).status == 200)
        }

        @Test("requests that never end take no more memory together than they may, and keep nobody else waiting")
        func unfinished() throws {
            let budget = ["--max-unfinished-bytes", "4194304", "--max-header-bytes", "65536"]
            let gate = try GateProcess(in: place, GateDestination.strict + budget + ["--route", "/free=open"])
            let body = String(repeating: "x", count: 190_000)
            let lone = GateProcess.verification(String(repeating: "x", count: 250_000))
            let chunks = Self.verify + "Transfer-Encoding: chunked\r\n\r\n"
            let honest = try RawConnection(port: gate.port)
            func ask(_ request: String) -> Int? { honest.ask(request)?.status }
            #expect(ask(lone) == 401)
            let (tokens, before) = (try place.tokens(4), try gate.residentMegabytes())
            for (what, token) in zip(
                [
                    Self.verify + "Content-Length: 200000\r\n\r\n" + body, chunks + "2e630\r\n" + body,
                    Self.question + String(repeating: "a:\r\n", count: 12_000),
                    Self.question + String(repeating: "a:\r\n", count: 500),
                ], tokens)
            {
                var attackers: [RawConnection] = []
                for number in 0..<(what.utf8.count > 10_000 ? 400 : 1000) {
                    attackers.append(try RawConnection(port: gate.port))
                    attackers[number].send(what)
                    if number % 50 == 0 { #expect(ask(Self.inner) == 200) }
                }
                #expect(ask(GateProcess.verification(token)) == 200)
                let more = try gate.residentMegabytes() - before
                #expect(more < (Program.isSanitized ? 100 : 16), "\(more) MB after \(what.prefix(200))")
                withExtendedLifetime(attackers) {}
            }
            let closed = try gate.admin("/metrics").split(separator: "\n").first {
                $0.hasPrefix("media_token_unfinished_closed_total ")
            }
            #expect((closed?.split(separator: " ").last.flatMap { Int($0) } ?? 0) > 1000)
            #expect(ask(lone) == 401)
        }

        @Test(
            "requests that wait for a store take no more memory than they may; others are refused, their tokens unused")
        func waiting() throws {
            let redis = try RedisServer()
            let settings = ["--max-unfinished-bytes", "4194304", "--workers", "1"]
            let gate = try GateProcess(
                in: place, replays: redis.url + "?timeout=3000", GateDestination.strict + settings)
            let tokens = try place.tokens(200)
            func ask(_ token: String, behind length: Int) throws -> RawConnection {
                let token = Fixtures.base64(token).replacing("+", with: "%2B")
                let form = "token=\(token)&junk=" + String(repeating: "x", count: length)
                let connection = try RawConnection(port: gate.port)
                connection.send(
                    Self.verify + "Content-Type: application/x-www-form-urlencoded\r\n"
                        + "Content-Length: \(form.utf8.count)\r\n\r\n" + form)
                return connection
            }
            #expect(try ask(tokens[0], behind: 0).answer()?.status == 200)
            let before = try gate.residentMegabytes()
            redis.signal(SIGSTOP)
            let clients = try tokens.dropFirst().map { try ask($0, behind: 200_000) }
            let more = try gate.residentMegabytes() - before
            #expect(more < (Program.isSanitized ? 100 : 20), "\(more) MB")
            let answers = clients.map { $0.answer() }
            #expect(answers.allSatisfy { $0?.status == 503 })
            redis.signal(SIGCONT)
            let spare = try place.tokens(1)[0]
            try gate.wait { try ask(spare, behind: 0).answer()?.status != 503 }
            // Nothing was done for those whose connection ended with the answer.
            let refused = zip(tokens.dropFirst(), answers).filter { $1?.headers.contains("Connection: close") == true }
            #expect(refused.count > 100)
            for (token, _) in refused { #expect(try ask(token, behind: 0).answer()?.status == 200) }
        }

        @Test("large requests that come together are all answered, within the memory that they may take")
        func together() throws {
            let settings = ["--max-unfinished-bytes", "4194304", "--workers", "1"]
            let gate = try GateProcess(in: place, GateDestination.strict + settings)
            let before = try gate.residentMegabytes()
            let request = GateProcess.verification(String(repeating: "x", count: 60_000))
            let clients = try (0..<300).map { _ in try RawConnection(port: gate.port) }
            gate.signal(SIGSTOP)
            for client in clients { client.send(request) }
            gate.signal(SIGCONT)
            #expect(clients.allSatisfy { $0.answer()?.status == 401 })
            let more = try gate.residentMegabytes() - before
            #expect(more < (Program.isSanitized ? 100 : 20), "\(more) MB")
        }

        @Test("a body in chunks of a byte, each a packet of its own, takes no more memory than unfinished requests may")
        func smallChunks() throws {
            let limit = ["--max-unfinished-bytes", "2359296", "--route", "/free=open"]
            let gate = try GateProcess(in: place, GateDestination.strict + limit)
            let attackers = try (0..<8).map { _ in try RawConnection(port: gate.port) }
            for one in attackers { one.send(Self.verify + "Transfer-Encoding: chunked\r\n\r\n") }
            let before = try gate.residentMegabytes()
            let end = ContinuousClock.now + .seconds(3)
            while ContinuousClock.now < end {
                for piece in ["1\r\n", "x", "\r\n"] { for one in attackers { one.send(piece) } }
            }
            #expect(try gate.residentMegabytes() - before < (Program.isSanitized ? 40 : 6))
            #expect(try gate.status(Self.inner) == 200)
        }

        @Test("a connection that waits for its answer gets it, however much of the next request it has sent")
        func waitingStay() throws {
            let redis = try RedisServer()
            let options = ["--max-unfinished-bytes", "2359296"]
            let gate = try GateProcess(
                in: place, replays: redis.url + "?timeout=20000", GateDestination.strict + options)
            let next = Self.verify + "Content-Length: 250000\r\n\r\n" + String(repeating: "x", count: 3000)
            let tokens = try place.tokens(500)
            redis.signal(SIGSTOP)
            let waiting = try tokens.map { token in
                let connection = try RawConnection(port: gate.port)
                connection.send(GateProcess.verification(token) + next)
                return connection
            }
            try gate.wait { try !RawConnection.hasUnreadBytes(port: gate.port) }
            redis.signal(SIGCONT)
            for connection in waiting { #expect(connection.answer()?.status == 200) }
        }
    }
}
