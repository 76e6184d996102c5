internal import MediaToken
internal import MediaTokenGate

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

            SIGHUP reads FILE and the keys again: routes, keys, policy and token sources change at once, all or none. \
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

        /// What the file and the command line say together; `nil` once every problem has been told.
        func readSettings() throws(CommandFailure) -> GateSettings? {
            var values = try file.map { (file) throws(CommandFailure) in try GateOption.read(file: file) } ?? [:]
            values.merge(given) { $1 }
            let reader = GateSettingsReader(values)
            for problem in reader.problems { Console.printError("\(file ?? "serve"): \(problem)") }
            return reader.problems.isEmpty ? reader.settings : nil
        }
    }

    @Sendable static func run(_ arguments: [String]) -> ExitStatus {
        let task = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Task(given) }
        return CommandFailure.report { () throws(CommandFailure) in
            guard let settings = try task.readSettings() else { return .usage }
            guard !task.checks else { return .success }
            return try RunningGate(settings).run { () throws(CommandFailure) in try task.readSettings() }
        }
    }
}
