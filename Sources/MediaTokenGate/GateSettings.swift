package import HTTPServer
package import MediaToken

/// All that a gate is told. Its names are those of the options of `media-token serve` and of its configuration file.
package struct GateSettings: Sendable {
    package var listen: [HTTPListener] = [.tcp(host: "127.0.0.1", port: 8080)]
    package var admin: [HTTPListener] = [.tcp(host: "127.0.0.1", port: 8081)]
    package var workers = 2
    /// Key files and directories of them.
    package var keys: [String] = []
    package var passwordFile: String?
    package var minimumRSABits = 2048
    package var clockSkew = Duration.seconds(30)
    package var maximumTTL = Duration.seconds(900)
    package var comparesCanonically = false
    package var mvpds: [RequestorID: Set<MVPDID>] = [:]
    package var replays = "lmdb:/var/lib/media-token/replays"
    package var routes: [GateRoute] = []
    package var sources = TokenSources()
    package var limits = HTTPLimits()
    /// Of how many verdicts one is logged; 0 for none.
    package var logEvery = 1
    package var stopMilliseconds = 10_000

    package init() {}

    package var gate: Gate { Gate(routes: routes, sources: sources, comparesCanonically: comparesCanonically) }

    /// Those that routes and allow-lists name.
    var requestors: Set<RequestorID> {
        routes.reduce(into: Set(mvpds.keys)) { known, route in
            if case .token(let expectation) = route.access { known.formUnion(expectation.requestors) }
        }
    }

    package var policy: VerificationPolicy {
        VerificationPolicy(clockSkew: clockSkew, maximumTTL: maximumTTL, allowedMVPDs: mvpds)
    }
}

/// Reads settings, and finds every problem at once.
package struct GateSettingsReader {
    /// Each with its place.
    package private(set) var problems: [String] = []
    package private(set) var settings = GateSettings()
    private var values: [String: JSONValue]

    /// - Parameter values: by the names of the options, as a configuration file has them.
    package init(_ values: [String: JSONValue]) {
        self.values = values
        readListeners()
        readKeys()
        readPolicy()
        readTokenSources()
        readLimits()
        readRoutes()
        for name in self.values.keys.sorted() { problems.append("\(printable(name)): no such setting") }
    }

    private mutating func readListeners() {
        if let texts = texts("listen") { settings.listen = listeners(texts, "listen") }
        if let texts = texts("admin") { settings.admin = listeners(texts, "admin") }
        if let number = number("workers", 1...256) { settings.workers = number }
    }

    private mutating func listeners(_ texts: [String], _ name: String) -> [HTTPListener] {
        texts.enumerated().compactMap { position, text in
            let listener = HTTPListener(text)
            if listener == nil {
                problems.append("\(name)[\(position)]: is '\(printable(text))'; expected ADDRESS:PORT or unix:PATH")
            }
            return listener
        }
    }

    private mutating func readKeys() {
        settings.keys = texts("keys") ?? []
        if settings.keys.isEmpty { problems.append("keys: none is named; expected key files, or directories of them") }
        settings.passwordFile = text("password-file")
        if let bits = number("min-rsa-bits", KeyRequirements.lowestMinimumRSABits...8192) {
            settings.minimumRSABits = bits
        }
        if let url = text("replays") { settings.replays = url }
    }

    private mutating func readPolicy() {
        if let seconds = number("skew", 0...Int(VerificationPolicy.largestClockSkew.components.seconds)) {
            settings.clockSkew = .seconds(seconds)
        }
        if let seconds = number("max-ttl", 1...86_400) { settings.maximumTTL = .seconds(seconds) }
        if let flag = flag("canonical-resource") { settings.comparesCanonically = flag }
        guard
            case .object(let lists)? = take(
                "mvpds", "an object of lists", { if case .object = $0 { true } else { false } })
        else { return }
        for (requestor, list) in lists {
            guard let names = texts(list, "mvpds.\(printable(requestor))") else { continue }
            settings.mvpds[RequestorID(requestor)] = Set(names.map { MVPDID($0) })
        }
    }

    private mutating func readTokenSources() {
        if let name = text("token-header") { settings.sources.header = name.isEmpty ? nil : name }
        if let flag = flag("token-bearer") { settings.sources.bearer = flag }
        if let name = text("token-cookie") { settings.sources.cookie = name.isEmpty ? nil : name }
        if let name = text("token-parameter") { settings.sources.parameter = name.isEmpty ? nil : name }
    }

    private mutating func readLimits() {
        if let number = number("max-header-bytes", 1024...1_048_576) { settings.limits.headerBytes = number }
        if let number = number("max-body-bytes", 1024...16_777_216) { settings.limits.bodyBytes = number }
        if let number = number("arrival-timeout", 1...3600) { settings.limits.arrivalMilliseconds = number * 1000 }
        if let number = number("idle-timeout", 1...86_400) { settings.limits.idleMilliseconds = number * 1000 }
        if let number = number("max-connections", 1...1_000_000) { settings.limits.connections = number }
        if let number = number("max-connections-per-peer", 1...1_000_000) {
            settings.limits.connectionsPerPeer = number
        }
        if let number = number("log-every", 0...1_000_000) { settings.logEvery = number }
        if let number = number("stop-timeout", 0...3600) { settings.stopMilliseconds = number * 1000 }
    }

    private mutating func readRoutes() {
        guard case .list(let list)? = take("routes", "a list", { if case .list = $0 { true } else { false } }) else {
            return
        }
        for (position, value) in list.enumerated() {
            var reader = GateRouteReader(value, "routes[\(position)]")
            if let route = reader.route() {
                if settings.routes.contains(where: { $0.path == route.path }) {
                    problems.append("routes[\(position)].path: is that of another route; expected each path once")
                }
                settings.routes.append(route)
            }
            problems += reader.problems
        }
    }

    private mutating func take(_ name: String, _ expected: String, _ fits: (JSONValue) -> Bool) -> JSONValue? {
        guard let value = values.removeValue(forKey: name) else { return nil }
        guard fits(value) else {
            problems.append("\(name): is \(value.kind); expected \(expected)")
            return nil
        }
        return value
    }

    private mutating func text(_ name: String) -> String? {
        guard case .text(let text)? = take(name, "a text", { if case .text = $0 { true } else { false } }) else {
            return nil
        }
        return text
    }

    private mutating func flag(_ name: String) -> Bool? {
        guard case .boolean(let flag)? = take(name, "true or false", { if case .boolean = $0 { true } else { false } })
        else { return nil }
        return flag
    }

    private mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let value = take(name, expected) { value in
            guard case .number(let number) = value, let whole = Int(exactly: number) else { return false }
            return range.contains(whole)
        }
        guard case .number(let number)? = value else { return nil }
        return Int(number)
    }

    private mutating func texts(_ name: String) -> [String]? {
        values.removeValue(forKey: name).flatMap { texts($0, name) }
    }

    /// A list of texts; a text alone is a list of one.
    private mutating func texts(_ value: JSONValue, _ place: String) -> [String]? {
        switch value {
        case .text(let text): return [text]
        case .list(let list):
            let texts = list.compactMap { if case .text(let text) = $0 { text } else { nil } }
            if texts.count == list.count { return texts }
            fallthrough
        default:
            problems.append("\(place): is \(value.kind); expected a list of texts")
            return nil
        }
    }
}

