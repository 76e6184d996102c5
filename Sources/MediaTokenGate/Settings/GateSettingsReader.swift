internal import MediaToken
internal import EventLoops
internal import HTTPServing
internal import ReplayStores
internal import StreamPaths
package import TextEncodings

/// Reads the gate's settings, and collects all problems.
package struct GateSettingsReader {
    /// All problems that were found, each with its place.
    package var problems: [String] { object.problems }
    package private(set) var settings = GateSettings()
    private var object: SettingsObject

    /// - Parameter values: The values by option name, as in a configuration file.
    package init(_ values: [JSONName: JSONValue]) {
        object = SettingsObject(values)
        readListeners()
        readKeys()
        readPolicy()
        readTokenSources()
        readLimits()
        readRoutes()
        object.refuseRest()
    }

    private mutating func readListeners() {
        if let listeners = listeners("listen", mayBeEmpty: false) { settings.listen = listeners }
        if let listeners = listeners("admin", mayBeEmpty: true) { settings.admin = listeners }
        if let number = object.number("workers", 1...256) { settings.workers = number }
        if let text = object.text("unix-mode") {
            if let mode = UInt32(text, radix: 8), mode <= 0o777 {
                settings.unixMode = mode
            } else {
                object.refuse("unix-mode", "is '\(printable(text))'; expected permissions such as 660")
            }
        }
        readTLS()
    }

    private mutating func readTLS() {
        let (certificate, key) = (object.text("tls-certificate"), object.text("tls-key"))
        let (authorities, names) = (object.text("tls-client-ca"), object.texts("tls-client-name"))
        refuseClientNames(names, isAuthorityGiven: authorities != nil)
        let isUsed = (settings.listen + settings.admin).contains(where: \.isTLS)
        switch (certificate, key) {
        case (let certificate?, let key?):
            settings.tls = TLSServer.Files(certificate: certificate, key: key, clientAuthorities: authorities)
            settings.tls?.clientNames = names ?? []
            // Without this check, an operator who configures TLS or client certificates could get neither.
            if !isUsed {
                object.refuse("tls-certificate", "is given, and no listener speaks TLS; expected tls:ADDRESS:PORT")
            }
        case (nil, nil):
            if authorities != nil { object.refuse("tls-client-ca", "is given without tls-certificate and tls-key") }
            if isUsed {
                object.refuse("tls-certificate", "is missing; expected one, and tls-key, where a listener speaks TLS")
            }
        case (nil, _): object.refuse("tls-certificate", "is missing beside tls-key")
        case (_, nil): object.refuse("tls-key", "is missing beside tls-certificate")
        }
    }

    private mutating func refuseClientNames(_ names: [String]?, isAuthorityGiven: Bool) {
        guard let names else { return }
        if !isAuthorityGiven { object.refuse("tls-client-name", "is given without tls-client-ca") }
        if names.isEmpty { object.refuse("tls-client-name", "names no client; expected at least one") }
        for (position, name) in names.enumerated() where !TLSServer.Files.isClientName(name) {
            object.refuse(
                "tls-client-name[\(position)]",
                "is '\(printable(name))'; expected a whole name, without * and without a dot at its beginning")
        }
    }

    private mutating func listeners(_ name: String, mayBeEmpty: Bool) -> [HTTPListener]? {
        let texts = object.texts(name)
        if texts == [], !mayBeEmpty { object.refuse(name, "names no place; expected at least one") }
        return texts?.enumerated().compactMap { position, text in
            let listener = HTTPListener(text)
            if listener == nil {
                object.refuse("\(name)[\(position)]", "is '\(printable(text))'; expected \(HTTPListener.forms)")
            }
            return listener
        }
    }

    private mutating func readKeys() {
        settings.keys = object.texts("keys") ?? []
        if settings.keys.isEmpty { object.refuse("keys", "none is named; expected key files, or directories of them") }
        settings.passwordFile = object.text("password-file")
        if let bits = object.number("min-rsa-bits", KeyRequirements.lowestMinimumRSABits...8192) {
            settings.minimumRSABits = bits
        }
        if let url = object.text("replays") {
            do {
                settings.replays = try ReplayStoreLocation(url)
            } catch {
                object.refuse("replays", "\(error)")
            }
        }
    }

    private mutating func readPolicy() {
        if let seconds = object.number("skew", 0...Int(VerificationPolicy.largestClockSkew.components.seconds)) {
            settings.clockSkew = .seconds(seconds)
        }
        if let seconds = object.number("max-ttl", 1...86_400) { settings.maximumTTL = .seconds(seconds) }
        if let flag = object.flag("canonical-resource") { settings.comparesCanonically = flag }
        guard var lists = object.object("mvpds") else { return }
        for requestor in lists.names {
            guard let names = lists.texts(requestor) else { continue }
            settings.mvpds[RequestorID(requestor)] = Set(names.map { MVPDID($0) })
            if names.isEmpty { lists.refuse(requestor, "is an empty list, and would refuse every token") }
        }
        object.refuse(with: lists)
    }

    private mutating func readTokenSources() {
        if let name = name("token-header") { settings.sources.header = name.isEmpty ? nil : name }
        if let flag = object.flag("token-bearer") { settings.sources.bearer = flag }
        if let name = name("token-cookie") { settings.sources.cookie = name.isEmpty ? nil : name }
        if let name = object.text("token-parameter") { settings.sources.parameter = name.isEmpty ? nil : name }
    }

    /// Reads the name of a header or a cookie: a token in HTTP's sense (RFC 9110, 5.6.2), or an empty string.
    private mutating func name(_ setting: String) -> String? {
        guard let name = object.text(setting) else { return nil }
        let isToken = name.utf8.allSatisfy(\.isTokenCharacter)
        if !isToken { object.refuse(setting, "is '\(printable(name))'; expected a name without separators") }
        return isToken ? name : nil
    }

    private mutating func readLimits() {
        if let number = object.number("max-header-bytes", 1024...1_048_576) { settings.limits.headerBytes = number }
        if let number = object.number("max-body-bytes", 1024...16_777_216) { settings.limits.bodyBytes = number }
        if let number = object.number("arrival-timeout", 1...3600) {
            settings.limits.arrivalMilliseconds = number * 1000
        }
        if let number = object.number("idle-timeout", 1...86_400) { settings.limits.idleMilliseconds = number * 1000 }
        if let number = object.number("max-connections", 1...1_000_000) { settings.limits.connections = number }
        if let number = object.number("max-connections-per-peer", 1...1_000_000) {
            settings.limits.connectionsPerPeer = number
        }
        if let number = object.number("max-unfinished-bytes", 1_048_576...17_179_869_184) {
            settings.limits.unfinishedBytes = number
            let least = settings.limits.leastUnfinishedBytes(of: settings.workers)
            if number < least {
                object.refuse(
                    "max-unfinished-bytes",
                    "is \(number); expected at least \(least), which is four times the longest request (max-header-bytes and "
                        + "max-body-bytes) for each of \(settings.workers) workers")
            }
        }
        if let number = object.number("log-every", 0...1_000_000) { settings.logEvery = number }
        if let number = object.number("stop-timeout", 0...3600) { settings.stopMilliseconds = number * 1000 }
    }

    private mutating func readRoutes() {
        for var object in object.objects("routes") {
            if let route = Self.route(&object) {
                let others = settings.routes.filter(route.sharesHost)
                if others.contains(where: { $0.path.isSame(as: route.path) }) {
                    object.refuse("path", "is that of another route; expected each path once")
                } else if let other = others.first(where: route.isConfused) {
                    object.refuse(
                        "path",
                        "is '\(printable(route.path.text))', and another route's '\(printable(other.path.text))'; expected two that "
                            + "every server tells apart, by more than upper and lower case")
                }
                if let first = settings.routes.first, first.hosts.isEmpty != route.hosts.isEmpty {
                    object.refuse("hosts", "is set on some routes only; expected on all routes or on none")
                }
                settings.routes.append(route)
            }
            self.object.refuse(with: object)
        }
    }

    /// Reads one route: `{"path": …, "open": true}` or `{"path": …, "requestor": …, "resource": …}`.
    private static func route(_ object: inout SettingsObject) -> GateRoute? {
        let isOpen = object.flag("open") ?? false
        let path = object.required("path") { $0.text("path") }
        if isOpen, object.has("requestor") || object.has("resource") {
            object.refuse(nil, "is open, and names a requestor or resource; expected one or the other")
        }
        let requestors = isOpen ? object.texts("requestor") : object.required("requestor") { $0.texts("requestor") }
        let resources = isOpen ? object.texts("resource") : object.required("resource") { $0.texts("resource") }
        let canonical = object.flag("canonical-resource") ?? false
        let hosts = object.hosts("hosts")
        let attemptWindow = object.number("attempt-window", 1...10)
        if isOpen, attemptWindow != nil {
            object.refuse("attempt-window", "is given, and the route is open; expected one or the other")
        }
        let grant = object.object("grant").flatMap { RouteGrantReader.read($0, path: path ?? "/", &object) }
        if isOpen, grant != nil { object.refuse("grant", "is given, and the route is open; expected one or the other") }
        for (name, values) in [("requestor", requestors), ("resource", resources)] {
            guard let values, values.isEmpty || values.contains("") else { continue }
            object.refuse(name, "is empty, or holds an empty text; expected an ID")
        }
        object.refuseRest()
        guard object.problems.isEmpty, let path else { return nil }
        let identifiers = (resources ?? []).map { ResourceID($0) }
        let rule: ResourceRule = canonical ? .canonically(identifiers) : .anyOf(identifiers)
        let expectation = Expectation(requestors: (requestors ?? []).map { RequestorID($0) }, resource: rule)
        let route = GateRoute(
            path: path, hosts: hosts, access: isOpen ? .open : .token(expectation),
            attemptWindow: attemptWindow.map { .seconds($0) }, grant: grant)
        if route == nil {
            object.refuse(
                "path",
                "is '\(printable(path))'; expected a path from / on that all servers read alike: percent-encoded, without a query, "
                    + "empty names, . or .., and beyond ASCII with letters, marks and digits only")
        }
        return route
    }
}
