import Foundation
import MediaTokenTesting
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The gate's log")
    struct LogTests {
        private let place = GateDestination()

        /// A gate with routes of every kind.
        private func gate(_ options: [String] = []) throws -> GateProcess {
            let routes = #"[{"path": "/open", "open": true}, \#(try place.route("/live"))]"#
            let settings = #"{"routes": \#(routes), "cors-origin": "https://player.example"}"#
            return try GateProcess(in: place, try place.options(settings) + ["--workers", "1"] + options)
        }

        private func lines(_ gate: GateProcess) throws -> [[String: Any]] {
            try gate.logged().split(separator: "\n").filter { $0.hasPrefix("{") }.compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
        }

        private func ask(
            _ gate: GateProcess, _ method: String = "GET", _ target: String, _ headers: [String] = [],
            _ body: String = ""
        ) throws -> (status: Int, headers: String)? {
            let request = Self.request(method, target, headers, body)
            return try RawConnection(port: gate.port).ask(request).map { ($0.status, $0.headers) }
        }

        /// A request with the length of its body, and with a host unless the headers have it.
        private static func request(
            _ method: String, _ target: String, _ headers: [String], _ body: String = ""
        ) -> String {
            let fields = headers + (body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"])
            let host = headers.contains { $0.hasPrefix("Host:") } ? "" : "Host: gate\r\n"
            return "\(method) \(target) HTTP/1.1\r\n\(host)\(fields.map { $0 + "\r\n" }.joined())\r\n\(body)"
        }

        @Test("a line says what was asked for, which route, what for a reason, whose token, and for whom")
        func members() throws {
            let gate = try gate(["--trusted-proxy", "127.0.0.0/8"])
            let token = try place.tokens(1)[0]
            let text = ["Content-Type: text/plain", "X-Request-Id: call-1", "X-Forwarded-For: 10.0.0.1, 203.0.113.7"]
            let target = "/v1/verify?requestor=MML&resource=TNT"
            #expect(try ask(gate, "POST", target, text, token)?.headers.contains("X-Request-Id: call-1\r\n") == true)
            #expect(try ask(gate, "POST", target, text, token)?.status == 403)
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let traced = try ask(
                gate, "GET", "/v1/authz/forward-auth",
                ["X-Forwarded-Uri: /live/secret.ts", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"])
            #expect(traced?.status == 401 && traced?.headers.contains("X-Request-Id: \(trace)\r\n") == true)
            let unnamed = try ask(gate, "POST", "/v1/explain", ["X-Request-Id: <x>"], token)
            #expect(unnamed?.status == 200 && unnamed?.headers.contains("X-Request-Id") == false)
            #expect(try ask(gate, "GET", "/unknown/path")?.status == 404)
            #expect(try ask(gate, "GET", "/v1/authz/ext-authz/open/x")?.status == 200)
            let forged = token.replacing("TNT", with: "TBS")
            #expect(try ask(gate, "POST", target, text, forged)?.status == 401)
            gate.end()
            let lines = try lines(gate)
            try #require(lines.count == 7)
            let told = lines.map { line in
                ["endpoint", "route", "requestId", "client", "code"].map { line[$0] as? String ?? "-" }
            }
            let id = lines[0]["token"] as? String ?? ""
            #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect(
                told == [
                    ["/v1/verify", "-", "call-1", "203.0.113.7", "VALID_TOKEN"],
                    ["/v1/verify", "-", "call-1", "203.0.113.7", "TOKEN_ALREADY_USED"],
                    ["/v1/authz/forward-auth", "/live", trace, "-", "TOKEN_MISSING"],
                    ["/v1/explain", "-", "-", "-", "EXPLAINED"],
                    ["-", "-", "-", "-", "REQUEST_INVALID"],
                    ["/v1/authz/ext-authz", "/open", "-", "-", "TOKEN_NOT_REQUIRED"],
                    ["/v1/verify", "-", "call-1", "203.0.113.7", "INVALID_SIGNATURE"],
                ])
            #expect(
                lines.map { ($0["token"] as? String).map { $0 == id } } == [true, true, nil, true, nil, nil, false])
            let details = lines.map { $0["detail"] as? String }
            #expect(details[1]?.hasPrefix("this token was used before") == true)
            #expect([2, 4, 6].allSatisfy { details[$0]?.isEmpty == false })
            #expect([0, 3, 5].allSatisfy { details[$0] == nil })
        }

        @Test("a reload takes over whose X-Forwarded-For the log goes by")
        func reloaded() throws {
            let settings = try place.directory.write(#"{"trusted-proxy": "192.0.2.1"}"#, to: "proxies.json")
            let gate = try GateProcess(in: place, ["--workers", "1", "--config", settings])
            let forwarded = ["X-Forwarded-For: 203.0.113.7"]
            #expect(try ask(gate, "GET", "/", forwarded)?.status == 404)
            try place.directory.write(#"{"trusted-proxy": ["192.0.2.1", "127.0.0.1"]}"#, to: "proxies.json")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("changed: trusted-proxy") }
            #expect(try ask(gate, "GET", "/", forwarded)?.status == 404)
            gate.end()
            #expect(try lines(gate).map { $0["client"] as? String } == [nil, "203.0.113.7"])
        }

        @Test("a support question is answered by one grep and one lookup", arguments: ["lmdb", "redis"])
        func answered(kind: String) throws {
            let server = kind == "redis" ? try RedisServer() : nil
            let store = server.map { $0.url + "?timeout=5000" } ?? "lmdb:\(place.directory.path)/replays"
            let gate = try GateProcess(
                in: place, replays: store, GateDestination.strict + ["--workers", "1", "--route", "/live=MML:TNT"])
            let tokens = try place.tokens(2)
            func play(_ token: String, _ call: String) throws -> Int? {
                try ask(
                    gate, "GET", "/v1/authz/auth-request",
                    ["X-Original-URI: /live/1.m3u8", "X-Media-Token: \(token)", "X-Request-Id: \(call)"])?.status
            }
            #expect(try play(tokens[0], "call-1") == 200)
            #expect(try play(tokens[0], "call-2") == 403)
            try gate.wait { try gate.logged().contains("call-2") }
            // The page's commands, which find the token by what the viewer's app still has of it.
            try place.directory.write(tokens[0], to: "token.txt")
            try place.directory.write(try gate.logged(), to: "gate.log")
            let commands = try Self.commands().map {
                $0.replacing("journalctl -u media-token -o cat", with: "cat gate.log")
                    .replacing("lmdb:/var/lib/media-token/replays", with: "'\(store)'")
                    .replacing("media-token ", with: "'\(Program.mediaToken.executable)' ")
            }
            try #require(commands.count == 2)
            let found = try Program("bash").run(["-c", "cd '\(place.directory.path)' && \(commands[0])"])
            #expect(found.status == 0, "\(found.errors)")
            let codes = found.output.matches(of: /"code":"([A-Z_]+)"/).map { String($0.1) }
            #expect(codes == ["VALID_TOKEN", "TOKEN_ALREADY_USED"], "\(found.output)")
            #expect(found.output.contains("\"requestId\":\"call-2\"") && found.output.contains("\"route\":\"/live\""))
            let looked = try Program("bash").run(["-c", "cd '\(place.directory.path)' && \(commands[1])"])
            #expect(looked.status == 1 && looked.output.contains("used        yes\n"), "\(looked.errors)")
            // Another token is not used, however often that is looked up, and its viewer can still play.
            let other = ["replays", "lookup", store, tokens[1]]
            for _ in 1...2 { #expect(try Program.mediaToken.run(other).status == 0) }
            #expect(try play(tokens[1], "call-3") == 200)
            #expect(try Program.mediaToken.run(other).status == 1)
            gate.end()
            // The gate closed the store last, so it is as it was left.
            #expect(try Program.mediaToken.run(other).status == 1)
        }

        /// The commands of the section on a support question.
        private static func commands() throws -> [String] {
            let page = try Fixtures.page("MediaTokenGate/MediaTokenGate.docc/Monitoring")
            let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix("A support question, answered") }
            return section?.components(separatedBy: "\n```sh\n").dropFirst().compactMap {
                $0.components(separatedBy: "\n```").first
            } ?? []
        }

        @Test("no part of a token gets into the log, whichever field of a request has it, in whichever form")
        func withoutTokens() throws {
            let gate = try gate(["--trusted-proxy", "127.0.0.1"])
            let guid = "0d4c9f1e-5b7a-4c3d-8e2f-6a1b9c8d7e0f"
            let token = try Mint.token { $0.sessionGUID = guid }
            let json = String(decoding: try JSONEncoder().encode(token), as: UTF8.self)
            let base64 = Fixtures.base64(token)
            let url = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            let percent = Fixtures.percentEncoded(token)
            for form in [
                token, base64, url, percent, Fixtures.percentEncoded(base64), token.replacing("+", with: "%2B"),
            ] {
                for request in Self.requests(form, json: form == token ? json : "\"\(form)\"") {
                    #expect(try gate.status(request) != nil, "\(request.prefix(80))")
                }
            }
            gate.end()
            let log = Array(try gate.logged().utf8)
            #expect(try lines(gate).count > 100)
            var secrets = Set<[UInt8]>()
            for form in [token, base64, url, percent, Fixtures.percentEncoded(base64)] {
                // Whatever lies behind the tag in front of the signature.
                let bytes = Array(form.utf8.dropFirst(15))
                for begin in bytes.indices.dropLast(23) {
                    let window = Array(bytes[begin..<(begin + 24)])
                    if !window.contains(UInt8(ascii: " ")) { secrets.insert(window) }
                }
            }
            let found = log.indices.dropLast(23).first { secrets.contains(Array(log[$0..<($0 + 24)])) }
            #expect(found == nil, "\(String(decoding: log.dropFirst(found ?? 0).prefix(60), as: UTF8.self))")
            #expect(!String(decoding: log, as: UTF8.self).contains(guid))
        }

        /// Requests to every endpoint that have a text in every place.
        private static func requests(_ text: String, json: String) -> [String] {
            let paths = [
                "/v1/verify", "/v1/play", "/v1/explain", "/v1/authz/auth-request", "/v1/authz/forward-auth",
                "/v1/authz/ext-authz", "/",
            ]
            let names = [
                "Authorization", "Content-Encoding", "Content-Type", "Cookie", "Host", "Idempotency-Key", "Origin",
                text,
                "traceparent", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Uri",
                "X-Media-Token", "X-Media-Token-Attempt", "X-Original-Host", "X-Original-Method", "X-Original-URI",
                "X-Request-Id", "X-Requestor-Id", "X-Resource-Id", "CTA-Common-Access-Token",
            ]
            let target = text.replacing(" ", with: "%20")
            return paths.flatMap { path -> [String] in
                let method = path.hasPrefix("/v1/authz") ? "GET" : "POST"
                let body = method == "POST" ? text : ""
                var all: [String] = names.flatMap { name -> [String] in
                    [
                        request(method, path + "?requestor=MML&resource=TNT&path=/live/x", ["\(name): \(text)"], body),
                        request(method, path, ["\(name): Bearer \(text)", "X-Original-URI: /live/1"]),
                        request(
                            method, path, ["\(name): media_token=\(text); CTA-Common-Access-Token=\(text)"], body),
                    ]
                }
                all += [
                    request("GET", path + "/live/" + target, []), request("GET", path + "/" + target, []),
                    request(text.replacing(" ", with: ""), path, []), request("GET", target, []),
                    request(method, path + "?" + target, [], body),
                ]
                let form = ["Content-Type: application/x-www-form-urlencoded"]
                let object = ["Content-Type: application/json"]
                for name in ["requestor", "resource", "url", "path", "token", "auth", "other"] {
                    all += [
                        request(method, "\(path)?\(name)=\(target)", [], body),
                        request(method, "\(path)?requestor=MML&\(name)=\(target)&resource=TNT", [], body),
                        request(method, path, form, "token=\(text)&\(name)=\(text)"),
                        request(method, path, form, "token=a&\(name)=/\(text)&\(text)=\(name)"),
                        request(method, path, object, "{\"token\":\(json),\"\(name)\":\(json)}"),
                        request(method, path, object, "{\"token\":\"a\",\"\(name)\":\(json),\"url\":\"/live/1\"}"),
                        request(method, path, object, "{\"token\":\"a\",\(json):\(json)}"),
                        request(method, path, object, "{\"decisions\":[{\"\(name)\":\(json)}],\(json):1}"),
                    ]
                }
                return all
            }
        }
    }
}
