import Foundation
import TestSupport
import Testing

@Suite("media-token-sandbox serve")
struct SandboxServeCommandTests {
    private static let page = "/adobe-services/authenticate/saml?requestor_id=MML&mso_id=Sandbox"

    /// Where a sandbox sends a browser that is to log in.
    private func login(_ arguments: [String], in place: TemporaryDirectory, curl: [String]) throws -> String {
        let sandbox = try Daemon(
            Program.sandbox.executable, ["serve"] + arguments, log: place.path + "/sandbox-\(arguments.count).log")
        defer { sandbox.end(SIGTERM) }
        try sandbox.wait { try sandbox.printed().contains("serving on") }
        let url = try #require(try sandbox.printed().firstMatch(of: /http[s]?:\/\/[0-9.:]+/)).output
        let written = try Program("curl").run(
            ["-sk", "--noproxy", "*", "-o", "/dev/null", "-w", "%{redirect_url}"] + curl + ["\(url)\(Self.page)"])
        return written.output
    }

    @Test("the login page has the scheme in which the client came: in TLS, or by a proxy that says so")
    func scheme() throws {
        let place = try TemporaryDirectory()
        let (certificate, key) = (place.path + "/cert.pem", place.path + "/key.pem")
        let made = try Program("openssl").run([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-subj",
            "/CN=localhost",
        ])
        try #require(made.status == 0, "\(made.errors)")
        let tls = ["--listen", "tls:127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key]
        #expect(try login(tls, in: place, curl: []).hasPrefix("https://127.0.0.1:"))
        let plain = ["--listen", "127.0.0.1:0"]
        #expect(try login(plain, in: place, curl: []).hasPrefix("http://127.0.0.1:"))
        #expect(try login(plain, in: place, curl: ["-H", "X-Forwarded-Proto: https"]).hasPrefix("https://127.0.0.1:"))
    }

    @Test(
        "a certificate, a key and listeners in TLS go together",
        arguments: [
            ["--listen", "tls:127.0.0.1:0"], ["--tls-key", "x"],
            ["--listen", "127.0.0.1:0", "--tls-key", "x", "--tls-certificate", "x"],
        ])
    func usage(arguments: [String]) throws {
        let outcome = try Program.sandbox.run(["serve"] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("expected all or none"), "\(outcome.errors)")
    }
}
