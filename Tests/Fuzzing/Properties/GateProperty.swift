internal import Foundation
internal import HTTP
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants
internal import StreamPaths
internal import TestSupport
internal import TokenCrypto

/// No request gets a protected stream without a token that somebody signed or a grant that the gate made, for what
/// every server would take its target for; and every answer is one that a proxy understands.
struct GateProperty: FuzzProperty {
    private let known: SignedTokens
    private let gate: Gate
    /// A gate with the routes of ``gate``, all of them on one host.
    private let gateOfHost: Gate
    /// Exchanges tokens for grants of each kind, has no open route, and compares resources by their canonical form.
    private let gateOfGrants: Gate
    private let dialects: DialectProperty
    /// For all below `/paid`, for a folder of it, and for one method; then those in whose window a request comes.
    private let grants: [String]
    /// Checks the grants for `/paid`.
    private let tokens: CommonAccessToken

    init() throws {
        known = try SignedTokens()
        let digits = String(repeating: "0f", count: 32)
        let keys = try TemporaryDirectory()
        defer { withExtendedLifetime(keys) {} }
        let keyFile = try keys.write(digits, to: "key")
        var maker = GrantConfiguration(CommonAccessToken.kind)
        maker.keyFiles = [keyFile]
        (maker.values["renew"], maker.values["renew-until"]) = ("cookie:300", "\(Self.renewsUntil)")
        var grant = RouteGrantSettings(maker, scope: "/paid")
        grant.validity = .seconds(60)
        func gate(_ hosts: [StreamHost]) throws -> Gate {
            let routes = [
                GateRoute(path: "/free", hosts: hosts, access: .open),
                GateRoute(path: "/free/members", hosts: hosts, access: .token(Self.members), allowing: [.options]),
                GateRoute(
                    path: "/paid", hosts: hosts, access: .token(Self.paid), attemptWindow: .seconds(5),
                    allowing: [.head], grant: grant),
            ]
            return Gate(routes: try routes.compactMap(\.self).map { try $0.withGrant(among: []) })
        }
        dialects = try DialectProperty(known, keyFile: keyFile)
        (self.gate, gateOfHost) = (try gate([]), try gate([StreamHost(withoutPort: "a.example")].compactMap(\.self)))
        gateOfGrants = try Self.gateOfGrants(
            keyFile: keyFile, pemFile: keys.write(RSASigningKey.generate(bits: 1024).pemText(), to: "pem"))
        var claims = [CATClaims](repeating: CATClaims(), count: 3)
        for index in claims.indices {
            claims[index].expires = known.batches[0].time.milliseconds / 1000 + 600
            claims[index].scope.pathPrefix = index == 1 ? "/paid/inner" : "/paid/"
        }
        claims[2].methods = ["GET"]
        let tokens = try CommonAccessToken(key: GrantSecret(hexadecimal: digits), keyID: "media-token")
        self.tokens = tokens
        claims += Self.dueClaims(at: known.batches[0].time.wholeSeconds)
        grants = try claims.map { try tokens.grant($0).fields[0].value }
    }

    private static let renewsUntil: Int64 = 200

    /// Claims whose expiry comes so soon that the gate would renew them: one that it does renew, one whose renewal it
    /// leaves to a CDN, and one that ends at the bound.
    private static func dueClaims(at now: Int64) -> [CATClaims] {
        var claims = CATClaims()
        (claims.issuedAt, claims.expires, claims.scope.pathPrefix) = (now - 150, now + 40, "/paid/")
        claims.renewal = CATRenewal(kind: .cookie, seconds: 300)
        var (other, last) = (claims, claims)
        other.renewal = CATRenewal(kind: .header, seconds: 300, deadline: 60)
        last.expires = now + 50
        return [claims, other, last]
    }

    private static func gateOfGrants(keyFile: String, pemFile: String) throws -> Gate {
        let hosts = [StreamHost(withoutPort: "cdn.example")].compactMap(\.self)
        let ofGrants = GrantKind.all.compactMap { kind in
            var maker = GrantConfiguration(kind)
            maker.keyFiles = [kind.name == "cloudfront" ? pemFile : keyFile]
            maker.values["key-pair-id"] = "FUZZ"
            maker.values.set("methods", to: ["GET", "HEAD"])
            maker.values["renew"] = "cookie:60"
            maker.values["renew-until"] = "14460"
            var grant = RouteGrantSettings(maker, scope: "/\(kind.name)")
            grant.origins = ["https://cdn.example", "https://cdn.example:8443"].compactMap { StreamOrigin($0) }
            grant.retryWindow = .seconds(30)
            let resource: ResourceRule = kind.name == "akamai" ? .canonically(["TNT"]) : .unsafeAnyResource
            return GateRoute(
                path: grant.scope, hosts: hosts, access: .token(Expectation(requestor: "MML", resource: resource)),
                grant: grant)
        }
        // More than a lenient server may choose among.
        let alike = ["/many"] + (0..<65).map { "/many/%C3%A9\($0)/x" }
        let routes = ofGrants + alike.compactMap { GateRoute(path: $0, hosts: hosts, access: .token(members)) }
        return Gate(
            routes: try routes.map { try $0.withGrant(among: routes) }, comparesCanonically: true,
            corsOrigins: CORSOrigins([Self.page].compactMap { CORSOrigin($0) }))
    }

