internal import HTTPMessages
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings

/// A path of the gate's own at which apps ask as they asked another service, and get answers of that service's form.
package final class Dialect: Sendable {
    /// What names the stream that the app wants to play.
    package enum Target: Sendable {
        /// The stream's URL or path in the request; with `/*` at its end, all below a path.
        case url(DialectPlace)
        /// The path of a route: the app names no stream, and the grant is for all of the route.
        case route(String)
    }

    /// Where the configuration has the dialect: `dialects[0]`.
    package let place: String
    package let path: String
    package let method: String
    let token: DialectPlace
    let requestor: DialectPlace?
    let resource: DialectPlace?
    let target: Target
    /// Where the values of a request are.
    let places: [DialectPlace]
    let answers: DialectAnswers

    package init(
        at place: String, path: String, method: String, token: DialectPlace, requestor: DialectPlace?,
        resource: DialectPlace?, target: Target, answers: DialectAnswers
    ) {
        (self.place, self.path, self.method, self.answers) = (place, path, method, answers)
        (self.token, self.requestor, self.resource, self.target) = (token, requestor, resource, target)
        var places = [token] + [requestor, resource].compactMap(\.self)
        if case .url(let place) = target { places.append(place) }
        self.places = places
    }

    /// The names of the header fields that requests have values in.
    var headerNames: [String] {
        places.filter { $0.part == .header }.map(\.field.description)
    }

    /// The route that the dialect names; `nil` if it names none, no route has that path, or routes of several hosts have it.
    fileprivate func route(among routes: [GateRoute]) -> GateRoute? {
        guard case .route(let path) = target else { return nil }
        let named = routes.filter { $0.path.text.hasSameBytes(as: path) }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        return named.count == 1 ? named[0] : nil
    }

    /// Why the dialect cannot be served beside these routes, whose grants are loaded; `nil` if it can.
    package func problem(beside routes: [GateRoute]) -> String? {
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        func described(_ misfit: String?) -> String? { misfit.map { "accepted.body \($0)" } }
        guard case .route(let path) = target else {
            // Any route may be meant, so one that fits is enough.
            let misfits = routes.map { answers.misfit($0.grant, namesStream: true) }
            // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
            return misfits.contains(nil) ? nil : described(answers.misfit(nil, namesStream: true))
        }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        guard let route = route(among: routes), case .token = route.access else {
            return "route is '\(printable(path))'; expected the path of one route that demands a token"
        }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        if let need = route.grant?.needOfURL {
            return "url is missing, and the grant of its route \(need); expected it"
        }
        return described(answers.misfit(route.grant, namesStream: false))
    }
}

/// The readers of the dialects that share a path, each with a method of its own.
struct DialectReaders: Sendable {
    let path: String
    fileprivate(set) var readers: [DialectReader]

    /// Groups dialects by their paths.
    static func all(_ dialects: [Dialect], _ routes: [GateRoute], _ exchange: TokenExchange) -> [DialectReaders] {
        dialects.reduce(into: []) { groups, dialect in
            let reader = DialectReader(dialect, routes, exchange)
            if let index = groups.firstIndex(where: { $0.path.hasSameBytes(as: dialect.path) }) {
                groups[index].readers.append(reader)
            } else {
                groups.append(DialectReaders(path: dialect.path, readers: [reader]))
            }
        }
    }

    /// The methods with which apps may ask.
    var methods: [String] { readers.map(\.dialect.method) }

    /// The reader of requests with a method; `nil` if no dialect at this path has it.
    func reader(of method: ArraySlice<UInt8>) -> DialectReader? {
        readers.first { method.elementsEqual($0.dialect.method.utf8) }
    }
}

/// Reads requests in one dialect.
struct DialectReader: Sendable {
    let dialect: Dialect
    private let exchange: TokenExchange
    /// The route that the dialect names; `nil` if it reads a URL.
    private let route: GateRoute?

