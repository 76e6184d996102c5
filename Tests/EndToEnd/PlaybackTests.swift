import Foundation
import TestSupport
import Testing

extension EndToEnd.ProxyTests {
    /// A stream of 200 seconds, each a segment, as ffmpeg makes them.
    func makeStream(_ folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Program("ffmpeg").succeed([
            "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=duration=200:size=64x36:rate=25", "-c:v", "mpeg2video",
            "-g",
            "25", "-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "-hls_segment_filename", folder + "/%d.ts",
            folder + "/index.m3u8",
        ])
    }

    /// The members of a grant that the gate renews with each request.
    static let renewable = #""validity": 600, "renew": "cookie:900:899", "renew-until": 1000"#

    /// What the gate answers to a play of `path`, with the cookie that it sets.
    static func play(
        _ path: String, _ token: String, at gate: GateProcess
    ) throws -> (code: String, cookie: String) {
        let answer = try Program("curl").run(
            [
                "-s", "-D", "-", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Content-Type: text/plain",
                "--data-binary",
                "@-", "http://127.0.0.1:\(gate.port)/v1/play?path=\(path)",
            ], input: Data(token.utf8)
        ).output
        let lines = answer.split(whereSeparator: \.isNewline)
        let header = "set-cookie: "
        let cookie = lines.first { $0.lowercased().hasPrefix(header) }?.dropFirst(header.count).prefix { $0 != ";" }
        return (String(lines.last ?? ""), String(cookie ?? ""))
    }

    /// The statuses of requests with a cookie, made one after the other.
    static func codes(_ pages: [String], _ cookie: String) throws -> [String] {
        let places = pages.flatMap { ["-o", "/dev/null", $0] }
        let lines = try Program("curl").run(["-s", "-w", "%{http_code}\n", "-H", "Cookie: a=b; \(cookie)"] + places)
            .output
        return lines.split(separator: "\n").map(String.init)
    }

    @Test("a cookie lives through two rotations of the grant keys, and ends when its key is removed")
    func rotation() throws {
        let key = place.directory.path + "/a.key"
        try Program.mediaToken.succeed(["keys", "generate", "--grant", "--to", key])
        let settings = try place.directory.write(
            """
            {"keys": ["\(place.key)"],
             "routes": [{"path": "/live", "requestor": "MML", "resource": "TNT",
             "grant": {"kind": "cat", "key-file": "\(key)", "key-id": ["a"]}}]}
            """, to: "gate.json")
        let gate = try GateProcess(in: place, GateDestination.strict + ["--config", settings], keys: false)
        try start("nginx", gate: gate.port)
        let page = "http://127.0.0.1:\(ports[0])/live/index.m3u8"
        let tokens = try place.tokens(3)
        let first = try Self.play("/live/index.m3u8", tokens[0], at: gate).cookie
        #expect(try Self.codes([page], first) == ["200"])

        var reloads = 0
        /// Loads the keys while a viewer plays, whom that must not disturb.
        func rotate(_ options: String..., playing cookie: String) throws {
            try Program.mediaToken.succeed(["keys", "rotate", "--config", settings, "--id"] + options)
            reloads += 1
            gate.signal(SIGHUP, afterMilliseconds: 50)
            repeat {
                #expect(try Self.codes(Array(repeating: page, count: 100), cookie).allSatisfy { $0 == "200" })
            } while try gate.logged().components(separatedBy: "reloaded: ").count <= reloads
        }
        try rotate("b", playing: first)
        let second = try Self.play("/live/index.m3u8", tokens[1], at: gate).cookie
        try rotate("c", playing: first)
        #expect(try Self.codes([page], first) + Self.codes([page], second) == ["200", "200"])
        let third = try Self.play("/live/index.m3u8", tokens[2], at: gate).cookie
        #expect(try !gate.logged().contains("is gone"))
        try rotate("a", "--remove", playing: second)
        let warning = "warning: routes[0].grant: the key 'a' is gone or has other content"
        #expect(try gate.logged().components(separatedBy: warning).count == 2)
        #expect(try [first, second, third].flatMap { try Self.codes([page], $0) } == ["403", "200", "200"])
        // The lines name the key of a grant, and the token that it was made for.
        let lines = try gate.logged().split(separator: "\n").map(String.init)
        let played = try #require(lines.first { $0.contains("\"endpoint\":\"/v1/play\"") })
        let id = try #require(played.split(separator: ",").last)
        #expect(lines.contains { $0.contains("GRANT_VALID") && $0.contains("\"key\":\"a\"") && $0.contains(id) })
        #expect(lines.contains { $0.contains("GRANT_REFUSED") })
    }