    /// The origin of the only page that may call a gate.
    private static let page = "https://player.example"
    private static let members = Expectation(requestor: "MML", resource: .unsafeAnyResource)
    /// The other requestor has no token. It tells the two apart.
    private static let paid = Expectation(requestors: ["MML", "PAID"], resource: .unsafeAnyResource)

    /// - Parameter input: `METHOD TARGET`, then lines of headers, an empty line, and the body.
    func check(_ input: [UInt8]) throws {
        guard let request = Self.request(input), Self.isReadable(request) else { return }
        try checkFaults(request)
        try checkHost(request)
        try checkGrants(request)
        try checkOrigin(request)
        try dialects.check(request)
        try LogProperty.check(request)
        switch gate.task(request, at: known.batches[0].time) {
        case .settled(let reply):
            try check(reply.answer)
            try LogProperty.check(reply)
            let isGranted = reply.code == "GRANT_VALID"
            let isPreflight = reply.code == "CORS_PREFLIGHT" && reply.answer.status == 200
            try demand(
                !isPreflight || Self.getsNoMedia(request) && Self.demands(request) == [Set(Self.members.requestors)],
                "allowed as a preflight")
            try demand(
                reply.answer.status != 200 || isPreflight
                    || Self.demands(request) == [isGranted ? Set(Self.paid.requestors) : nil],
                "open, and not in every reading below \(isGranted ? "/paid" : "/free")")
            // Its first half is the head with the key's ID, which nobody signs.
            try demand(
                !isGranted
                    || request.headers.contains { header in grants.contains { header.value.contains($0.suffix(64)) } },
                "opened by a grant that nobody has made")
            try checkRenewal(in: reply)
        case .verify(let task):
            let verification = task.request
            if case .subrequest = task.format {
                try demand(
                    Self.demands(request) == [Set(verification.expectation.requestors)],
                    "asks for \(verification.expectation.requestors), and \(Self.demands(request)) is what is read")
                try demand(
                    verification.retries == nil || Self.namesAttempt(request),
                    "repeatable, and no proxy named an attempt")
                try demand(!Self.getsNoMedia(request), "consumes a token for \(request.method)")
                try demand(
                    Self.tokens(in: request).count == 1, "one token is taken, of \(Self.tokens(in: request).count)")
            } else {
                try demand(Self.hasTokenInOnePlace(request), "a token is taken, and header and body have one")
            }
            try checkVerdicts(task)
        case .explain(let explained):
            let batch = known.batches[0]
            let examination = batch.verifier.examine(
                explained.token, for: explained.requestors, explained.resource, at: batch.time)
            try demand(examination.code != VerdictCode.validToken.rawValue, "accepted by an explanation")
            let reply = explained.reply(to: examination)
            try check(reply.answer)
            guard Self.path(request).hasPrefix("/v1/authz/"), reply.answer.status == 200 else { return }
            try demand(Self.getsNoMedia(request), "allowed by an examination")
            try demand(
                Self.demands(request) == [Set(explained.requestors ?? [])], "allowed for \(Self.demands(request))")
            let expectation = Expectation(
                requestors: explained.requestors ?? [], resource: explained.resource ?? .unsafeAnyResource)
            let outcome = try batch.verifier.verify(explained.token, for: expectation, at: batch.time)
            if case .rejected(let rejection) = outcome {
                try demand(rejection.check == .replay, "allowed, and rejected for its \(rejection.check)")
            }
        }
    }

    /// Whether the proxy says that the client's request gets no media, found again without the gate's code.
    private static func getsNoMedia(_ request: HTTPRequest) -> Bool {
        let field = [
            "/v1/authz/auth-request": "x-original-method", "/v1/authz/forward-auth": "x-forwarded-method",
        ][path(request)]
        let named = field.map { field in request.headers.filter { $0.name.lowercased() == field }.map(\.value) }
        return [["HEAD"], ["OPTIONS"]].contains(named ?? [String(decoding: request.method, as: UTF8.self)])
    }

