import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("nginx' secure links")
    struct SecureLinkTests {
        @Test("a link that the command line makes opens on nginx, and closes when it ends")
        func opens() throws {
            let directory = try TemporaryDirectory()
            let (folder, port) = (directory.path, try FreePort.take(1)[0])
            try directory.write("#EXTM3U\n", to: "a b.m3u8")
            let key = try directory.write("enigma\n", to: "key")
            let nginx = try EndToEnd.nginx(
                """
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder);
                    secure_link $arg_md5,$arg_expires;
                    secure_link_md5 "$secure_link_expires$uri$remote_addr enigma";
                    if ($secure_link = "") { return 403; }
                    if ($secure_link = "0") { return 410; }
                }
                """, in: directory)

            func link(_ options: [String], path: String = "/a b.m3u8") throws -> String {
                let arguments = [
                    "grant", "secure-link", "--key-file", key, "--path", path, "--ip", "127.0.0.1", "--expression",
                    "$secure_link_expires$uri$remote_addr $secret",
                ]
                return try Program.mediaToken.succeed(arguments + options).trimmingCharacters(in: .newlines)
            }
            func status(_ query: String) throws -> String {
                try GateProcess.fetch("http://127.0.0.1:\(port)/a%20b.m3u8?\(query)").code
            }
            let good = try link(["--validity", "60"])
            try nginx.wait { try status(good) == "200" }
            #expect(try status(try link(["--validity", "60"], path: "/a%20b.m3u8")) == "200", "as it is in the URL")
            #expect(try status(good + "0") == "403")
            #expect(try status(good.replacing("md5=", with: "md5=x")) == "403")
            #expect(try status(try link(["--validity", "60"], path: "/other")) == "403")
            #expect(try status("") == "403")
            let brief = try link(["--validity", "6"])
            #expect(try status(brief) == "200")
            try nginx.wait { try status(brief) == "410" }
            #expect(try status(good) == "200")
        }
    }
}