/// Reads one route: `{"path": …, "open": true}` or `{"path": …, "requestor": …, "resource": …}`.
private struct GateRouteReader {
    private(set) var problems: [String] = []
    private let place: String
    private var values: [String: JSONValue] = [:]

    init(_ value: JSONValue, _ place: String) {
        self.place = place
        guard case .object(let values) = value else {
            problems.append(
                "\(place): is \(value.kind); expected an object with path, and open or requestor and resource")
            return
        }
        self.values = values
    }

    mutating func route() -> GateRoute? {
        guard !values.isEmpty else { return nil }
        let path = text("path")
        if path == nil { problems.append("\(place).path: is missing") }
        let (requestors, resources) = (texts("requestor"), texts("resource"))
        let canonical = values.removeValue(forKey: "canonical-resource")
        var isOpen = false
        if let value = values.removeValue(forKey: "open") {
            if value == .boolean(true) {
                isOpen = true
            } else {
                problems.append("\(place).open: is \(value.kind); expected true")
            }
        }
        for name in values.keys.sorted() { problems.append("\(place).\(printable(name)): no such setting") }
        if isOpen, !requestors.isEmpty || !resources.isEmpty {
            problems.append("\(place): is open, and names a requestor or resource; expected one or the other")
        }
        if !isOpen, requestors.isEmpty { problems.append("\(place).requestor: is missing") }
        if !isOpen, resources.isEmpty { problems.append("\(place).resource: is missing") }
        if let canonical, canonical != .boolean(true), canonical != .boolean(false) {
            problems.append("\(place).canonical-resource: is \(canonical.kind); expected true or false")
        }
        guard problems.isEmpty, let path else { return nil }
        let identifiers = resources.map { ResourceID($0) }
        let rule: ResourceRule = canonical == .boolean(true) ? .canonically(identifiers) : .anyOf(identifiers)
        let expectation = Expectation(requestors: requestors.map { RequestorID($0) }, resource: rule)
        let route = GateRoute(path: path, access: isOpen ? .open : .token(expectation))
        if route == nil {
            problems.append(
                "\(place).path: is '\(printable(path))'; expected a path from / on, without . or .. or empty parts")
        }
        return route
    }

    private mutating func text(_ name: String) -> String? {
        let found = texts(name)
        if found.count > 1 { problems.append("\(place).\(name): is a list; expected one text") }
        return found.first
    }

    private mutating func texts(_ name: String) -> [String] {
        switch values.removeValue(forKey: name) {
        case nil: return []
        case .text(let text)?: return [text]
        case .list(let list)?:
            let texts = list.compactMap { if case .text(let text) = $0 { text } else { nil } }
            if texts.count == list.count { return texts }
            problems.append("\(place).\(name): holds something that is no text")
            return []
        case let other?:
            problems.append("\(place).\(name): is \(other.kind); expected a text or a list of texts")
            return []
        }
    }
}