    @Test(
        "a renewed grant reaches the client, and nothing else does that a client says is one",
        arguments: ["nginx", "caddy", "haproxy"])
    func renewedCookie(proxy: String) throws {
        let gate = try GateProcess(in: place, try place.exchange(grant: Self.renewable))
        try start(proxy, gate: gate.port)
        let page = "http://127.0.0.1:\(ports[0])/live/index.m3u8"
        for (renew, count) in [(["--renew", "cookie:900:899"], 1), ([], 0)] {
            let grant = try place.grant(["--validity", "600"] + renew)
            let forged = "CTA-Common-Access-Token=forged"
            let own = ["X-Media-Token-Cookie", "Set-Cookie"].flatMap { ["-H", "\($0): \(forged)"] }
            let answer = try Program("curl").run(
                ["-s", "-D", "-", "-o", "/dev/null", "-H", "Cookie: \(grant)", page] + own
            ).output
            #expect(answer.contains("GRANT_VALID"), "\(answer)")
            let cookies = answer.split(whereSeparator: \.isNewline).filter { $0.lowercased().hasPrefix("set-cookie") }
            #expect(cookies.count == count, "\(cookies)")
            #expect(
                cookies.allSatisfy { $0.contains(": CTA-Common-Access-Token=2D3R") && $0.contains("; Path=/live; ") })
        }
    }

    @Test("a cookie is renewed while a viewer plays, outlives its first end, and not the bound of its renewal")
    func renewal() throws {
        let brief = #""validity": 4, "renew": "cookie:4:3", "renew-until": 9"#
        let gate = try GateProcess(in: place, try place.exchange(grant: brief))
        try start("nginx", gate: gate.port)
        let page = "https://127.0.0.1:\(ports[1])/live/index.m3u8"
        // On a machine that stands still for as long as the window, a player loses its grant, and the play tells
        // nothing.
        var play = try playRenewed(page, at: gate)
        for _ in 0..<10 where play.longestPause > .seconds(2) { play = try playRenewed(page, at: gate) }
        #expect(["401", "403"].contains(play.end), "\(play)")
        #expect(play.played > .seconds(5) && play.played < .seconds(9), "\(play)")
        #expect(try Self.codes(["http://127.0.0.1:\(ports[0])/live/index.m3u8"], play.first) == ["403"])
    }

    /// Plays with a cookie and what the gate renews it by, until the gate refuses.
    private func playRenewed(
        _ page: String, at gate: GateProcess
    ) throws -> (first: String, played: Duration, longestPause: Duration, end: String) {
        let first = try Self.play("/live/index.m3u8", try place.tokens(1)[0], at: gate).cookie
        let (begin, jar) = (ContinuousClock.now, place.directory.path + "/jar")
        var (played, pause, code) = (Duration.zero, Duration.zero, "")
        // curl keeps what it is given in its jar, and replaces it by what it is sent.
        let line = "127.0.0.1\tFALSE\t/live\tTRUE\t0\t\(first.replacing("=", with: "\t"))\n"
        try line.write(toFile: jar, atomically: false, encoding: .utf8)
        while played < .seconds(60) {
            let start = ContinuousClock.now - begin
            code = try GateProcess.fetch(page, ["-k", "-b", jar, "-c", jar]).code
            pause = max(pause, start - played)
            guard code == "200" else { break }
            played = start
            usleep(500_000)
        }
        return (first, played, pause, code)
    }

    @Test("a token once, and then the manifest and 200 segments by the cookie that it was exchanged for")
    func playback() throws {
        try makeStream(place.directory.path + "/streams/live/tnt")
        let routes = try [place.route("/live/tnt"), place.route("/live", #""validity": 8"#), place.route("/vod")]
        let settings = #"{"routes": [\#(routes.joined(separator: ", "))]}"#
        let gate = try GateProcess(in: place, try place.options(settings))
        try start("nginx", gate: gate.port)
        let site = "http://127.0.0.1:\(ports[0])"
        let tokens = try place.tokens(3)

        func play(_ path: String, _ token: String) throws -> (code: String, cookie: String) {
            try Self.play(path, token, at: gate)
        }
        func codes(_ paths: [String], _ cookie: String) throws -> [String] {
            try Self.codes(paths.map { site + $0 }, cookie)
        }

        let (code, cookie) = try play("/live/tnt/index.m3u8", tokens[0])
        try #require(code == "200" && cookie.hasPrefix("CTA-Common-Access-Token="))
        #expect(try play("/live/tnt/index.m3u8", tokens[0]).code == "403")
        let stream = ["/live/tnt/index.m3u8"] + (0..<200).map { "/live/tnt/\($0).ts" }
        #expect(try codes(stream, cookie) == Array(repeating: "200", count: 201))
        // Every frame of it, read by a player.
        let frames = try Program("ffmpeg").run([
            "-nostdin", "-headers", "Cookie: \(cookie)\r\n", "-i", site + stream[0], "-f", "null", "-",
        ])
        #expect(frames.status == 0 && frames.errors.contains("frame= 5000"), "\(frames.errors.suffix(500))")

        #expect(try codes(["/live/tnt/0.ts"], "") == ["401"])
        #expect(try codes(["/live/tnt/0.ts"], cookie.replacing("=2D3R", with: "=2D3S")) == ["403"])
        #expect(try codes(["/live/index.m3u8", "/vod/x"], cookie) == ["403", "403"])
        let other = try play("/vod/x", tokens[1]).cookie
        #expect(try codes(["/live/tnt/0.ts"], other) == ["403"])
        let brief = try play("/live/index.m3u8", tokens[2]).cookie
        #expect(try codes(["/live/index.m3u8", "/live/tnt/0.ts"], brief) == ["200", "403"])
        try gate.wait { try codes(["/live/index.m3u8"], brief) == ["403"] }
        #expect(try codes(["/live/tnt/0.ts"], cookie) == ["200"])
    }

    @Test(
        "a grant for GET opens for no other method, whatever a client says of it",
        arguments: ["nginx", "caddy", "haproxy"])
    func methods(proxy: String) throws {
        let gate = try GateProcess(in: place, try place.exchange(grant: #""methods": ["GET"]"#))
        try start(proxy, gate: gate.port)
        let grant = try place.grant(["--method", "GET"])
        let name = grant.prefix { $0 != "=" }
        let page = "http://127.0.0.1:\(ports[0])/live/index.m3u8"
        for carried in ["Cookie: \(grant)", "\(name): \(grant.dropFirst(name.count + 1))"] {
            #expect(try GateProcess.fetch(page, ["-H", carried]).code == "200", "\(carried.prefix(12))")
            for header in ["X-Other", "X-Original-Method", "X-Forwarded-Method", "X-HTTP-Method-Override"] {
                let told = try GateProcess.fetch(page, ["-X", "DELETE", "-H", carried, "-H", "\(header): GET"])
                #expect(told.code == "403", "\(header): \(told.code)")
            }
        }
    }
}
