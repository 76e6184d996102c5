internal import Basics
internal import CommandShell
internal import HTTP
internal import Sandbox
internal import Settings

/// The options of `crowd`.
struct CrowdOptions: CommandValues {
    static let table = SettingsTable<CrowdOptions>(
        .group(
            "Where",
            [
                url("service", "The sandbox (default http://127.0.0.1:8090)", \.service),
                url("gate", "The gate (default http://127.0.0.1:8080)", \.gate),
                url("stream", "The server of the stream (default no stream is played)", \.stream),
                .text("requestor", "ID", "Requestor ID of the devices", default: "MML", \.requestor),
                .text("resource", "ID", "Resource that they play", default: "TNT", \.resource),
                Setting(
                    "path", "PATH", .text(), "Path of the manifest", default: "/live/tnt/index.m3u8"
                ) { given, name, options in
                    options.path = given.value(name, "a path such as /live/tnt/index.m3u8") {
                        $0.hasPrefix("/") ? $0 : nil
                    }
                },
                .flag("retry-window", "The gate's route has a retry-window", \.hasRetryWindow),
                .flag("print-gate", "Print the configuration of a gate for the crowd, and exit", \.printsGate),
            ]),
        .group(
            "Crowd",
            [
                .number("devices", "N", "Number of devices", 1...10_000_000, default: 1000, \.devices),
                .number("seconds", "S", "Time in which they arrive", 1...86_400, default: 60, \.seconds),
                .word("curve", "CURVE", "How they arrive", default: .kickOff, \.curve),
                .number(
                    "seed", "N", "Seed of the random choices; the same one repeats the run", 0...1 << 53, default: 1,
                    \.seed
                ),
                Setting(
                    "only", "STORY", .texts(),
                    "Play this story only: \(stories.joined(separator: ", "))"
                ) { given, name, options in
                    for story in given.texts(name) ?? [] {
                        if let kind = CrowdStory.Kind(rawValue: story) {
                            options.only.append(kind)
                        } else {
                            given.refuse(
                                nil, "no story '\(printable(story))'\(Spelling.hint(for: story, among: stories))")
                        }
                    }
                },
                .number("workers", "N", "Threads", 1...64, default: 2, \.workers),
                .number(
                    "connections", "N", "Connections of each thread to each server", 1...10_000, default: 64,
                    \.connections),
            ]),
        .group(
            "Output",
            [
                .text(
                    "json", "FILE", "Write a JSON object, replacing the file; with - print it in place of the text",
                    \.json),
                .text("page", "FILE", "Write a page with plots (HTML in one file); replaces the file", \.page),
                Setting(
                    "memory-of", "NAME=PID", .texts(), "Plot the memory of this process too, such as the gate's"
                ) { given, name, options in
                    for text in given.texts(name) ?? [] where !options.watch(text) {
                        given.refuse(name, "is '\(printable(text))'; expected NAME=PID, with each name once")
                    }
                },
            ]))

    private static let stories = CrowdStory.Kind.allCases.map(\.rawValue)

    private var service: ServerURL?
    private var gate: ServerURL?
    private var stream: ServerURL?
    private var requestor: String?
    private var resource: String?
    private var path: String?
    private var hasRetryWindow = false
    private var devices = 1000
    private var seconds = 60
    private var curve = CrowdCurve.kickOff
    private var seed = 1
    private var only: [CrowdStory.Kind] = []
    private var connections = 64
    private(set) var workers = 2
    private(set) var json: String?
    private(set) var page: String?
    private(set) var printsGate = false
    private(set) var watched: [MemoryWatch.Part] = [("crowd", "self")]

    init() {}

    var plan: CrowdPlan {
        CrowdPlan(devices: devices, seconds: Double(seconds), curve: curve, seed: UInt64(seed), only: only)
    }

    var settings: CrowdSettings {
        var settings = CrowdSettings(
            service: service ?? Self.local(8090), gate: gate ?? Self.local(8080), stream: stream)
        settings.requestor = requestor ?? settings.requestor
        settings.resource = resource ?? settings.resource
        settings.path = path ?? settings.path
        (settings.hasRetryWindow, settings.connections) = (hasRetryWindow, connections)
        return settings
    }

    private static func local(_ port: UInt16) -> ServerURL { ServerURL(host: "127.0.0.1", port: port) }

    private static func url(
        _ name: String, _ help: String, _ path: any WritableKeyPath<CrowdOptions, ServerURL?> & Sendable
    ) -> Setting<CrowdOptions> {
        Setting(name, "URL", .text(), help) { given, name, options in
            options[keyPath: path] = given.value(name, "http://HOST[:PORT]") { text in
                ServerURL(text.hasSuffix("/") ? String(text.dropLast()) : text)
            }
        }
    }

    /// Watches the memory of a process; fails unless the text is `NAME=PID` with a new name.
    private mutating func watch(_ text: String) -> Bool {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !watched.contains(where: { $0.name == parts[0] }), let id = UInt32(parts[1]) else {
            return false
        }
        watched.append((parts[0], "\(id)"))
        return true
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