    /// A cookie comes only with a grant that opens, is for the same, and ends within the bound.
    private func checkRenewal(in reply: GateReply) throws {
        for (_, cookie) in reply.answer.headers.filter({ $0.name == "Set-Cookie" }) {
            let now = known.batches[0].time.wholeSeconds
            try demand(reply.code == "GRANT_VALID", "a cookie comes with \(reply.code)")
            let token = cookie.dropFirst(CommonAccessToken.name.count + 1).prefix { $0 != ";" }
            var claims = try tokens.authenticClaims(of: String(token))
            try demand((now + 41...now - 150 + Self.renewsUntil).contains(claims.expires ?? 0), "\(claims) is renewed")
            claims.expires = now + 40
            try demand(claims == Self.dueClaims(at: now)[0], "a cookie has other claims: \(claims)")
        }
    }

    /// Only the listed page may read an answer, and only where it is the request's one origin.
    private func checkOrigin(_ request: HTTPRequest) throws {
        let allowed = gateOfGrants.corsFields(for: request).filter { "\($0.name)" == "Access-Control-Allow-Origin" }
        let origins = request.headers.filter { $0.name.lowercased() == "origin" }.map(\.value)
        try demand(
            allowed.isEmpty || (origins == [Self.page] && allowed.map(\.value) == [Self.page]),
            "\(origins) may read the answer: \(allowed)")
    }

    private func checkVerdicts(_ task: VerificationTask) throws {
        for batch in known.batches {
            let outcome = batch.verifier.verify([task.request], at: batch.time)[0]
            let reply = task.reply(to: outcome, at: batch.time)
            let answer = reply.answer
            try check(answer)
            try LogProperty.check(reply)
            if case .success(.accepted(let token)) = outcome {
                try demand(batch.isSigned(token.replayKey), "accepted, and nobody has signed it")
            } else {
                try demand(answer.status != 200, "200, and the token is not accepted")
            }
        }
    }

    /// Whatever a target says that two programs read in two ways, it gets no answer but a no.
    private func checkFaults(_ request: HTTPRequest) throws {
        guard let target = Self.target(request), let fault = PathFaults(in: target).all.first else { return }
        guard case .settled(let reply) = gate.task(request, at: known.batches[0].time), reply.answer.status != 200
        else { throw Violation(description: "not denied, and in \(target) there is \(fault)") }
    }

    /// Nothing is open there, and no kind of grant is handed out without a token.
    private func checkGrants(_ request: HTTPRequest) throws {
        switch gateOfGrants.task(request, at: known.batches[0].time) {
        case .verify(let task):
            // What the caller says can only narrow what the route demands.
            let requestors = task.request.expectation.requestors
            try demand(
                Self.path(request) != "/v1/play" || requestors == Self.members.requestors, "a grant for \(requestors)")
            try checkVerdicts(task)
        case .settled(let reply):
            try check(reply.answer)
            try demand(reply.answer.status != 200, "open, and no token was asked for")
        case .explain: break
        }
    }

    /// Whatever is not denied on a host's routes was asked for on that host, as the proxy's own header tells.
    private func checkHost(_ request: HTTPRequest) throws {
        guard Self.path(request).hasPrefix("/v1/authz/") else { return }
        if case .settled(let reply) = gateOfHost.task(request, at: known.batches[0].time),
            reply.answer.status != 200
        {
            return
        }
        let name =
            ["/v1/authz/auth-request": "x-original-host", "/v1/authz/forward-auth": "x-forwarded-host"][
                Self.path(request)]
            ?? "host"
        let hosts =
            Self.originalURL(request).map { [$0.host] }
            ?? request.headers.filter { $0.name.lowercased() == name }.map { $0.value.lowercased() }
        try demand(hosts.count == 1 && hosts[0].hasPrefix("a.example"), "open on \(hosts)")
        let rest = hosts[0].dropFirst("a.example".count).drop { $0 == "." }
        try demand(rest.isEmpty || rest.first == ":" && rest.dropFirst().allSatisfy(\.isNumber), "open on \(hosts)")
    }

    private static func path(_ request: HTTPRequest) -> String { String(decoding: request.path, as: UTF8.self) }

    /// Whether the server hands such a request to the gate.
    private static func isReadable(_ request: HTTPRequest) -> Bool {
        let isVisible = { (bytes: ArraySlice<UInt8>) in bytes.allSatisfy { (0x21...0x7E).contains($0) } }
        let names = request.headers.map { $0.name.lowercased() }
        return isVisible(request.target)
            && ["host", "content-type"].allSatisfy { name in names.count { $0 == name } <= 1 }
    }

    private static func namesAttempt(_ request: HTTPRequest) -> Bool {
        let attempts = request.headers.filter { $0.name.lowercased() == "x-media-token-attempt" }
        return Self.path(request) == "/v1/authz/auth-request" && attempts.count == 1 && attempts[0].value.count == 32
            && originalURL(request) == nil
            && attempts[0].value.allSatisfy(\.isHexDigit)
    }

