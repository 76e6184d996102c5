internal import Basics
internal import HTTP
internal import MediaToken
internal import PlaybackGrants
package import Settings
internal import StreamPaths

/// A path of the gate's own at which apps ask as they asked another service, and get answers of that service's form.
package final class Dialect: Sendable {
    /// A value that requests have.
    package enum Value: String, CaseIterable, Sendable {
        case token, requestor, resource
        /// The stream's URL or path; with `/*` at its end, all below a path.
        case url
    }

    /// Where the configuration has the dialect: `dialects[0]`.
    package let place: String
    package let path: String
    package let method: String
    /// Where requests have their values: the token always, and the URL unless the dialect names a route.
    let places: [Value: DialectField]
    /// The path of a route, if requests name no stream. The grant is then for all of the route.
    private let route: String?
    let answers: DialectAnswers

    package init(
        at place: String, path: String, method: String, _ places: [Value: DialectField], route: String?,
        answers: DialectAnswers
    ) {
        (self.place, self.path, self.method, self.answers) = (place, path, method, answers)
        (self.places, self.route) = (places, route)
    }

    /// The names of the header fields that requests have values in.
    var headerNames: [String] {
        Value.allCases.compactMap { places[$0] }.filter { $0.part == .header }.map(\.field.description)
    }

    /// The route that the dialect names; `nil` if it names none, no route has that path, or routes of several hosts
    /// have it.
    fileprivate func route(among routes: [GateRoute]) -> GateRoute? {
        let named = routes.filter { $0.path.text.hasSameBytes(as: route ?? "") }
        return named.count == 1 ? named[0] : nil
    }

    /// Why the dialect cannot be served beside these routes, whose grants are loaded; `nil` if it can.
    package func problem(beside routes: [GateRoute]) -> SettingProblem? {
        func problem(_ name: String, _ text: String?) -> SettingProblem? {
            // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
            text.map { SettingProblem("dialects", at: "\(place).\(name)", $0) }
        }
        guard let path = route else {
            // Any route may be meant, so one that fits is enough.
            let fits = routes.contains { answers.misfit($0.grant, namesStream: true) == nil }
            // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
            return fits ? nil : problem("accepted.body", answers.misfit(nil, namesStream: true))
        }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        guard let route = route(among: routes), case .token = route.access else {
            return problem("route", "is '\(printable(path))'; expected the path of one route that demands a token")
        }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        if let need = route.grant?.needOfURL {
            return problem("url", "is missing, and the grant of its route \(need); expected it")
        }
        return problem("accepted.body", answers.misfit(route.grant, namesStream: false))
    }
}

/// The readers of the dialects that share a path, each with a method of its own.
struct DialectReaders: Sendable {
    let path: String
    fileprivate(set) var readers: [DialectReader]

    /// Groups dialects by their paths.
    static func all(_ dialects: [Dialect], _ routes: [GateRoute]) -> [DialectReaders] {
        dialects.reduce(into: []) { groups, dialect in
            let reader = DialectReader(dialect, routes)
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
    /// The route that the dialect names; `nil` if it reads a URL.
    private let route: GateRoute?

    fileprivate init(_ dialect: Dialect, _ routes: [GateRoute]) {
        (self.dialect, route) = (dialect, dialect.route(among: routes))
    }

    func task(
        _ request: HTTPRequest, _ exchange: TokenExchange, _ format: AnswerFormat, at now: Timestamp
    ) throws(RequestError) -> GateTask {
        let sent = try DialectValues(request, at: dialect.places)
        let token = try sent.required(.token)
        // The dialect says how the token is wrapped; nothing else is unwrapped.
        guard token.utf8.starts(with: "<signatureInfo>".utf8) else {
            throw .invalid("the token is not clear text behind \(sent.place(.token)); expected <signatureInfo>…")
        }
        let target: PlayTarget
        if let route {
            target = .route(route)
        } else {
            target = .url(try sent.required(.url), in: sent.place(.url), mayBePrefix: true)
        }
        return try exchange.task(request, RawToken(token), target, format, at: now) { () throws(RequestError) in
            (try sent.value(.requestor), try sent.value(.resource))
        }
    }
}
