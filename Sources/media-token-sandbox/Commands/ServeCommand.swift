internal import CommandShell
internal import HTTPMessages
internal import HTTPServing
internal import Sandbox
internal import TextEncodings

/// `media-token-sandbox serve`: the stand-in for Adobe Pass.
enum ServeCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox serve", operands: "",
        summary: "Run a stand-in for Adobe Pass: registration, login, decisions and media tokens.",
        details: """
            A client of REST API v2 works against it by its base URL alone: any software statement in the form of a JWT, \
            any service provider and any MVPD are known. A viewer logs in at a pretend MVPD in a browser, with any name and password but 'wrong'. An MVPD whose name \
            contains TempPass is one, and promotional if it begins with flexible or promotional. Names choose behaviour: 'media-token-sandbox cards' lists them. REST v1's mediatoken and the \
            SDKs' adobe-services/authenticate/saml, session, authorize and shortAuthorize answer too.

            All state is in memory. The public keys are also at /sandbox/keys/NAME, and /healthz tells whether it is up.

            Exit status: 0 stopped, 2 cannot serve, 64 usage.

            Example:
              media-token-sandbox serve --listen 127.0.0.1:8090 --keys-to sandbox-keys
            """,
        groups: [
            OptionGroup(
                heading: "Service:",
                options: [
                    CommandOption(
                        "listen", "ADDRESS", "Serve on IP:PORT or unix:PATH (default 127.0.0.1:8090; repeatable)"),
                    CommandOption("workers", "N", "Threads (default 2)"),
                    CommandOption("log", nil, "Print each call on standard output, one JSON object per line"),
                ])
        ] + SandboxOptions.groups)

    private struct Invocation {
        let listeners: [HTTPListener]
        let workers: Int
        let logs: Bool
        let options: SandboxOptions

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.isEmpty else { throw UsageError("expected options only") }
            var listeners: [HTTPListener] = []
            for text in given.has("listen") ? given.all("listen") : ["127.0.0.1:8090"] {
                guard let listener = HTTPListener(text), !listener.isTLS else {
                    throw UsageError("--listen is '\(text)'; expected IP:PORT or unix:PATH")
                }
                listeners.append(listener)
            }
            self.listeners = listeners
            workers = Int(try given.number("workers", in: 1...256) ?? 2)
            (logs, options) = (given.has("log"), try SandboxOptions(given))
        }
    }

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        let process = ServiceProcess()
        _ = ServiceProcess.raiseDescriptorLimit()
        return CommandError.report { () throws(CommandError) in
            let log = invocation.logs ? CallLog() : nil
            let server = try SandboxServer(
                invocation.options, on: invocation.listeners, workers: invocation.workers
            ) { log?.note($0, $1) }
            for listener in server.listeners {
                Console.printError("SANDBOX of Adobe Pass, serving on http://\(listener)")
            }
            while process.nextSignal(withinSeconds: 3600) == nil {}
            server.stop()
            log?.close()
            return .success
        }
    }
}
