internal import Glibc
internal import HTTPServer
internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores

/// `media-token serve`: the gate that a playback backend or a proxy asks.
enum ServeCommand {
    private static let syntax = CommandSyntax(
        name: "media-token serve", operands: "",
        summary: "Answer 'may this play?' over HTTP, for backends and for the proxies in front of streams.",
        details: """
            A backend posts a token to /v1/verify. A proxy asks /v1/authz/auth-request (nginx, HAProxy),
            /v1/authz/forward-auth (Caddy, Traefik) or /v1/authz/ext-authz (Envoy) about each request; routes say what \
            a path demands, and a path that no route names is refused.

            FILE is a JSON object whose names are those of the options, without the dashes, and routes:
              {"keys": ["Keys"], "replays": "lmdb:/var/lib/media-token/replays", "routes": [
                {"path": "/live/tnt", "requestor": "MML", "resource": "TNT"}, {"path": "/trailers", "open": true}]}
            What is given on the command line replaces what FILE says.

            SIGTERM and SIGINT stop it gracefully. Verdicts are logged on standard output, one JSON object a line.

            Exit status: 0 stopped, or checked and right; 2 cannot serve; 64 usage, or problems found by --check.

            Example:
              media-token serve --keys Keys --replays lmdb:/var/lib/media-token/replays --listen 127.0.0.1:8080
            """,
        groups: [
            OptionGroup(
                heading: "Configuration:",
                options: [
                    CommandOption("config", "FILE", "Read settings from a JSON file"),
                    CommandOption("check", nil, "Print every problem of the configuration, and end"),
                ]),
            OptionGroup(
                heading: "Where and how:",
                options: GateOption.all.map { CommandOption($0.name, $0.value, $0.help) }),
        ])

