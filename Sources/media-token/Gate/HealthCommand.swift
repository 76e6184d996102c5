internal import CommandShell
internal import EventLoops
internal import HTTP
internal import MediaTokenGate
internal import Settings

/// `media-token health`: asks the gate of this host whether it is ready. A container has no curl for that.
enum HealthCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token health", operands: "",
        summary: "Ask the gate of this host whether it is ready.",
        details: """
            Asks /readyz at the gate's first admin address, which --config FILE or --admin names: whether the gate \
            accepts tokens. With --streams it asks /readyz/streams: whether the gate serves requests that need no token, \
            which it does also while its replay store is down.

            Exit status: 0 ready, 1 not ready, 2 no answer, 64 usage.

            Examples:
              media-token serve --keys Keys --min-rsa-bits 1024 --replays memory \\
                --listen 127.0.0.1:8080 --admin 127.0.0.1:8081 &
              curl -sf --retry 9 --retry-connrefused http://127.0.0.1:8081/healthz
              media-token health --streams --admin 127.0.0.1:8081
              media-token health --admin 127.0.0.1:8081 # exit status 1: still fenced
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            .group(
                "Gate",
                [
                    .flag("streams", "Ask whether requests without a token are served", \.asksForStreams)
                ]), GateOptions.addressTable.within(\.options))

        var asksForStreams = false
        var options = GateOptions()
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        var options = invocation.options
        let reader = try options.readQuietly()
        let problems = options.lines(reader.problems.filter { $0.setting == "admin" })
        for line in problems { Console.printError(line) }
        guard problems.isEmpty else { return .usage }
        let listener = reader.settings.admin.first
        guard let listener, !listener.isTLS, case .tcp(let host, let port) = listener.socketOfThisHost else {
            throw CommandError(
                "admin is \(listener.map { "\($0)" } ?? "empty"); expected an address and a port without TLS")
        }
        let client: HTTPClient
        do { client = HTTPClient(try EventLoop(), address: host, port: port, timeout: 5) } catch {
            throw CommandError.noDescriptors
        }
        guard let answer = client.ask(invocation.asksForStreams ? "/readyz/streams" : "/readyz") else {
            throw CommandError("\(listener): no answer; is a gate listening there?")
        }
        Console.print(String(decoding: answer.body.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        return answer.status == 200 ? .success : .rejected
    }
}
