internal import CommandShell
internal import HTTPCalling
internal import Sandbox
internal import TextEncodings

/// The options of `crowd`.
struct CrowdOptions {
    private static let stories = CrowdStory.Kind.allCases.map(\.rawValue)

    static let groups = [
        OptionGroup(
            heading: "Where:",
            options: [
                CommandOption("service", "URL", "The sandbox (default http://127.0.0.1:8090)"),
                CommandOption("gate", "URL", "The gate (default http://127.0.0.1:8080)"),
                CommandOption("stream", "URL", "The server of the stream (default: no stream is played)"),
                CommandOption("requestor", "ID", "Requestor ID of the devices (default MML)"),
                CommandOption("resource", "ID", "Resource that they play (default TNT)"),
                CommandOption("path", "PATH", "Path of the manifest (default /live/tnt/index.m3u8)"),
                CommandOption("retry-window", nil, "The gate's route has a retry-window"),
                CommandOption("print-gate", nil, "Print the configuration of a gate for the crowd, and exit"),
            ]),
        OptionGroup(
            heading: "Crowd:",
            options: [
                CommandOption("devices", "N", "Number of devices (default 1000)"),
                CommandOption("seconds", "S", "Time in which they arrive (default 60)"),
                CommandOption(
                    "curve", "CURVE", "How they arrive: \(CrowdCurve.allCases.map(\.rawValue).joined(separator: ", "))"),
                CommandOption("seed", "N", "Seed of the random choices (default 1); the same one repeats the run"),
                CommandOption(
                    "only", "STORY", "Play this story only (repeatable): \(stories.joined(separator: ", "))"),
                CommandOption("workers", "N", "Threads (default 2)"),
                CommandOption("connections", "N", "Connections of each thread to each server (default 64)"),
            ]),
        OptionGroup(
            heading: "Output:",
            options: [
                CommandOption(
                    "json", "FILE", "Write a JSON object, replacing the file; with - print it in place of the text"),
                CommandOption("page", "FILE", "Write a page with plots (HTML in one file); replaces the file"),
                CommandOption(
                    "memory-of", "NAME=PID", "Plot the memory of this process too, such as the gate's (repeatable)"),
            ]),
    ]

    let plan: CrowdPlan
    let settings: CrowdSettings
    let workers: Int
    let json: String?
    let page: String?
    let printsGate: Bool
    let watched: [MemoryWatch.Part]

    init(_ given: Arguments) throws(UsageError) {
        guard given.operands.isEmpty else { throw UsageError("expected options only") }
        settings = try Self.settings(given)
        let curves = CrowdCurve.allCases.map(\.rawValue)
        var only: [CrowdStory.Kind] = []
        for name in given.all("only") {
            guard let kind = CrowdStory.Kind(rawValue: name) else {
                throw UsageError("no story '\(printable(name))'\(Spelling.hint(for: name, among: Self.stories))")
            }
            only.append(kind)
        }
        plan = CrowdPlan(
            devices: Int(try given.number("devices", in: 1...10_000_000) ?? 1000),
            seconds: Double(try given.number("seconds", in: 1...86_400) ?? 60),
            curve: try given.choice("curve", { CrowdCurve(rawValue: $0) }, curves) ?? .kickOff,
            seed: UInt64(try given.number("seed", in: 0 ... .max) ?? 1), only: only)
        workers = Int(try given.number("workers", in: 1...64) ?? 2)
        (json, page, printsGate) = (try given.one("json"), try given.one("page"), given.has("print-gate"))
        watched = try Self.watched(given)
    }

    private static func settings(_ given: Arguments) throws(UsageError) -> CrowdSettings {
        var settings = CrowdSettings(
            service: try url("service", given) ?? local(8090), gate: try url("gate", given) ?? local(8080),
            stream: try url("stream", given))
        settings.requestor = try given.one("requestor") ?? settings.requestor
        settings.resource = try given.one("resource") ?? settings.resource
        settings.path = try given.one("path") ?? settings.path
        guard settings.path.hasPrefix("/") else {
            throw UsageError("--path is '\(printable(settings.path))'; expected a path such as /live/tnt/index.m3u8")
        }
        settings.hasRetryWindow = given.has("retry-window")
        settings.connections = Int(try given.number("connections", in: 1...10_000) ?? 64)
        return settings
    }

    private static func local(_ port: UInt16) -> ServerURL { ServerURL(host: "127.0.0.1", port: port) }

    private static func url(_ option: String, _ given: Arguments) throws(UsageError) -> ServerURL? {
        guard let text = try given.one(option) else { return nil }
        guard let url = ServerURL(text.hasSuffix("/") ? String(text.dropLast()) : text) else {
            throw UsageError("--\(option) is '\(printable(text))'; expected http://HOST[:PORT]")
        }
        return url
    }

    private static func watched(_ given: Arguments) throws(UsageError) -> [MemoryWatch.Part] {
        var watched: [MemoryWatch.Part] = [("crowd", "self")]
        for text in given.all("memory-of") {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !watched.contains(where: { $0.name == parts[0] }), let id = UInt32(parts[1]) else {
                throw UsageError("--memory-of is '\(printable(text))'; expected NAME=PID, with each name once")
            }
            watched.append((parts[0], "\(id)"))
        }
        return watched
    }

    /// A configuration of a gate that accepts the crowd, with the keys and the file names of the example.
    var gateConfiguration: JSONValue {
        let folder = settings.path.prefix(upTo: settings.path.lastIndex(of: "/") ?? settings.path.endIndex)
        var grant: [JSONName: JSONValue] = ["kind": "cat", "key-file": "grant.key", "delivery": "cookie"]
        if settings.hasRetryWindow { grant["retry-window"] = 30 }
        let route: JSONValue = [
            "path": .text(folder.isEmpty ? "/" : String(folder)), "requestor": .text(settings.requestor),
            "resource": .text(settings.resource), "grant": .object(grant),
        ]
        return [
            "keys": ["sandbox-keys/sandbox-first.pem", "sandbox-keys/sandbox-second.pem"], "replays": "memory",
            "routes": [route],
        ]
    }
}