    private func check(_ answer: HTTPAnswer) throws {
        try demand([200, 204, 400, 401, 403, 404, 405, 415].contains(answer.status), "answered with \(answer.status)")
        for (name, value) in answer.headers {
            try demand(value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(name) is \(value.debugDescription)")
        }
    }

    private static func request(_ input: [UInt8]) -> HTTPRequest? {
        let end = input.firstRange(of: [0x0A, 0x0A])
        let lines = input[..<(end?.lowerBound ?? input.endIndex)].split(separator: 0x0A).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let words = lines.first?.split(separator: " ", maxSplits: 1), words.count == 2 else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let pair = line.split(separator: ":", maxSplits: 1)
            return pair.count == 2 ? (String(pair[0]), String(pair[1].drop { $0 == " " })) : nil
        }
        return HTTPRequest(
            method: String(words[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            headers: headers, body: end.map { Array(input[$0.upperBound...]) } ?? [])
    }

    /// What the request is about, found again without the gate's code.
    private static func target(_ request: HTTPRequest) -> String? {
        let prefix = "/v1/authz/ext-authz"
        if Self.path(request).hasPrefix(prefix) {
            return Self.path(request).dropFirst(prefix.count)
                + (request.query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? "")
        }
        if let url = originalURL(request) { return url.target }
        let name = ["/v1/authz/auth-request": "x-original-uri", "/v1/authz/forward-auth": "x-forwarded-uri"][
            Self.path(request)]
        return request.headers.first { $0.name.lowercased() == name }?.value
    }

    /// The host and target of the URL that a proxy names, if it names one and no path beside it.
    private static func originalURL(_ request: HTTPRequest) -> (host: String, target: String)? {
        let fields = request.headers.map { ($0.name.lowercased(), $0.value) }
        guard path(request) == "/v1/authz/auth-request", !fields.contains(where: { $0.0 == "x-original-uri" }),
            let url = fields.first(where: { $0.0 == "x-original-url" })?.1,
            let start = url.range(of: "^https?://[^/?]*", options: .regularExpression)
        else { return nil }
        let host = url[start].drop { $0 != "/" }.dropFirst(2)
        return (host.lowercased(), String(url[start.upperBound...]))
    }

    /// What the target demands of a token for each server that reads it in its own way; `nil` for nothing, and no
    /// requestors for what no route names.
    private static func demands(_ request: HTTPRequest) -> Set<Set<RequestorID>?> {
        guard let target = target(request) else { return [[]] }
        return Set(
            PathReadings(of: target).all.map { segments -> Set<RequestorID>? in
                switch (segments.first, segments.dropFirst().first) {
                case ("free", "members"): Set(members.requestors)
                case ("free", _): nil
                case ("paid", _): Set(paid.requestors)
                default: []
                }
            })
    }

    private static func unquoted(_ text: String) -> Data {
        let (bytes, quote) = (Data(text.utf8), UInt8(ascii: "\""))
        return bytes.count > 1 && bytes.first == quote && bytes.last == quote ? bytes.dropFirst().dropLast() : bytes
    }

    /// Whether a backend's request with a token in its header has no body that could be another one.
    private static func hasTokenInOnePlace(_ request: HTTPRequest) -> Bool {
        let name = "x-adobe-primetime-mediatoken".utf8
        let isInHeader = request.headers.contains { $0.name.utf8.elementsEqual(name) { $0 | 0x20 == $1 | 0x20 } }
        let type = request.headers.first { $0.name.lowercased() == "content-type" }?.value.lowercased() ?? ""
        let body = String(decoding: request.body, as: UTF8.self)
        return !isInHeader || body.isEmpty || (type.contains("form") && !body.hasPrefix("token="))
            || (type.contains("json") && !body.contains("\"token\":"))
    }

    /// The tokens that a request to a proxy came with, found again without the gate's code.
    private static func tokens(in request: HTTPRequest) -> Set<Data> {
        func pairs(_ text: String, by separator: Character) -> [(name: String, value: String)] {
            text.unicodeScalars.split(separator: separator.unicodeScalars.first ?? "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
        }
        var found: [String] = []
        for (name, value) in request.headers {
            switch name.lowercased() {
            case "x-media-token": found.append(value)
            case "authorization":
                if let scheme = value.range(of: "^bearer[ \t]+", options: [.regularExpression, .caseInsensitive]) {
                    found.append(String(value[scheme.upperBound...]))
                }
            case "cookie":
                for cookie in pairs(value, by: ";")
                where cookie.name.trimmingCharacters(in: .whitespaces) == "media_token" {
                    found.append(cookie.value.trimmingCharacters(in: .whitespaces))
                }
            default: break
            }
        }
        let query = target(request)?.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        for pair in pairs(String(query), by: "&") where pair.name.removingPercentEncoding == "media_token" {
            found.append(pair.value)
        }
        return Set(found.map(Self.unquoted).filter { !$0.isEmpty })
    }
}
