import Foundation
import TestSupport
import Testing

/// A running `media-token-sandbox serve`, with a folder of its keys.
private final class SandboxProcess {
    let site: String
    /// The certificate of the key that signs.
    let key: String
    private let daemon: Daemon

    init(in directory: TemporaryDirectory, _ options: [String] = []) throws {
        let (port, keys) = (try FreePort.take(1)[0], directory.path + "/sandbox-keys")
        (site, key) = ("http://127.0.0.1:\(port)", keys + "/sandbox-first.pem")
        let log = directory.path + "/sandbox.log"
        daemon = try Daemon(
            Program.sandbox.executable, ["serve", "--listen", "127.0.0.1:\(port)", "--keys-to", keys] + options,
            log: log)
        try daemon.wait { try daemon.printed().contains("serving on") }
    }

    deinit { daemon.end(SIGTERM) }

    /// What a client that was written from Adobe's pages alone gets: the token, or the deviations from these pages.
    func client(_ arguments: [String]) throws -> Program.Outcome {
        try Program("python3").run(
            [Fixtures.package.appending(path: "Tests/Sandbox/v2_client.py").path, site, "--provider", "MML"] + arguments
        )
    }
}

extension EndToEnd.ProxyTests {
    @Test("a client of Adobe's pages logs in at the sandbox, and plays a stream behind nginx, once")
    func sandboxPlay() throws {
        let sandbox = try SandboxProcess(in: place.directory)
        try makeStream(place.directory.path + "/streams/live/tnt")
        let gate = try GateProcess(in: place, try place.exchange(["/live/tnt"]) + ["--keys", sandbox.key], keys: false)
        #expect(try gate.logged().contains("is a sandbox's"))
        try start("nginx", gate: gate.port)
        let site = "http://127.0.0.1:\(ports[0])/live/tnt/"
        // The next second has begun when this returns, so the token will be younger than the gate's store.
        _ = try place.tokens(1)
        let login = ["--mvpd", "Sandbox", "--user", "ann", "--password", "x", "--quiet"]
        let outcome = try sandbox.client(login + ["--resource", "TNT"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        let token = outcome.output.trimmingCharacters(in: .newlines)
        let stream = ["index.m3u8"] + (0..<200).map { "\($0).ts" }
        #expect(try Self.codes([site + stream[0]], "") == ["401"])
        let (code, cookie) = try Self.play("/live/tnt/index.m3u8", token, at: gate)
        #expect(code == "200")
        #expect(try Self.codes(stream.map { site + $0 }, cookie) == Array(repeating: "200", count: 201))
        #expect(try Self.play("/live/tnt/index.m3u8", token, at: gate).code == "403")
    }

    @Test(
        "the sandbox answers each way to a token as Adobe's pages say",
        arguments: [
            [
                "--mvpd", "Sandbox", "--user", "ann", "--password", "x", "--logout", "--resource", "TNT", "--resource",
                "HBO",
            ],
            ["--mvpd", "Sandbox", "--user", "ann", "--password", "x", "--second-screen", "--resource", "TNT"],
            ["--mvpd", "TempPass_Sandbox", "--temp-pass", "--resource", "TNT"],
            ["--mvpd", "flexibleTempPass_Sandbox", "--temp-pass", "--identity", "ann@x.example", "--resource", "TNT"],
            ["--mvpd", "Sandbox", "--no-login", "--resource", "TNT", "--expect", "authenticated_profile_missing"],
            [
                "--mvpd", "Sandbox", "--user", "a", "--password", "x", "--resource", "TNT:denied", "--expect",
                "authorization_denied_by_mvpd",
            ],
            [
                "--mvpd", "Sandbox:too-many", "--user", "a", "--password", "x", "--resource", "TNT", "--expect",
                "too_many_resources",
            ],
        ])
    func sandboxFlows(arguments: [String]) throws {
        let sandbox = try SandboxProcess(in: place.directory)
        let outcome = try sandbox.client(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("the page has the table of test cards as running programs make it")
    func sandboxCards() throws {
        let page = try Fixtures.page("MediaTokenGate/MediaTokenGate.docc/Sandbox")
        let shown = try #require(page.firstMatch(of: /<!-- cards -->\n(.*)<!-- end of cards -->/.dotMatchesNewlines()))
        let script = Fixtures.package.appending(path: "Tests/Sandbox/cards").path
        let outcome = try Program("python3").run(
            [script, Program.sandbox.executable, Program.mediaToken.executable],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == String(shown.1))
    }
}

extension EndToEnd {
    @Suite("The page of the sandbox's demo")
    struct SandboxDemoTests {
        @Test("in Chromium a viewer logs in, plays, is refused a second play of a token, and logs out")
        func demo() throws {
            let folder = try TemporaryDirectory()
            let outcome = try Program(".build/python/bin/python").run(
                ["Tests/Pages/demo_page.py", Program.sandbox.executable, folder.path])
            #expect(outcome.status == 0, "\(outcome.output.suffix(1000))\(outcome.errors.suffix(2000))")
        }
    }
}
