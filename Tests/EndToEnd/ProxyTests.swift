import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Starts nginx with the blocks of servers in a folder, which takes its other files.
    ///
    /// - Parameter isAlone: whether it is one process, so that ending it ends all of it.
    static func nginx(_ servers: String, in directory: TemporaryDirectory, isAlone: Bool = true) throws -> Daemon {
        let folder = directory.path
        let settings = """
            daemon off; pid \(folder)/nginx.pid; error_log \(folder)/nginx.log;
            events {}
            http {
            access_log off; client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
            \(servers)
            }
            """
        let file = try directory.write(settings, to: "nginx.conf")
        let options = isAlone ? ["-g", "master_process off;"] : []
        return try Daemon("nginx", options + ["-c", file], log: folder + "/nginx.out")
    }

    @Suite("Real proxies in front of a stream")
    struct ProxyTests {
        let place: GateDestination
        let ports: [Int]
        private let servers = Servers()

        /// Proxies and servers of a test, which end with it.
        private final class Servers {
            var running: [Daemon] = []
            /// nginx with its workers, which SIGKILL would leave behind. Of the others none takes SIGTERM here: a
            /// test's threads block signals, and their children inherit that.
            var nginx: Daemon?

            deinit { nginx?.end() }
        }

        init() throws {
            place = GateDestination()
            ports = try FreePort.take(3)
            let streams = place.directory.path + "/streams/live"
            try FileManager.default.createDirectory(atPath: streams, withIntermediateDirectories: true)
            try "#EXTM3U\n".write(toFile: streams + "/index.m3u8", atomically: false, encoding: .utf8)
            try GateDestination.makeCertificate(place.directory.path + "/tls")
        }

        /// The documentation's snippet, with the ports and folders of this test.
        func snippet(
            _ language: String, under heading: String, of page: String = "Deploying", gate: Int
        ) throws -> String {
            placed(
                try Fixtures.snippet(language, under: heading, of: "MediaTokenGate/MediaTokenGate.docc/\(page)"),
                gate: gate)
        }

        private func placed(_ text: String, gate: Int) -> String {
            let folder = place.directory.path
            return [
                ("127.0.0.1:8080", "127.0.0.1:\(gate)"), ("127.0.0.1:80", "127.0.0.1:\(ports[0])"),
                ("127.0.0.1:443", "127.0.0.1:\(ports[1])"), ("127.0.0.1:8000", "127.0.0.1:\(ports[2])"),
                ("127.0.0.1:9000", "127.0.0.1:\(ports[2])"),
                ("/srv/streams", folder + "/streams"), ("/etc/media-token/cert.pem", folder + "/tls.pem"),
                ("/etc/media-token/key.pem", folder + "/tls.key"),
                ("/etc/media-token/haproxy.pem", folder + "/haproxy.pem"),
                ("/etc/media-token/media-token.lua", folder + "/media-token.lua"),
                ("/var/lib/nginx/streams", folder + "/cache"), ("/var/log/nginx/streams.log", folder + "/access.log"),
            ].reduce(text) { text, change in
                // A whole address: 127.0.0.1:80 begins 127.0.0.1:8080 too.
                text.replacingOccurrences(
                    of: NSRegularExpression.escapedPattern(for: change.0) + "(?![0-9])", with: change.1,
                    options: .regularExpression)
            }
        }

        /// What the gate prints for a proxy in front of it, with the ports and folders of this test, for the settings
        /// of the page.
        func printed(_ proxy: String, gate: Int) throws -> String {
            let block = try Fixtures.snippet("sh", under: "nginx", of: "MediaTokenGate/MediaTokenGate.docc/Deploying")
            let settings = try #require(block.firstMatch(of: /(?s)> gate\.json <<'END'\n(.*?)\nEND\n/)).1
            let file = try place.directory.write(String(settings), to: "printed.json")
            return placed(
                try Program.mediaToken.succeed(
                    ["serve", "--config", file, "--listen", "127.0.0.1:\(gate)", "--print=\(proxy)"]), gate: gate)
        }

        /// The file for nginx, over HTTP and HTTPS, with more lines for the streams.
        func nginxFile(gate: Int, _ more: String = "") throws -> String {
            let file = try printed("nginx", gate: gate)
            let folder = place.directory.path
            let listen = """
                listen 127.0.0.1:\(ports[0]); listen 127.0.0.1:\(ports[1]) ssl;
                ssl_certificate \(folder)/tls.pem; ssl_certificate_key \(folder)/tls.key;
                """
            return try file.replacing(Regex(#"listen 127\.0\.0\.1:.*"#), with: listen)
                .replacing("proxy_pass http://origin;", with: "root \(folder)/streams;")
                .replacing("location / {\n", with: "location / {\n\(more)\n")
        }

        /// What serves the streams behind a proxy that serves no files itself.
        func startOrigin() throws {
            let folder = place.directory.path
            let server = try Daemon(
                "caddy", ["file-server", "--root", folder + "/streams", "--listen", "127.0.0.1:\(ports[2])"],
                log: folder + "/origin.log")
            servers.running.append(server)
            try server.wait { try GateProcess.fetch("http://127.0.0.1:\(ports[2])/live/index.m3u8").code == "200" }
        }

        /// Starts nginx, with its workers, and waits until it listens for HTTPS.
        func startNginx(_ blocks: String) throws {
            let nginx = try EndToEnd.nginx(blocks, in: place.directory, isAlone: false)
            servers.nginx = nginx
            try nginx.wait { (try? RawConnection(port: ports[1])) != nil }
        }

        /// Ends nginx, which then has logged all.
        func endNginx() { servers.nginx?.end() }

        /// Starts a proxy in front of the streams, and waits until it listens.
        func start(_ proxy: String, gate: Int) throws {
            if proxy == "haproxy" { try startOrigin() }
            let server = try daemon(proxy, gate: gate)
            servers.running.append(server)
            try server.wait { ports[..<2].allSatisfy { (try? RawConnection(port: $0)) != nil } }
        }

        private func daemon(_ proxy: String, gate: Int) throws -> Daemon {
            let folder = place.directory.path
            let log = folder + "/\(proxy).log"
            switch proxy {
            case "nginx":
                return try EndToEnd.nginx(try nginxFile(gate: gate), in: place.directory)
            case "haproxy":
                try place.directory.write(try printed("haproxy-lua", gate: gate), to: "media-token.lua")
                let pair = try ["tls.pem", "tls.key"].map {
                    try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
                }
                try place.directory.write(pair.joined(), to: "haproxy.pem")
                let file = try place.directory.write(
                    try printed("haproxy", gate: gate), to: "haproxy.cfg")
                return try Daemon("haproxy", ["-f", file], log: log)
            default:
                // Asked by any name, by somebody whom it trusts as it would trust a CDN.
                let snippet = try printed("caddy", gate: gate)
                    .replacing(
                        "reverse_proxy 127.0.0.1:\(ports[2]) # yours", with: "root * \(folder)/streams\nfile_server"
                    )
                    .replacing("http://127.0.0.1:\(ports[0])", with: "http://:\(ports[0])")
                    .replacing("uri /v1/authz", with: "trusted_proxies private_ranges\nuri /v1/authz")
                let settings = "{\nadmin off\nauto_https off\ndefault_bind 127.0.0.1\n}\n" + snippet
                let file = try place.directory.write(settings, to: "Caddyfile")
                return try Daemon("caddy", ["run", "--adapter", "caddyfile", "--config", file], log: log)
            }
        }

        @Test(
            "while Redis is down, viewers with grants and open routes are served through each proxy, and plays are not",
            arguments: ["nginx", "caddy", "haproxy"])
        func lostStore(proxy: String) throws {
            let redis = try RedisServer()
            let balanced = try FreePort.take(1)[0]
            let routes = #"{"routes": [\#(try place.route("/live")), {"path": "/trailers", "open": true}]}"#
            let gate = try GateProcess(in: place, replays: redis.url + "?timeout=20000", try place.options(routes))
            let balancer = try Deploying.snippet("haproxy", under: "Rolling restarts")
                .replacing("    server b 127.0.0.1:8082 port 8083\n", with: "")
                .replacing("    server b 127.0.0.1:8082 port 8083", with: "")
                .replacing("127.0.0.1:8080 port 8081", with: "127.0.0.1:\(gate.port) port \(gate.adminPort)")
                .replacing("127.0.0.1:80\n", with: "127.0.0.1:\(balanced)\n")
            let file = try place.directory.write(balancer + "\n", to: "balancer.cfg")
            servers.running.append(
                try Daemon("haproxy", ["-f", file], log: place.directory.path + "/balancer.log"))
            let trailers = place.directory.path + "/streams/trailers"
            try FileManager.default.createDirectory(atPath: trailers, withIntermediateDirectories: true)
            try "a trailer".write(toFile: trailers + "/1.ts", atomically: false, encoding: .utf8)
            try start(proxy, gate: balanced)
            let address = "http://127.0.0.1:\(ports[0])"
            let segment = ["-H", "Cookie: \(try place.grant())"]
            func play() throws -> String {
                let token = try place.directory.write(try place.tokens(1)[0], to: "token")
                return try GateProcess.fetch(
                    address + "/v1/play?path=/live/index.m3u8",
                    ["-H", "Content-Type: text/plain", "--data-binary", "@\(token)"]
                ).code
            }
            try gate.wait { try play() == "200" }
            redis.end(SIGKILL)
            // The balancer has no gate left for plays then.
            try gate.wait {
                try GateProcess.fetch("http://127.0.0.1:\(balanced)/v1/verify", ["-X", "POST"]).code == "503"
            }
            for _ in 0..<10 {
                #expect(try GateProcess.fetch(address + "/live/index.m3u8", segment).code == "200")
                #expect(try GateProcess.fetch(address + "/trailers/1.ts").code == "200")
            }
            #expect(try GateProcess.fetch(address + "/live/index.m3u8").code == "401")
            #expect(try play() == "503")
            try redis.start()
            try gate.wait { try play() == "200" }
        }

        private func fetch(
            _ scheme: String, _ target: String, token: String? = nil, _ options: [String] = []
        ) throws -> (code: String, status: String) {
            let port = scheme == "https" ? ports[1] : ports[0]
            let answer = try Program("curl").run(
                [
                    "-s", "-k", "-o", "/dev/null", "-D", "-", "-w", "%{http_code}",
                    "\(scheme)://127.0.0.1:\(port)\(target)",
                ]
                    + options + (token.map { ["-H", "X-Media-Token: \(Fixtures.base64($0))"] } ?? [])
            ).output
            let lines = answer.split(whereSeparator: \.isNewline)
            let status = lines.first { $0.lowercased().hasPrefix("x-media-token-code: ") }
            return (String(lines.last ?? ""), String(status?.dropFirst(20) ?? ""))
        }

        /// The nginx snippet asks again after the internal redirect of an index.
        private func startIndex(_ attemptWindow: String) throws -> GateProcess {
            let folder = place.directory.path + "/streams/live/show"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "<html>".write(toFile: folder + "/index.html", atomically: false, encoding: .utf8)
            let routes = #"{"routes": [{"path": "/live", "requestor": "MML", "resource": "TNT"\#(attemptWindow)}]}"#
            let gate = try GateProcess(in: place, try place.options(routes))
            try start("nginx", gate: gate.port)
            return gate
        }

        @Test("nginx may ask again about one request that it redirects, where the route says so, and a client may not")
        func attempts() throws {
            let gate = try startIndex(#", "attempt-window": 5"#)
            let tokens = try place.tokens(3)
            #expect(try fetch("http", "/live/show/", token: tokens[0]) == ("200", "VALID_TOKEN"))
            // nginx asks twice.
            try gate.wait { try gate.logged().split(separator: "\n").filter { $0.contains("VALID_TOKEN") }.count == 2 }
            #expect(try fetch("http", "/live/show/", token: tokens[0]) == ("403", "TOKEN_ALREADY_USED"))
            let attempt = ["-H", "X-Media-Token-Attempt: 0123456789abcdef0123456789abcdef"]
            #expect(try fetch("http", "/live/show/", token: tokens[1], attempt) == ("200", "VALID_TOKEN"))
            for target in ["/live/show/", "/live/show/index.html", "/live/index.m3u8"] {
                #expect(
                    try fetch("http", target, token: tokens[1], attempt) == ("403", "TOKEN_ALREADY_USED"), "\(target)")
            }
            // What nginx does not overwrite, no other endpoint believes.
            let forwarded =
                ["-H", "X-Media-Token: \(Fixtures.base64(tokens[2]))", "-H", "X-Forwarded-Uri: /live/1"] + attempt
            let address = "http://127.0.0.1:\(gate.port)/v1/authz/"
            #expect(try GateProcess.fetch(address + "forward-auth", forwarded).code == "200")
            #expect(try GateProcess.fetch(address + "forward-auth", forwarded).code == "403")
            #expect(try GateProcess.fetch(address + "ext-authz/live/1", forwarded).code == "403")
        }

        @Test("without an attempt window a redirect inside of nginx uses the token up")
        func noAttempts() throws {
            let gate = try startIndex("")
            let token = try place.tokens(1)[0]
            #expect(try fetch("http", "/live/show/", token: token) == ("403", "TOKEN_ALREADY_USED"))
            try gate.wait { try gate.logged().contains("VALID_TOKEN") }
        }

        @Test(
            "the host that the gate goes by is the client's, whole, and no header's",
            arguments: ["nginx", "caddy", "haproxy"])
        func hosts(proxy: String) throws {
            let routes =
                #"{"hosts": ["free.example"], "path": "/", "open": true}, "#
                + #"{"hosts": ["live.example"], "path": "/", "requestor": "MML", "resource": "TNT"}"#
            let gate = try GateProcess(in: place, try place.options(#"{"routes": [\#(routes)]}"#))
            try start(proxy, gate: gate.port)
            let target = "/live/index.m3u8"
            #expect(try fetch("http", target, ["-H", "Host: free.example"]) == ("200", "TOKEN_NOT_REQUIRED"))
            #expect(try fetch("http", target, ["-H", "Host: Live.Example."]) == ("401", "TOKEN_MISSING"))
            for others in [
                ["X-Forwarded-Host: free.example"], ["X-Original-Host: free.example"], ["Forwarded: host=free.example"],
            ] {
                let options = (["Host: live.example"] + others).flatMap { ["-H", $0] }
                #expect(try fetch("http", target, options) == ("401", "TOKEN_MISSING"), "\(others)")
            }
            for host in [
                "live.example,free.example", "free.example,live.example", "live.example@free.example", "other.example",
            ] {
                let answer = try fetch("http", target, ["-H", "Host: \(host)"])
                #expect(answer.status != "TOKEN_NOT_REQUIRED", "\(host): \(answer)")
            }
        }

        @Test("a manifest opens for a token once, over HTTP and HTTPS", arguments: ["nginx", "caddy", "haproxy"])
        func opens(proxy: String) throws {
            let routes = ["--route", "/live=MML:TNT", "--route", "/trailers=open"]
            let gate = try GateProcess(in: place, GateDestination.strict + routes)
            try start(proxy, gate: gate.port)
            let tokens = try place.tokens(3)
            for (scheme, token) in zip(["http", "https"], tokens) {
                #expect(try fetch(scheme, "/live/index.m3u8") == ("401", "TOKEN_MISSING"))
                let opened = try fetch(scheme, "/live/index.m3u8", token: token)
                #expect(opened == ("200", "VALID_TOKEN"), "\(opened)")
                #expect(try fetch(scheme, "/live/index.m3u8", token: token) == ("403", "TOKEN_ALREADY_USED"))
                #expect(try fetch(scheme, "/elsewhere", token: tokens[2]) == ("403", "ROUTE_UNKNOWN"))
                // The proxy would serve the stream for this.
                #expect(try fetch(scheme, "/trailers/%2e%2e/live/index.m3u8").code != "200")
            }
            gate.end()
            #expect(try ["500", "502", "503"].contains(fetch("http", "/live/index.m3u8", token: tokens[2]).code))
        }
    }
}
