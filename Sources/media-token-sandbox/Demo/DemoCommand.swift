internal import Basics
internal import CommandShell
internal import Glibc
internal import HTTP
internal import Sandbox
internal import Settings

/// `media-token-sandbox demo`: both sides on this machine, and a page with a player between them.
enum DemoCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox demo", operands: "",
        summary: "Log in, play, and see a second play of the token denied, in a browser.",
        details: """
            Starts the sandbox, a gate, and a site with a small stream and a page with a player, all on the loopback, and prints the \
            address of the page. It shows the calls of both sides in their order. The gate is the program media-token, which stands \
            beside this one. Ctrl-C ends all of them.

            Exit status: 0 stopped, 2 cannot start, 64 usage.

            Example:
              media-token-sandbox demo --port 8080
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([
            .number("port", "N", "Port of the page (default any that is free)", 1...65_535, \.port) { UInt16($0) },
            .text("gate", "PROGRAM", "The program media-token (default the one beside this program)", \.program),
        ])

        var port: UInt16 = 0
        var program: String?
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let process = ServiceProcess()
        let (folder, calls) = (try TemporaryFolder("media-token-sandbox-demo"), DemoCalls())
        let sandbox = try startSandbox(keys: "\(folder.path)/keys", calls)
        let gate = try GateProgram(
            invocation.program ?? gateBeside, settings: try writeSettings(in: folder), log: "\(folder.path)/gate.log")
        let edge = try DemoEdge(
            port: invocation.port, gate: gate.port, sandbox: "http://\(sandbox.listeners[0])", calls)
        Console.print("Log in, play, and play again, in a browser of this machine:\n   \(edge.url)")
        Console.print("Ctrl-C ends the sandbox, the gate and the page.")
        Console.flush()
        while process.nextSignal(withinSeconds: 3600) == nil {}
        edge.stop()
        sandbox.stop()
        return withExtendedLifetime((folder, gate)) { .success }
    }

    private static func startSandbox(keys: String, _ calls: DemoCalls) throws(CommandError) -> SandboxServer {
        let listener = HTTPListener(.tcp(host: "127.0.0.1", port: 0))
        return try SandboxServer(SandboxOptions(keysTo: keys), on: [listener], workers: 1) { request, answer in
            guard !request.method.elementsEqual("OPTIONS".utf8) else { return }
            calls.note(
                "sandbox", request, path: SandboxService.pathWithoutCode(of: request), answer.status, answer.body)
        }
    }

    /// Writes the gate's configuration: one route, whose grant opens the stream by cookie.
    private static func writeSettings(in folder: TemporaryFolder) throws(CommandError) -> String {
        let key = (0..<32).map { _ in UInt8.random(in: 0...255) }.hexadecimal
        return try folder.write(
            """
            {"keys": ["\(folder.path)/keys/sandbox-first.pem"], "replays": "memory", "skew": 0, "routes": [
              {"path": "/live", "requestor": "SANDBOX", "resource": "LIVE", "grant": {"kind": "cat",
               "key-file": "\(try folder.write(key, to: "grant.key"))", "scope": "/live", "validity": 600}}]}
            """, to: "gate.json")
    }

    /// The program that stands beside this one.
    private static var gateBeside: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let own = String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/media-token"
    }
}
