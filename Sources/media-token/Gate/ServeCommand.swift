internal import Basics
internal import CommandShell
internal import Glibc
internal import HTTP
internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores
internal import Settings

/// `media-token serve`: the gate, an HTTP authorization service for playback backends and proxies.
enum ServeCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token serve", operands: "",
        summary: "Run the gate: an HTTP authorization service for backends and reverse proxies.",
        details: """
            A backend posts a token to /v1/verify, or to /v1/play, which exchanges it for a CDN's grant. A proxy asks \
            /v1/authz/auth-request (nginx, HAProxy), /v1/authz/forward-auth (Caddy, Traefik) or /v1/authz/ext-authz \
            (Envoy) about each request; routes say what a path demands, and a path that no route names is denied.

            FILE is a JSON object of settings, which --print=page lists; most have the name of their option, without the dashes:
              {"keys": ["Keys"], "min-rsa-bits": 1024, "replays": "memory",
               "routes": [{"path": "/live/tnt", "requestor": "MML", "resource": "TNT"},
                          {"path": "/trailers", "open": true}]}
            Lines that begin with // are comments. An option takes precedence over FILE. --print=start \
            prints a FILE to start with, which explains each setting; --print=example prints every setting, also those of routes and \
            grants; --print=schema prints what an editor needs to complete and check FILE.

            On SIGHUP, the gate reads FILE and all files that it names again. What --print=page marks 'reload' changes at once, \
            all or none. Files of keys, certificates and secrets are also read again when they change (--watch); FILE is \
            not. SIGTERM and SIGINT stop the gate gracefully. Verdicts are logged on standard output, one JSON object per line. The gate notifies systemd when it is ready (Type=notify), and accepts sockets from systemd.

            The Debian package has its file in /etc/media-token/gate.json, keys in /etc/media-token/keys, and the \
            documentation in /usr/share/doc/media-token, with deployment and troubleshooting in MediaTokenGate.

            Exit status: 0 stopped, or checked and right; 2 cannot serve now; 64 usage, or \
            settings or files that have to be repaired first.

            Examples:
              media-token serve --keys Keys --min-rsa-bits 1024 --replays memory \\
                --listen 127.0.0.1:8080 --admin 127.0.0.1:8081 --route /live=MML:TNT
              media-token serve --print=start > gate.json
            """)

    /// What `--print` prints.
    private enum Printed {
        case document(@Sendable () -> String)
        /// A proxy's file for the gate that other settings describe.
        case proxy(ProxyFile)

        static let words = documents.map(\.word) + ProxyFile.allCases.map(\.rawValue)

        private static let documents: [(word: String, text: @Sendable () -> String)] = [
            ("start", { SettingsDocuments.start }), ("example", { SettingsDocuments.example }),
            ("schema", { SettingsDocuments.schema }), ("page", { SettingsDocuments.page }),
            ("metrics", { GateMetric.page }), ("codes", { AnswerCode.page }),
            ("openapi", { OpenAPIDescription.document(version: ProgramVersion.text) }),
        ]

        init?(_ word: String) {
            if let document = Self.documents.first(where: { $0.word == word }) {
                self = .document(document.text)
            } else if let proxy = ProxyFile(rawValue: word) {
                self = .proxy(proxy)
            } else {
                return nil
            }
        }
    }

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            GateOptions.table.within(\.options),
            .group(
                "Configuration",
                [
                    .flag(
                        "check",
                        "Check the settings, print all problems, and exit; no address is bound, no store opened",
                        \.checks),
                    Setting(
                        "print", Printed.words.joined(separator: "|"), .text(),
                        "Print and exit: a FILE to start with, whose comments explain every setting; an example with every setting; its JSON schema; the settings, the metrics or the codes of verdicts as a page; the HTTP API's description; a proxy's file for a gate with these settings"
                    ) { given, name, values in
                        values.printed = given.word(name, Printed.words).flatMap { Printed($0) }
                    },
                ]))

        var checks = false
        var printed: Printed?
        var options = GateOptions()

        func check(_ given: inout SettingsObject) {
            switch printed {
            case nil: break
            case .document?: given.refuse(GateOptions.table.names + ["check"], withoutEffect: "with --print")
            case .proxy?: given.refuse(["check"], withoutEffect: "with --print")
            }
        }

        func furtherProblems() -> [String] {
            var options = options
            return checks ? options.problems() : []
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        var options = invocation.options
        switch invocation.printed {
        case .document(let text)?:
            Console.print(text())
            return .success
        case .proxy(let file)?: return try print(file, options)
        case nil: break
        }
        if invocation.checks { return check(options) }
        let reader: GateSettingsReader
        do throws(CommandError) { reader = try options.read() } catch {
            Console.printError(error.message)
            return .usage
        }
        return reader.problems.isEmpty ? try serve(reader.settings, options) : .usage
    }

    /// Prints a proxy's file for the gate, whose files need not be there.
    private static func print(_ file: ProxyFile, _ given: GateOptions) throws(CommandError) -> ExitStatus {
        var options = given
        let reader = try options.readQuietly()
        // Without a file, the settings may name no keys.
        guard options.show(reader.problems.filter { $0.setting != "keys" }) else { return .usage }
        Console.print(try CommandError.wrap { try file.text(for: reader.settings) })
        return .success
    }

    /// Checks that the files that the settings name contain what they should, and prints every problem, also if the
    /// settings themselves have some.
    private static func check(_ given: GateOptions) -> ExitStatus {
        var options = given
        let reader: GateSettingsReader
        do throws(CommandError) { reader = try options.read() } catch {
            Console.printError(error.message)
            return .usage
        }
        let settings = reader.settings
        for listener in HTTPServer.exposedListeners(among: settings.listen + settings.admin) { warn(exposed: listener) }
        warnOfClearText(to: settings.replays)
        FileModes.warn(settings, file: options.file)
        warn(ofStoreIn: settings)
        settings.reportOnly.warnings.forEach { Console.printWarning($0) }
        if SignatureEngine.isDoubtful { tellEngine() }
        let problems = GateFiles.problems(settings, areWhole: !reader.problems.contains { $0.setting == "routes" })
        return options.show(problems) && reader.problems.isEmpty ? .success : .usage
    }

    private static func serve(_ settings: GateSettings, _ options: GateOptions) throws(CommandError) -> ExitStatus {
        let process = ServiceProcess()
        Console.writeMessagesAside()
        FileModes.warn(settings, file: options.file)
        warn(ofStoreIn: settings)
        warn(settings, descriptors: ServiceProcess.raiseDescriptorLimit())
        let gate: RunningGate
        do throws(CommandError) { gate = try RunningGate(settings) } catch {
            Console.printError(error.message)
            // What only an operator can repair is not tried again by a service manager.
            return GateFiles.problems(settings, areWhole: true).isEmpty ? .undecided : .usage
        }
        tellEngine()
        for listener in gate.listeners { Console.printNotice("serving on \(listener)") }
        for listener in gate.adminListeners { Console.printNotice("administered on \(listener)") }
        gate.status.begin()
        for listener in gate.exposedListeners { warn(exposed: listener) }
        warnOfClearText(to: settings.replays)
        settings.reportOnly.warnings.forEach { Console.printWarning($0) }
        if let advice = gate.advice { Console.printWarning("replays: \(advice)") }
        waitForEnd(of: gate, in: process, GateReload(options, in: process))
        // The service manager waits for as long as the settings say, whatever its own limit.
        ServiceManager.notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=\((settings.stopMilliseconds + 5000) * 1000)")
        process.endAtNextSignal()
        Console.printNotice("stopping: waiting up to \(settings.stopMilliseconds / 1000) s for in-flight requests")
        try gate.stop()
        return .success
    }

    /// Reloads on SIGHUP and when files have changed, asks the store and looks at the certificate now and then, until
    /// the process is told to stop.
    private static func waitForEnd(of gate: RunningGate, in process: ServiceProcess, _ reload: GateReload) {
        var (reload, certificate, signal, read) = (reload, CertificateWatch(), Int32?.none, ContinuousClock.now)
        repeat {
            if let warning = certificate.warning(gate.tls, at: .now) { Console.printWarning(warning) }
            let seconds = gate.applied.watchSeconds
            let pause = gate.askStore(in: process) ? storeSeconds : lostStoreSeconds
            signal = process.nextSignal(withinSeconds: seconds > 0 ? min(seconds, pause) : pause)
            if signal == SIGHUP {
                reload.readAll(into: gate)
            } else if signal == nil, seconds > 0, ContinuousClock.now - read >= .seconds(seconds) {
                read = .now
                reload.readChangedFiles(into: gate)
            }
        } while signal == nil || signal == SIGHUP
    }

    /// How often the store is asked, in seconds, and how often while it does not work.
    private static let (storeSeconds, lostStoreSeconds) = (10, 1)

    private static func tellEngine() {
        let text = "signatures of a group: \(SignatureEngine.description)"
        SignatureEngine.isDoubtful ? Console.printWarning(text) : Console.printNotice(text)
    }

    private static func warn(ofStoreIn settings: GateSettings) {
        for warning in settings.replays.warnings { Console.printWarning("replays: \(warning)") }
    }

    private static func warn(exposed listener: HTTPListener) {
        Console.printWarning(
            "\(listener): others on the network can read and change this traffic; listen on 127.0.0.1 or a "
                + "Unix socket, or put tls: in front")
    }

    private static func warnOfClearText(to store: ReplayStoreLocation) {
        let isRemote = { (host: String) in host != "localhost" && !HTTPListener.isLoopback(host) }
        guard let host = store.clearTextHosts.first(where: isRemote) else { return }
        Console.printWarning(
            "replays: others on the network can read the password of the Redis server \(printable(host)), and can "
                + "change what it says of used tokens; use rediss:// in place of redis://")
    }

    /// Warns of settings that are allowed but hardly intended.
    private static func warn(_ settings: GateSettings, descriptors: Int) {
        if geteuid() == 0 {
            Console.printWarning(
                "running as root; use a dedicated user, as the systemd unit in the documentation does")
        }
        // The descriptors for everything but connections: loops, wakers, files of the store, the log.
        let spare = 64 + settings.workers * 16
        if settings.limits.connections + spare > descriptors {
            Console.printWarning(
                "max-connections is \(settings.limits.connections), and the process may have \(descriptors) "
                    + "descriptors; expected at least \(settings.limits.connections + spare) (LimitNOFILE=, ulimit -n)")
        }
    }
}
