import Basics
import Foundation
import Glibc
import MediaToken
import Sandbox
import TestSupport
import Testing
import TokenCrypto

@Suite("keys of the sandbox")
struct SandboxKeyTests {
    @Test("Java's keytool reads the keystore, and finds two certificates that say sandbox")
    func keystore() throws {
        let listed = try Program("keytool").succeed([
            "-list", "-v", "-keystore", try SandboxKeyFiles.shared.store, "-storepass", SandboxKeys.storePassword,
        ])
        #expect(listed.contains("Keystore type: JKS") && listed.contains("Your keystore contains 2 entries"))
        #expect(listed.matches(of: /Owner: CN=.*sandbox key, O=SANDBOX/).count == 2, "\(listed)")
    }

    @Test("each form of the first key is that key")
    func forms() throws {
        let folder = try SandboxKeyFiles.shared.folder
        let prints = try ["sandbox-public-key.pem", "sandbox-first.pem", "media_token_keystore.jks"].map { name in
            try KeyRing(loading: "\(folder)/\(name)", password: SandboxKeys.storePassword).keys.map(\.fingerprint)
        }
        #expect(prints[0].count == 1 && prints[1] == prints[0] && prints[2].contains(prints[0][0]))
        let text = try Program("openssl").succeed(["x509", "-in", "\(folder)/sandbox-first.pem", "-noout", "-text"])
        #expect(text.contains("Version: 3") && text.contains("SANDBOX of media-token-sandbox"))
    }

    @Test(
        "a gate that loads one of them says so",
        arguments: [
            "sandbox-public-key.pem", "sandbox-second.pem", "media_token_keystore.jks",
        ])
    func warning(file: String) throws {
        let folder = try SandboxKeyFiles.shared.folder
        let directory = try TemporaryDirectory()
        let password = try directory.write(SandboxKeys.storePassword, to: "password")
        let outcome = try Program.mediaToken.run([
            "serve", "--check", "--keys", "\(folder)/\(file)", "--password-file", password, "--replays", "memory",
            "--route", "/live=MML:TNT",
        ])
        #expect(outcome.status == 0 && outcome.errors.contains("is a sandbox's"), "\(outcome.errors)")
    }

    @Test(
        "--keys-to takes no directory that has anything but a sandbox's keys, and changes nothing in it, however often")
    func foreignDirectory() throws {
        for name in ["media_token_keystore.jks", "real.pem"] {
            let directory = try TemporaryDirectory()
            let file = try directory.write("real", to: name)
            for _ in 1...2 {
                let outcome = try Program.sandbox.run(
                    ["serve", "--listen", "127.0.0.1:0", "--keys-to", directory.path])
                #expect(outcome.status == 2 && outcome.errors.contains("has \(name); expected a directory"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [name])
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "real")
            }
        }
    }

    @Test("a sandbox whose log nobody reads goes on")
    func unreadLog() throws {
        let (port, directory) = (try FreePort.take(1)[0], try TemporaryDirectory())
        let pipe = directory.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDWR)
        defer { close(reader) }
        let command = "exec '\(Program.sandbox.executable)' serve --listen 127.0.0.1:\(port) --log > '\(pipe)'"
        let sandbox = try Daemon("/bin/sh", ["-c", command], log: directory.path + "/log")
        defer { sandbox.end() }
        try sandbox.wait { try Program("curl").run(["-s", "http://127.0.0.1:\(port)/healthz"]).status == 0 }
        let site = "http://127.0.0.1:\(port)/healthz?[1-3000]"
        let outcome = try Program("curl").run([
            "-s", "-o", "/dev/null", "--fail-early", "--max-time", "10", "-w", "%{http_code}\n", site,
        ])
        #expect(outcome.output.split(separator: "\n").count { $0 == "200" } == 3000, "\(outcome.errors)")
    }

    @Test("a program in Java verifies a token with the keystore, and none that another key signed")
    func java() throws {
        let client = try SandboxClient()
        let program = Fixtures.package.appending(path: "Tests/Sandbox/VerifyToken.java").path
        for (mvpd, expected) in [
            ("Sandbox", "verified by sandbox-first\n"), ("Sandbox:other-key", "verified by none\n"),
            ("Sandbox:forged", "verified by none\n"),
        ] {
            client.logIn(mvpd)
            let token = try #require(client.authorize(mvpd: mvpd).token)
            let outcome = try Program("java").run(
                [program, try SandboxKeyFiles.shared.store, SandboxKeys.storePassword],
                input: Data(token.utf8))
            #expect(outcome.output == expected, "\(mvpd): \(outcome.errors)")
        }
    }
}
