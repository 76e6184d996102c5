import Foundation
import TestSupport
import Testing

/// The gate's guide to deployment.
enum Deploying {
    /// The first block in `language` below a heading.
    static func snippet(_ language: String, under heading: String) throws -> String {
        try Fixtures.snippet(language, under: heading, of: "MediaTokenGate/MediaTokenGate.docc/Deploying")
    }
}

extension EndToEnd {
    @Suite("What the documentation says of deployment")
    struct DeployingTests {
        private let place = GateDestination()

        @Test("systemd takes the units of the package as they stand, and rates the service safe")
        func unit() throws {
            let units = try ["service", "socket"].map { kind in
                let file = Fixtures.package.appending(path: ".packaging/debian/media-token.\(kind)")
                let text = try String(contentsOf: file, encoding: .utf8)
                    .replacing("/usr/bin/media-token", with: Program.mediaToken.executable)
                return try place.directory.write(text, to: "media-token.\(kind)")
            }
            let verified = try Program("systemd-analyze").run(["verify", "--man=no"] + units)
            #expect(verified.status == 0 && verified.errors.isEmpty, "\(verified.errors)")
            // Tenths: below 2.0 is "OK" to systemd; a unit without any of it has 9.6.
            let rated = try Program("systemd-analyze").run(
                ["security", "--offline=yes", "--threshold=20", "--no-pager", units[0]])
            #expect(rated.status == 0, "\(rated.output.suffix(200))")
        }

        @Test("the addresses for Envoy and Traefik are the gate's, asked as these proxies say that they ask")
        func contracts() throws {
            let routes = ["--route", "/live=MML:TNT", "--route", "/trailers=open"]
            let gate = try GateProcess(in: place, GateDestination.strict + routes)
            let token = Fixtures.base64(try place.tokens(1)[0])
            let envoy = try Deploying.snippet("yaml", under: "Envoy")
            let prefix = try #require(envoy.firstMatch(of: try Regex("path_prefix: (\\S+)"))?.output[1].substring)
            let traefik = try Deploying.snippet("yaml", under: "Traefik")
            let address = try #require(
                traefik.firstMatch(of: try Regex("address: http://127.0.0.1:8080(\\S+)"))?.output[1].substring)
            let gateAddress = "http://127.0.0.1:\(gate.port)"
            for (path, header, code) in [
                ("/trailers/1.m3u8?x=1", "X-Other: 1", "200"), ("/live/1.m3u8", "X-Other: 1", "401"),
                ("/elsewhere", "X-Other: 1", "403"), ("/live/1.m3u8", "X-Media-Token: \(token)", "200"),
                ("/live/1.m3u8", "X-Media-Token: \(token)", "403"),
            ] {
                let isSecond = code == "200" && header.contains(token)
                // Envoy: the method of the original request, and no body.
                let asked = try GateProcess.fetch(
                    gateAddress + prefix + path, ["-X", "POST", "-H", "Content-Length: 0", "-H", header])
                #expect(asked.code == code, "Envoy, \(path)")
                // Traefik: always GET. A token that Envoy has used is used.
                let forwarded = try GateProcess.fetch(
                    gateAddress + address,
                    ["-H", header, "-H", "X-Forwarded-Uri: \(path)", "-H", "X-Forwarded-Method: GET"])
                #expect(forwarded.code == (isSecond ? "403" : code), "Traefik, \(path)")
            }
        }

        @Test("the address for Kubernetes is the gate's, asked as the Gateway API says that ExternalAuth asks")
        func kubernetes() throws {
            let options = try place.options(
                """
                {"routes": [{"hosts": ["live.example"], "path": "/live", "requestor": "MML", "resource": "TNT"},
                 {"hosts": ["live.example"], "path": "/trailers", "open": true}]}
                """)
            let gate = try GateProcess(in: place, options)
            let tokens = try place.tokens(2)
            let yaml = try Deploying.snippet("yaml", under: "Kubernetes Gateway API")
            let settings = try #require(yaml.firstMatch(of: /\n *path: (\S+)\n *allowedHeaders: \[(.*)\]/))
            let (prefix, allowed) = (String(settings.1), settings.2.split(separator: ", "))

            /// Asked with the client's host, no body, and a header if it is one of those allowed.
            func ask(_ target: String, host: String = "live.example", token: String? = nil) throws -> String {
                let header = token.map { ["-H", "X-Media-Token: \(Fixtures.base64($0))"] } ?? []
                return try GateProcess.fetch(
                    "http://127.0.0.1:\(gate.port)\(target)",
                    ["--path-as-is", "-H", "Host: \(host)", "-H", "Content-Length: 0"]
                        + (allowed.contains("X-Media-Token") ? header : [])
                ).code
            }
            #expect(try ask(prefix + "/trailers/1.m3u8?x=1") == "200")
            #expect(try ask(prefix + "/trailers/1.m3u8", host: "other.example") == "403")
            #expect(try ask(prefix + "/trailers/../live/1.m3u8") == "403")
            #expect(try ask(prefix + "/live/1.m3u8") == "401")
            #expect(try ask(prefix + "/live/1.m3u8", token: tokens[0]) == "200")
            #expect(try ask(prefix + "/live/1.m3u8", token: tokens[0]) == "403")
            #expect(try ask(prefix + "/live/1.m3u8?media_token=" + Fixtures.percentEncoded(tokens[1])) == "200")
            // Without the prefix, and by an implementation that appends no path to it.
            #expect(try ask("/trailers/1.m3u8") == "404")
            #expect(try ask(prefix) == "403")
        }
    }
}