    fileprivate init(_ dialect: Dialect, _ routes: [GateRoute], _ exchange: TokenExchange) {
        (self.dialect, self.exchange, route) = (dialect, exchange, dialect.route(among: routes))
    }

    func task(_ request: HTTPRequest, at now: Timestamp) -> GateTask {
        var routePath: String?
        do throws(RequestError) {
            let sent = try DialectValues(request, at: dialect.places)
            let token = try sent.required("token", at: dialect.token)
            // The dialect says how the token is wrapped; nothing else is unwrapped.
            guard token.utf8.starts(with: "<signatureInfo>".utf8) else {
                throw .invalid("the token is not clear text behind \(dialect.token.text); expected <signatureInfo>…")
            }
            let (route, target) = try target(sent)
            routePath = route.path.text
            guard case .token(let expectation) = route.access else {
                throw .invalid("the stream is open, and needs no token")
            }
            let requestor = try dialect.requestor.map { (place) throws(RequestError) in
                try sent.required("requestor", at: place)
            }
            let resource = try dialect.resource.map { (place) throws(RequestError) in
                try sent.required("resource", at: place)
            }
            let verification = VerificationRequest(
                token: RawToken(token),
                expectation: try exchange.narrowed(expectation, toRequestor: requestor, resource: resource),
                retries: try exchange.retries(
                    request, of: target.identity, within: route.grant?.settings.retryWindow))
            let order = try order(route.grant, for: target, at: now)
            var task = VerificationTask(verification, .dialect(dialect.answers), order: order)
            task.route = routePath
            return .verify(task)
        } catch {
            var reply = dialect.answers.refuse(error)
            reply.route = routePath
            return .settled(reply)
        }
    }

    /// What a request wants to play.
    private enum Wanted {
        /// One stream.
        case stream(StreamURL)
        /// All below a path, which ends with a slash.
        case prefix(StreamURL)
        /// All of a route.
        case all(GateRoute)

        /// What a retry must ask for again to get the same grant. No URL has a zero byte, so no two are alike.
        var identity: String {
            switch self {
            case .stream(let url): url.text
            case .prefix(let url): "prefix\0\(url.text)"
            // Unreached: A route with hosts; the routes of the properties' dialects have none.
            case .all(let route): (["route", route.path.text] + route.hosts.map(\.name)).joined(separator: "\0")
            }
        }
    }

    private func target(_ sent: DialectValues) throws(RequestError) -> (GateRoute, Wanted) {
        guard case .url(let place) = dialect.target else {
            // Unreached: A dialect whose route is not there is refused when the gate starts.
            guard let route else { throw RequestError(403, .routeUnknown, "no route has the path of the dialect") }
            return (route, .all(route))
        }
        let text = try sent.required("url", at: place)
        let isPrefix = text.hasSuffix("/*") && !text.utf8.contains(UInt8(ascii: "?"))
        let (found, url) = try exchange.route(to: isPrefix ? String(text.dropLast()) : text, in: place.text)
        return (found, isPrefix ? .prefix(url) : .stream(url))
    }

    /// The order for the grant that the answer has in its body or its cookies.
    private func order(
        _ grant: RouteGrant?, for wanted: Wanted, at now: Timestamp
    ) throws(RequestError) -> GrantOrder? {
        let namesStream = if case .stream = wanted { true } else { false }
        if let misfit = dialect.answers.misfit(grant, namesStream: namesStream) {
            throw .invalid("the answer to an accepted token \(misfit)")
        }
        do throws(GrantError) {
            switch wanted {
            case .stream(let url): return try grant?.order(for: url, at: now)
            case .prefix(let url): return try grant?.order(forAllBelow: url, at: now)
            case .all: return try grant?.orderForAll(at: now)
            }
        } catch {
            // Unreached: A grant that cannot be made for the URL of a dialect, for the message; the tests of dialects
            // have it.
            if case .url(let place) = dialect.target { throw .noGrant(error, for: place.text) }
            throw .noGrant(error, for: "url")
        }
    }
}
