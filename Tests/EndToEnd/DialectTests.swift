import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Apps that know another token endpoint, at a gate behind nginx.
    @Suite("Dialects of apps")
    struct DialectTests {
        private let place = GateDestination()

        /// Every dialect of the page, as one list.
        static func ofPage() throws -> String {
            let page = try Fixtures.page("MediaTokenGate/MediaTokenGate.docc/Dialects")
            let parts = page.components(separatedBy: "```json\n").dropFirst()
            return "[" + parts.map { $0.components(separatedBy: "\n```")[0] }.joined(separator: ",\n") + "]"
        }

        @Test("FOX, NBC and Turner ask as their apps do, read a stream's URL, and a refusal the second time")
        func apps() throws {
            let key = try place.grantKey()
            let routes = ["fox", "nbc", "turner"].map { name in
                #"{"path": "/live/\#(name)", "requestor": "MML", "resource": "TNT", "grant": {"kind": "akamai", "key-file": "\#(key)"}}"#
            }
            let settings = #"{"routes": [\#(routes.joined(separator: ", "))], "dialects": \#(try Self.ofPage())}"#
            let gate = try GateProcess(in: place, try place.options(settings))
            let port = try FreePort.take(1)[0]
            let nginx = try EndToEnd.nginx(
                """
                server { listen 127.0.0.1:\(port);
                  location ~ ^/(fox|nbc|turner|form|header)/ { proxy_pass http://127.0.0.1:\(gate.port); } }
                """, in: place.directory)
            let address = "http://127.0.0.1:\(port)"
            try nginx.wait { try GateProcess.fetch(address + "/fox/").code == "404" }
            let apps = Program(Fixtures.package.path + "/Tests/Dialects/apps")
            for (app, name) in [("fox", "hdnea"), ("nbc", "hdnts"), ("turner", "hdnea")] {
                let token = try place.tokens(1)[0]
                let arguments = [app, address, token] + (app == "nbc" ? ["MML", "TNT"] : [])
                let url = try apps.succeed(arguments).trimmingCharacters(in: .whitespacesAndNewlines)
                let begin = "https://stream.example/live/\(app)/master.m3u8?\(name)="
                #expect(url.hasPrefix(begin), "\(url)")
                let checked = try Program.mediaToken.run([
                    "grant", "check", "akamai", "--key-file", key, "--url", "/live/\(app)/segment-1.ts",
                    String(url.dropFirst(begin.count)),
                ])
                #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
                let again = try apps.succeed(arguments)
                #expect(again.hasPrefix("refused: "), "\(again)")
                #expect(again.contains("used before") && !again.contains(token.prefix(60)), "\(again)")
                // A token of another requestor, and none at all.
                let other = try apps.succeed([app, address, "junk<&\"'}"] + (app == "nbc" ? ["MML", "TNT"] : []))
                #expect(other.hasPrefix("refused: ") && other.contains("token"), "\(other)")
            }
            let log = try gate.logged()
            #expect(log.components(separatedBy: "\"code\":\"VALID_TOKEN\"").count == 4)
        }
    }
}
