import Foundation
import TestSupport
import Testing

extension EndToEnd.ProxyTests {
    static let cachingPage = "ExchangingTokens"
    static let cachingPart = "nginx: HLS with a cache"

    /// The page's file for nginx with a cache.
    func cachingFile(gate: Int) throws -> String {
        try snippet("nginx", under: Self.cachingPart, of: Self.cachingPage, gate: gate)
    }

    /// The page's file, with an origin that logs every place where a request may have a token, and streams for it.
    private func startCaching(gate: Int) throws {
        let folder = place.directory.path
        for name in ["tnt/index.m3u8", "tnt/0.ts", "tnt/1.ts", "two/index.m3u8", "two/0.ts"] {
            let file = URL(filePath: "\(folder)/streams/live/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try name.write(to: file, atomically: false, encoding: .utf8)
        }
        let origin = """
            log_format all '$request|$http_cookie|$http_referer|$http_authorization|$http_x_media_token|\
            $http_cta_common_access_token';
            server { listen 127.0.0.1:\(ports[2]); root \(folder)/streams; access_log \(folder)/origin.log all; }
            """
        try startNginx(try cachingFile(gate: gate) + "\n" + origin)
    }

    /// What nginx answers over HTTPS.
    private func ask(_ target: String, _ options: [String] = []) throws -> [String] {
        let format = "%{http_code} %header{x-media-token-code} %header{x-cache-status}"
        return try Program("curl").run(
            ["-sk", "-o", "/dev/null", "-w", format, "https://127.0.0.1:\(ports[1])\(target)"] + options
        ).output.split(separator: " ").map(String.init)
    }

    /// Every 20 bytes in a row.
    private func windows(_ bytes: [UInt8]) -> Set<ArraySlice<UInt8>> {
        Set(bytes.indices.dropLast(19).map { bytes[$0..<($0 + 20)] })
    }

    @Test("nginx caches a stream, asks the gate about each request for it, and keeps tokens from origin, cache and log")
    func caching() throws {
        let folder = place.directory.path
        let gate = try GateProcess(in: place, try place.exchange(["/live/tnt", "/live/two"]))
        try startCaching(gate: gate.port)
        let tokens = try place.tokens(5)

        /// The grant that a token was exchanged for, which curl keeps in a file as a player does.
        func play(_ stream: String, _ token: String) throws -> String {
            let body = try place.directory.write(token, to: "token")
            let jar = "\(folder)/\(stream).jar"
            let post = ["-c", jar, "-H", "Content-Type: text/plain", "--data-binary", "@\(body)"]
            try #require(ask("/v1/play?path=/live/\(stream)/index.m3u8", post).first == "200")
            let cookie = try String(contentsOfFile: jar, encoding: .utf8)
            return String(try #require(cookie.split(whereSeparator: \.isWhitespace).last))
        }
        let grants = try [play("tnt", tokens[0]), play("two", tokens[1])]
        let cookie = ["-b", folder + "/tnt.jar"]
        let other = ["-H", "Cookie: CTA-Common-Access-Token=\(grants[1])"]
        for target in ["/live/tnt/index.m3u8", "/live/tnt/0.ts"] {
            #expect(try ask(target) == ["401", "TOKEN_MISSING"], "\(target), not cached")
            #expect(try ask(target, cookie) == ["200", "GRANT_VALID", "MISS"], "\(target)")
            #expect(try ask(target) == ["401", "TOKEN_MISSING"], "\(target), cached")
            #expect(try ask(target, other) == ["403", "GRANT_REFUSED"], "\(target), cached")
        }
        #expect(try ask("/live/tnt/0.ts", cookie) == ["200", "GRANT_VALID", "HIT"])

        // A token wherever one may be: the one copy in the cache has none of it, and is for all.
        let segment = "/live/tnt/1.ts"
        let query = [tokens[2], tokens[3]].map { segment + "?media_token=" + Fixtures.percentEncoded($0) }
        let referer = ["-H", "Referer: https://live.example\(query[1])"]
        #expect(try ask(query[0], referer) == ["200", "VALID_TOKEN", "MISS"])
        #expect(try ask(query[1], referer) == ["200", "VALID_TOKEN", "HIT"])
        #expect(try ask(query[1]) == ["403", "TOKEN_ALREADY_USED"])
        let token = Fixtures.base64(tokens[4])
        let headers = ["-H", "X-Media-Token: \(token)", "-H", "Authorization: Bearer \(token)"]
        #expect(try ask("/live/two/index.m3u8?x=1", headers) == ["200", "VALID_TOKEN", "MISS"])
        let grant = ["-H", "CTA-Common-Access-Token: \(grants[1])"]
        #expect(try ask("/live/two/0.ts", grant) == ["200", "GRANT_VALID", "MISS"])

        let sent = tokens.flatMap { [$0, Fixtures.percentEncoded($0), Fixtures.base64($0)] } + grants
        let secrets = sent.map { windows(Array($0.utf8)) }.reduce(Set()) { $0.union($1) }
        endNginx()
        let cached = try FileManager.default.contentsOfDirectory(atPath: folder + "/cache").map { "cache/" + $0 }
        #expect(cached.count == 5)
        for name in ["access.log", "origin.log"] + cached {
            let bytes = Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("/live/tnt/") || text.contains("/live/two/"), "\(name)")
            #expect(windows(bytes).isDisjoint(with: secrets) && !text.contains("x=1"), "\(name)")
        }
    }

    @Test(
        "nginx keeps decisions on grants and open routes as long as decision-max-age says, and none on a token",
        arguments: [
            "$request_method$request_uri",
            "$request_method $host $request_uri $http_cta_common_access_token $http_cookie",
        ])
    func keptDecisions(key: String) throws {
        let folder = place.directory.path
        let routes = #"{"path": "/trailers", "open": true}, \#(try place.route("/live"))"#
        let gate = try GateProcess(in: place, try place.options(#"{"decision-max-age": 60, "routes": [\#(routes)]}"#))
        let file = try nginxFile(gate: gate.port).replacing(
            "        internal;\n",
            with: "        internal;\n        proxy_cache decisions;\n        proxy_cache_key \"\(key)\";\n")
        try FileManager.default.createDirectory(atPath: folder + "/streams/trailers", withIntermediateDirectories: true)
        for path in ["live/0.ts", "live/1.ts", "trailers/0.ts"] {
            try path.write(toFile: "\(folder)/streams/\(path)", atomically: false, encoding: .utf8)
        }
        try startNginx("proxy_cache_path \(folder)/decisions keys_zone=decisions:1m;\n" + file)
        func asked(_ code: String) throws -> Int { try gate.logged().components(separatedBy: "\"\(code)\"").count - 1 }
        let grants = try [place.grant(), place.grant(["--method", "GET"])]
        #expect(grants[0] != grants[1])
        for grant in grants + grants {
            for _ in 0..<3 {
                #expect(try ask("/live/0.ts", ["-H", "Cookie: \(grant)"]) == ["200", "GRANT_VALID"])
                #expect(try ask("/trailers/0.ts") == ["200", "TOKEN_NOT_REQUIRED"])
            }
            // An answer to a method that somebody invents is kept for nobody.
            #expect(try ask("/trailers/0.ts", ["-X", "AGET"])[1] == "TOKEN_NOT_REQUIRED")
            // Somebody else asks in between.
            #expect(try ask("/live/0.ts") == ["401", "TOKEN_MISSING"])
        }
        for token in try place.tokens(2).map({ "X-Media-Token: \(Fixtures.base64($0))" }) {
            #expect(try ask("/live/1.ts", ["-H", token]) == ["200", "VALID_TOKEN"])
            for _ in 0..<3 { #expect(try ask("/live/1.ts", ["-H", token]) == ["403", "TOKEN_ALREADY_USED"]) }
        }
        gate.end()
        // Without the cookie in its key, nginx keeps one of the answers that differ by it, and asks about the other
        // again.
        let counts = try (asked("GRANT_VALID"), asked("TOKEN_NOT_REQUIRED"), asked("TOKEN_MISSING"))
        #expect(key.contains("cookie") ? counts.0 == 2 : (2...4).contains(counts.0), "\(counts)")
        #expect(counts.1 == 5 && counts.2 == 4, "\(counts)")
    }

    @Test("nginx asks the gate alike with and without a cache")
    func asks() throws {
        let blocks = try [nginxFile(gate: 8080), cachingFile(gate: 8080)].map { text in
            text.range(of: "location = /media-token {").map {
                text[$0.lowerBound...].trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }
        #expect(blocks[0] != nil && blocks[0] == blocks[1])
    }
}