    private struct Task {
        let checks: Bool
        let file: String?
        let given: [String: JSONValue]

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.isEmpty else { throw UsageError("expected options only") }
            (checks, file) = (given.has("check"), try given.one("config"))
            var values: [String: JSONValue] = [:]
            for option in GateOption.all where given.has(option.name) {
                values[option.setting] = try option.read(given)
            }
            self.given = values
        }
    }

    @Sendable static func run(_ arguments: [String]) -> ExitStatus {
        let task = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Task(given) }
        return CommandFailure.report { () throws(CommandFailure) in
            var values = try task.file.map { (file) throws(CommandFailure) in try GateOption.read(file: file) } ?? [:]
            values.merge(task.given) { $1 }
            let reader = GateSettingsReader(values)
            for problem in reader.problems { Console.printError("\(task.file ?? "serve"): \(problem)") }
            guard reader.problems.isEmpty else { return .usage }
            guard !task.checks else { return .success }
            return try serve(reader.settings)
        }
    }

    private static func serve(_ settings: GateSettings) throws(CommandFailure) -> ExitStatus {
        // Before the first thread is made, so that all of them leave these to us.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)

        let keys = try KeyOptions.load(settings)
        let store: ReplayStore
        do { store = try ReplayStore(opening: settings.replays, isService: true, clockSkew: settings.clockSkew) } catch
        {
            throw CommandFailure("\(error)")
        }
        let (metrics, log) = (GateMetrics(), GateLog(to: STDOUT_FILENO, every: settings.logEvery))
        let service = GateService(settings, keys: keys, store: store, metrics: metrics, log: log)
        do {
            let server = try HTTPServer(
                settings.listen, workers: settings.workers, limits: settings.limits,
                handler: { service.handler(on: $0) })
            let admin = GateAdmin(
                keys: keys, store: store, metrics: metrics, version: MediaTokenCommand.version,
                connections: { server.connections })
            let adminServer = try HTTPServer(settings.admin, workers: 1, handler: { _ in { admin.handle($0) } })
            announce(settings.listen, server.ports, "serving")
            announce(settings.admin, adminServer.ports, "administered")
            var signal: Int32 = 0
            sigwait(&signals, &signal)
            Console.printError("stopping: what is on its way has \(settings.stopMilliseconds / 1000) s to be answered")
            server.stop(withinMilliseconds: settings.stopMilliseconds)
            adminServer.stop(withinMilliseconds: 0)
            log.close()
            try store.close()
            return .success
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    private static func announce(_ listeners: [HTTPListener], _ ports: [UInt16], _ what: String) {
        for (listener, port) in zip(listeners, ports) {
            var place = listener
            if case .tcp(let host, _) = listener { place = .tcp(host: host, port: port) }
            Console.printError("\(what) on \(place)")
        }
    }
}

/// One option of `serve`, which is a setting of its configuration file too.
struct GateOption {
    enum Kind {
        case text, texts, number, flag
        /// A flag that sets false.
        case noFlag
        case routes, mvpds
    }

    let name: String
    let setting: String
    let value: String?
    let kind: Kind
    let help: String

    init(_ name: String, _ value: String?, _ kind: Kind, _ help: String, setting: String? = nil) {
        (self.name, self.value, self.kind, self.help, self.setting) = (name, value, kind, help, setting ?? name)
    }

    static let all = [
        GateOption("listen", "PLACE", .texts, "ADDRESS:PORT or unix:PATH (repeatable; default 127.0.0.1:8080)"),
        GateOption("admin", "PLACE", .texts, "Health, readiness and metrics (repeatable; default 127.0.0.1:8081)"),
        GateOption("workers", "N", .number, "Threads (default 2)"),
        GateOption("keys", "PATH", .texts, "Key file, or a directory of them (repeatable)"),
        GateOption("password-file", "FILE", .text, "Password of a PKCS#12 or JKS, on the file's first line"),
        GateOption("min-rsa-bits", "N", .number, "Accept keys from N bits up (default 2048, lowest 1024)"),
        GateOption("replays", "URL", .text, "Where used tokens are remembered: \(ReplayStore.forms)"),
        GateOption("skew", "S", .number, "Seconds that clocks may be apart (default 30, highest 300)"),
        GateOption("max-ttl", "S", .number, "Longest life of a token in seconds (default 900)"),
        GateOption("canonical-resource", nil, .flag, "/v1/verify compares MRSS by its canonical XML"),
        GateOption("mvpd", "REQUESTOR=ID", .mvpds, "MVPD that its tokens may come from (repeatable)", setting: "mvpds"),
        GateOption(
            "route", "PATH=REQUESTOR:RESOURCE", .routes,
            "What a path and all below it demand (repeatable); PATH=open: nothing",
            setting: "routes"),
        GateOption("token-header", "NAME", .text, "Header that holds the token (default X-Media-Token; empty: none)"),
        GateOption(
            "no-token-bearer", nil, .noFlag, "Take no token from Authorization: Bearer", setting: "token-bearer"),
        GateOption("token-cookie", "NAME", .text, "Cookie that holds it (default media_token; empty: none)"),
        GateOption(
            "token-parameter", "NAME", .text, "Query parameter that holds it (default media_token; empty: none)"),
        GateOption("max-header-bytes", "N", .number, "Longest request line and headers (default 32768)"),
        GateOption("max-body-bytes", "N", .number, "Longest body (default 262144)"),
        GateOption("arrival-timeout", "S", .number, "Seconds for a request to arrive (default 10)"),
        GateOption("idle-timeout", "S", .number, "Seconds that a connection may be idle (default 75)"),
        GateOption("max-connections", "N", .number, "Connections at a time (default 20000)"),
        GateOption("max-connections-per-peer", "N", .number, "The same from one address (default 20000)"),
        GateOption("log-every", "N", .number, "Log one verdict of N (default 1; 0: none)"),
        GateOption("stop-timeout", "S", .number, "Seconds for what is on its way when it is stopped (default 10)"),
    ]

    func read(_ given: Arguments) throws(UsageError) -> JSONValue {
        switch kind {
        case .text: return .text(try given.one(name) ?? "")
        case .texts: return .list(given.all(name).map { .text($0) })
        case .number:
            let text = try given.one(name) ?? ""
            guard let number = Int(text) else { throw UsageError("--\(name) is '\(text)'; expected a whole number") }
            return .number(Double(number))
        case .flag: return .boolean(true)
        case .noFlag: return .boolean(false)
        case .routes: return .list(try given.all(name).map { (text) throws(UsageError) in try Self.route(text) })
        case .mvpds: return .object(try Self.mvpds(given.all(name)))
        }
    }

    private static func route(_ text: String) throws(UsageError) -> JSONValue {
        guard let mark = text.firstIndex(of: "=") else {
            throw UsageError("--route is '\(text)'; expected PATH=REQUESTOR:RESOURCE")
        }
        let (path, rest) = (String(text[..<mark]), text[text.index(after: mark)...])
        if rest == "open" { return .object(["path": .text(path), "open": .boolean(true)]) }
        guard let colon = rest.firstIndex(of: ":") else {
            throw UsageError("--route is '\(text)'; expected PATH=REQUESTOR:RESOURCE or PATH=open")
        }
        return .object([
            "path": .text(path), "requestor": .text(String(rest[..<colon])),
            "resource": .text(String(rest[rest.index(after: colon)...])),
        ])
    }

    private static func mvpds(_ texts: [String]) throws(UsageError) -> [String: JSONValue] {
        var lists: [String: [JSONValue]] = [:]
        for text in texts {
            guard let mark = text.firstIndex(of: "=") else {
                throw UsageError("--mvpd is '\(text)'; expected REQUESTOR=ID")
            }
            lists[String(text[..<mark]), default: []].append(.text(String(text[text.index(after: mark)...])))
        }
        return lists.mapValues { .list($0) }
    }

    /// A configuration file.
    static func read(file: String) throws(CommandFailure) -> [String: JSONValue] {
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(file, limit: 1 << 20) } catch { throw CommandFailure("\(file): \(error)") }
        do {
            return try StrictJSON.decode([String: JSONValue].self, from: bytes[...])
        } catch {
            throw CommandFailure("\(file): \(error.reason)")
        }
    }
}
