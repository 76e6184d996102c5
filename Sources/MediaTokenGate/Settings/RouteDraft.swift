internal import Basics
internal import MediaToken
internal import Settings
internal import StreamPaths

/// A route as the configuration file has it: `{"path": …, "open": true}` or `{"path": …, "requestor": …, "resource":
/// …}`.
struct RouteDraft: Sendable {
    private var path: String?
    private var requestors: [String]?
    private var resources: [String]?
    private var isOpen = false
    private var isCanonical = false
    private var hosts: [StreamHost] = []
    private var attemptWindow: Duration?
    private var allowsHead = false
    private var allowsPreflight = false
    private var reportsOnly = false
    private var grant: RouteGrantSettings?

    static let table = SettingsTable<RouteDraft>([
        Setting(
            "path", "PATH", .text(pattern: "/(?!(?:[^?]*/)?\\.\\.?(?:/|$))(?!.*//)[^?]*"),
            "Path, with all paths below it; percent-encoded", example: "/live/tnt"
        ) { object, name, draft in
            guard let path = object.text(name) else { return }
            draft.path = path
            do throws(StreamPathError) {
                _ = try GateRoute.path(path)
            } catch {
                object.refuse(name, "is '\(printable(path))'; \(error)")
            }
        }.required,
        .flag("open", "Whether the media is unprotected", \.isOpen),
        identifiers(
            "requestor", "Requestor that the token must be for, or one of several", example: "MML", \.requestors),
        identifiers("resource", "Resource that the token must be for, or one of several", example: "TNT", \.resources),
        .flag("canonical-resource", "Compare MRSS by its canonical XML", \.isCanonical),
        Setting(
            "hosts", "HOST", .texts(pattern: "[^/:]+|\\[[^/]+\\]"),
            "Virtual hosts that the route is for; on all routes or on none",
            example: ["stream.example"]
        ) { object, name, draft in draft.hosts = object.hosts(name) },
        .number(
            "attempt-window", "S", "Seconds within which a proxy may ask again about one request of a client", 1...10,
            \.attemptWindow, { .seconds($0) }),
        .flag(
            MethodWithoutMedia.head.setting,
            "Allow HEAD with a token that passes every check but its use, and consume none", \.allowsHead),
        .flag(
            MethodWithoutMedia.options.setting, "Allow OPTIONS, as browsers send it for pages of other origins",
            \.allowsPreflight),
        .flag("report-only", "Report what the gate would refuse for this path, and allow it", \.reportsOnly),
        Setting(
            "grant", "GRANT", .object(RouteGrantReader.schema), "Playback grant that /v1/play exchanges a token for",
            example: ["kind": "akamai"]
        ) { object, name, draft in
            guard let grant = object.object(name) else { return }
            draft.grant = RouteGrantReader.read(grant, path: draft.path ?? "/", &object)
        },
    ])

    /// The settings that an open route cannot have.
    private static let ofProtected = [
        "requestor", "resource", "canonical-resource", "attempt-window", "allow-head", "allow-preflight", "report-only",
        "grant",
    ]

    /// The JSON Schema of a route.
    static let schema = table.schema([
        "if": ["properties": ["open": ["const": .boolean(true)]], "required": ["open"]],
        "then": [
            "properties": .object(
                Dictionary(uniqueKeysWithValues: ofProtected.map { (JSONName($0), JSONValue.boolean(false)) }))
        ],
        "else": ["required": ["requestor", "resource"]],
    ])

    /// A route with every setting.
    static let example = JSONValue.object(
        Dictionary(uniqueKeysWithValues: table.settings.map { (JSONName($0.name), $0.example) }))
    /// A route for unprotected media.
    static let openExample: JSONValue = ["path": "/trailers", "open": .boolean(true), "hosts": ["stream.example"]]

    /// Reads a route, and adds its problems to the object; `nil` if it has no path, by which it is compared with
    /// others.
    static func route(_ object: inout SettingsObject) -> GateRoute? {
        var draft = RouteDraft()
        table.read(&object, into: &draft)
        return draft.route(&object)
    }

    private static func identifiers(
        _ name: String, _ help: String, example: String, _ path: any WritableKeyPath<RouteDraft, [String]?> & Sendable
    ) -> Setting<RouteDraft> {
        Setting(name, "ID", .texts(pattern: "(?s:.+)"), help, example: .text(example)) { object, name, draft in
            guard let texts = object.texts(name) else { return }
            draft[keyPath: path] = texts
            guard texts.isEmpty || texts.contains("") else { return }
            object.refuse(name, "is \(texts.count < 2 ? "empty" : "a list with an empty string"); expected an ID")
        }
    }

    private var allowedMethods: Set<MethodWithoutMedia> {
        Set((allowsHead ? [.head] : []) + (allowsPreflight ? [.options] : []))
    }

    /// Checks what depends on several settings, and makes the route.
    private func route(_ object: inout SettingsObject) -> GateRoute? {
        if isOpen {
            for name in Self.ofProtected where object.wasTaken(name) {
                object.refuse(name, "is given, and the route is open; expected one or the other")
            }
        } else {
            for name in ["requestor", "resource"] where !object.wasTaken(name) {
                object.refuse(name, "is missing; expected an ID, or open")
            }
        }
        guard let path else { return nil }
        let identifiers = (resources ?? []).map { ResourceID($0) }
        let rule: ResourceRule = isCanonical ? .canonically(identifiers) : .anyOf(identifiers)
        let expectation = Expectation(requestors: (requestors ?? []).map { RequestorID($0) }, resource: rule)
        return GateRoute(
            at: object.place, path: path, hosts: hosts, access: isOpen ? .open : .token(expectation),
            attemptWindow: attemptWindow, allowing: allowedMethods, reportsOnly: reportsOnly, grant: grant)
    }
}

extension SettingsObject {
    /// Reads the routes. Two of them must not be for paths that a server might take for one.
    mutating func routes(_ name: String) -> [GateRoute] {
        var routes: [GateRoute] = []
        for var object in objects(name, orElse: "PATH=REQUESTOR:RESOURCE or PATH=open") {
            if let route = RouteDraft.route(&object) {
                let others = routes.filter(route.sharesHost)
                if others.contains(where: { $0.path.isSame(as: route.path) }) {
                    object.refuse("path", "is that of another route; expected each path once")
                } else if let other = others.first(where: route.isConfused) {
                    object.refuse(
                        "path",
                        "is '\(printable(route.path.text))', and another route's '\(printable(other.path.text))'; expected two that "
                            + "every server tells apart, by more than upper and lower case")
                }
                if let first = routes.first, first.hosts.isEmpty != route.hosts.isEmpty {
                    object.refuse("hosts", "is set on some routes only; expected on all routes or on none")
                }
                routes.append(route)
            }
            takeOver(object)
        }
        return routes
    }
}
