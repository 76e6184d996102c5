import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Runs a page's block for a shell as it stands, in an empty folder, with other ports.
    static func paste(_ block: String, then more: String = "", ports: [(Int, Int)], in folder: String) throws -> String
    {
        let script = ports.reduce(block) { $0.replacing("127.0.0.1:\($1.0)", with: "127.0.0.1:\($1.1)") }
        let programs = URL(filePath: Program.mediaToken.executable).deletingLastPathComponent().path
        let end = "\n\(more)\nkill $! $(cat nginx.pid 2> ended)\n"
        let outcome = try Program("bash").run(
            ["-c", "cd '\(folder)' && PATH=\"\(programs):$PATH\"\n" + script + end])
        #expect(outcome.status == 0 && !outcome.errors.contains("curl: ("), "\(outcome.errors)")
        return outcome.output
    }
}

extension EndToEnd.ProxyTests {
    private static let page = "MediaTokenGate/MediaTokenGate.docc/Deploying"

    @Test("the block for nginx, pasted into a shell in an empty folder, plays a stream as the page shows")
    func recipe() throws {
        let folder = try TemporaryDirectory()
        let block = try Fixtures.snippet("sh", under: "nginx", of: Self.page)
        let shown = try #require(
            Fixtures.page(Self.page).firstMatch(of: /the manifest and each segment:\n\n```\n((?s).*?)\n```/)
        ).1
        let origin = try FreePort.take(1)[0]
        let moved = "| sed 's/:8000/:\(ports[2])/; s/:9000/:\(origin)/' > streams.conf"
        let output = try EndToEnd.paste(
            block.replacing("> streams.conf", with: moved),
            ports: Array(zip([8080, 8081, 8000, 9000], ports + [origin])), in: folder.path)
        #expect(output.hasSuffix(shown + "\n") && output.contains("\"code\":\"VALID_TOKEN\""), "\(output)")
    }

    /// The field lines of nginx's response to a request.
    private func fields(_ options: [String]) throws -> [String] {
        try Program("curl").run(["-sk", "-D", "-", "-o", "/dev/null"] + options).output
            .split(whereSeparator: \.isNewline).map { $0.lowercased() }
    }

    @Test(
        "behind a proxy a client learns when a new store accepts tokens",
        arguments: ["nginx", "cache", "caddy", "haproxy"])
    func retryAfter(proxy: String) throws {
        let gate = try GateProcess(in: place, ["--route", "/live=MML:TNT", "--skew", "300"])
        try proxy == "cache" ? startNginx(cachingFile(gate: gate.port)) : start(proxy, gate: gate.port)
        let stream = "https://127.0.0.1:\(ports[1])/live/index.m3u8"
        let token = try place.tokens(1)[0]
        let denied = try fields(["-H", "X-Media-Token: \(Fixtures.base64(token))", stream])
        #expect(denied.contains("x-media-token-code: token_predates_store"), "\(denied)")
        let seconds = denied.first { $0.hasPrefix("retry-after: ") }.flatMap { Int($0.dropFirst(13)) }
        #expect(seconds.map { (200...302).contains($0) } == true, "\(denied)")
        #expect(try !fields([stream]).contains { $0.hasPrefix("retry-after") })
    }

    @Test("the file with a cache needs no folder that Debian's nginx does not have")
    func folders() throws {
        let file = try Fixtures.snippet(
            "nginx", under: Self.cachingPart, of: "MediaTokenGate/MediaTokenGate.docc/\(Self.cachingPage)")
        let paths = file.matches(of: #/(?:proxy_cache_path|access_log) (/\S+)/[^/\s]+\s/#).map { String($0.1) }
        let installed = try Program("dpkg").succeed(["--listfiles", "nginx-common"]).split(separator: "\n").map(
            String.init)
        #expect(paths.count == 2 && Set(paths).isSubset(of: installed), "\(paths)")
    }

    @Test("nginx keeps its connections to the gate")
    func keepalive() throws {
        let gate = try GateProcess(in: place, GateDestination.strict + ["--route", "/live=open"])
        let before = try gate.connections()
        try startNginx(try nginxFile(gate: gate.port))
        let stream = "http://127.0.0.1:\(ports[0])/live/index.m3u8"
        for _ in 0..<20 { #expect(try GateProcess.fetch(stream).code == "200") }
        // nginx has one worker here, which sends one subrequest at a time.
        #expect(try gate.connections() == before + 1)
    }

    @Test("the cookie that the gate renews reaches the client through nginx's cache, and is not kept in it")
    func renewedThroughCache() throws {
        let gate = try GateProcess(in: place, try place.exchange(grant: Self.renewable))
        try startOrigin()
        try startNginx(cachingFile(gate: gate.port))
        let stream = "https://127.0.0.1:\(ports[1])/live/index.m3u8"
        let final = ["--validity", "600"]
        let renewable = final + ["--renew", "cookie:900:899"]
        for (options, state, count) in [(renewable, "miss", 1), (final, "hit", 0), (renewable, "hit", 1)] {
            let answer = try fields(["-H", "Cookie: \(try place.grant(options))", stream])
            #expect(answer.count { $0.hasPrefix("set-cookie: cta-common-access-token=2d3r") } == count, "\(answer)")
            #expect(
                answer.contains("x-cache-status: \(state)") || answer.contains("x-cache-status: expired"), "\(answer)")
        }
    }

    @Test(
        "HEAD consumes no token behind a proxy, whatever the client says of its method",
        arguments: ["nginx", "caddy", "haproxy"])
    func headBehind(proxy: String) throws {
        let settings =
            #"{"routes": [{"path": "/live", "requestor": "MML", "resource": "TNT", "#
            + #""allow-head": true, "allow-preflight": true}]}"#
        let gate = try GateProcess(in: place, try place.options(settings))
        try start(proxy, gate: gate.port)
        let stream = "http://127.0.0.1:\(ports[0])/live/index.m3u8"
        let tokens = try place.tokens(2).map { "X-Media-Token: \(Fixtures.base64($0))" }
        for _ in 0..<2 { #expect(try GateProcess.fetch(stream, ["-I", "-H", tokens[0]]).code == "200") }
        #expect(try GateProcess.fetch(stream, ["-I"]).code == "401")
        #expect(try GateProcess.fetch(stream, ["-H", tokens[0]]).code == "200")
        #expect(try GateProcess.fetch(stream, ["-H", tokens[0]]).code == "403")
        // A client that says HEAD or OPTIONS of its GET consumes its token, and gets nothing without one.
        for name in ["X-Original-Method", "X-Forwarded-Method", "X-HTTP-Method-Override"] {
            for method in ["HEAD", "OPTIONS"] {
                #expect(try GateProcess.fetch(stream, ["-H", "\(name): \(method)"]).code == "401", "\(name)")
            }
        }
        let said = ["-H", "X-Original-Method: HEAD", "-H", "X-Forwarded-Method: HEAD", "-H", tokens[1]]
        #expect(try GateProcess.fetch(stream, said).code == "200")
        #expect(try GateProcess.fetch(stream, said).code == "403")
    }

    @Test(
        "nginx answers the preflight of a player of another origin by the page's lines, and asks the gate about the rest",
        arguments: [false, true])
    func otherOrigin(hasCache: Bool) throws {
        let player = ["--cors-origin", "https://player.example"]
        let gate = try GateProcess(in: place, GateDestination.strict + ["--route", "/live=MML:TNT"] + player)
        let lines = try Fixtures.snippet("nginx", under: "nginx", of: Self.page)
        try "a segment".write(
            toFile: place.directory.path + "/streams/live/0.ts", atomically: false, encoding: .utf8)
        if hasCache { try startOrigin() }
        let file =
            try hasCache
            ? cachingFile(gate: gate.port)
                .replacing("location /live/ {\n", with: "location /live/ {\n\(lines)\n")
                .replacing("m3u8$ {\n", with: "m3u8$ {\n\(try #require(lines.split(separator: "\n").first))\n")
            : nginxFile(gate: gate.port, lines)
        try startNginx(file)
        for name in ["index.m3u8", "0.ts"] {
            try playFromOtherOrigin("https://127.0.0.1:\(ports[1])/live/\(name)", gate)
        }
        #expect(try !gate.logged().contains("METHOD_WITHOUT_MEDIA"))
    }

    private func playFromOtherOrigin(_ stream: String, _ gate: GateProcess) throws {
        let origin = "access-control-allow-origin: https://player.example"
        let preflight = try fields([
            "-X", "OPTIONS", "-H", "Origin: https://player.example", "-H", "Access-Control-Request-Method: GET", stream,
        ])
        #expect(preflight[0].contains(" 204 ") && preflight.contains(origin), "\(preflight)")
        let own = try fields([
            "-X", "OPTIONS", "-H", "Origin: https://player.example", "-H", "Access-Control-Request-Method: POST",
            "http://127.0.0.1:\(gate.port)/v1/play",
        ])
        for name in ["access-control-expose-headers: ", "access-control-max-age: "] {
            let line = own.first { $0.hasPrefix(name) }
            #expect(line != nil && preflight.first { $0.hasPrefix(name) } == line, "\(preflight) \(own)")
        }
        let denied = try fields(["-H", "Origin: https://player.example", stream])
        #expect(denied[0].contains(" 401 ") && denied.contains(origin), "\(denied)")
        let token = Fixtures.base64(try place.tokens(1)[0])
        let played = try fields(["-H", "Origin: https://player.example", "-H", "X-Media-Token: \(token)", stream])
        #expect(played[0].contains(" 200 ") && played.contains(origin), "\(played)")
    }
}
