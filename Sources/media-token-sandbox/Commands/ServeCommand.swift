internal import Basics
internal import CommandShell
internal import EventLoops
internal import HTTP
internal import Sandbox
internal import Settings

/// `media-token-sandbox serve`: the stand-in for Adobe Pass.
enum ServeCommand {
    static let command = Command(syntax, Invocation.self, run: run)

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
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            .group(
                "Service",
                [
                    Setting(
                        "listen", "ADDRESS", .texts(), "Serve on IP:PORT or unix:PATH, each after tls: if in TLS",
                        default: "127.0.0.1:8090"
                    ) { given, name, values in
                        values.listeners =
                            given.values(name, HTTPListener.forms) { HTTPListener($0) } ?? values.listeners
                    },
                    .text("tls-certificate", "FILE", "Present this certificate in TLS: PEM", \.certificate),
                    .text("tls-key", "FILE", "Use this private key of the certificate: PEM", \.key),
                    .number("workers", "N", "Threads", 1...256, default: 2, \.workers),
                    .flag("log", "Print each call on standard output, one JSON object per line", \.logs),
                ]), SandboxOptions.table.within(\.options))

        var listeners = [HTTPListener(.tcp(host: "127.0.0.1", port: 8090))]
        private var certificate: String?
        private var key: String?
        private(set) var tls: TLSServer.Files?
        var workers = 2
        var logs = false
        var options = SandboxOptions()

        mutating func check(_ given: inout SettingsObject) {
            if let certificate, let key { tls = TLSServer.Files(certificate: certificate, key: key) }
            if !listeners.allSatisfy({ $0.isTLS == (tls != nil) }) || (certificate == nil) != (key == nil) {
                given.refuse(
                    "tls-certificate", "and --tls-key and tls: before each --listen go together; expected all or none")
            }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let process = ServiceProcess()
        _ = ServiceProcess.raiseDescriptorLimit()
        let log = invocation.logs ? CallLog() : nil
        let server = try SandboxServer(
            invocation.options, on: invocation.listeners, workers: invocation.workers, tls: invocation.tls
        ) { log?.note($0, $1) }
        let scheme = invocation.tls == nil ? "http" : "https"
        for listener in server.listeners {
            Console.printError("SANDBOX of Adobe Pass, serving on \(scheme)://\(HTTPListener(listener.socket))")
        }
        while process.nextSignal(withinSeconds: 3600) == nil {}
        server.stop()
        log?.close()
        return .success
    }
}
