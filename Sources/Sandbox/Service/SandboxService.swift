package import Basics
package import HTTP
internal import MediaTokenTesting
package import TokenCrypto

/// A stand-in for Adobe Pass: answers REST v2, what is still in use of the older protocols, and the pages of a pretend
/// MVPD.
///
/// It does no input or output, and reads no clock: a server hands requests in, and sends the answers when their delay
/// is over. Any thread may ask. Every service provider and every MVPD is known; names that are test cards choose a
/// behaviour.
package final class SandboxService: Sendable {
    private let settings: SandboxSettings
    private let state: Guarded<SandboxState>
    private let registration: Registration
    private let sessions: Sessions
    private let profiles: Profiles
    private let decisions: Decisions
    private let pages = MVPDPages()
    private let older: OlderProtocols
    private let tokens: MediaTokens
    private let files: [(name: String, bytes: [UInt8])]

    package init(_ keys: SandboxKeys, _ settings: SandboxSettings) throws(CryptoError) {
        // Independent of the seed: sandboxes with one seed must not accept each other's bearer tokens.
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        registration = try Registration(secret: secret, lifetimeSeconds: settings.bearerSeconds)
        state = Guarded(SandboxState(random: SandboxRandom(seed: settings.seed)))
        let temporary = TemporaryAccess(settings: settings)
        let tokens = try MediaTokens(keys, settings, secret: secret)
        (sessions, profiles) = (Sessions(settings: settings), Profiles(temporary: temporary))
        decisions = Decisions(settings: settings, temporary: temporary, tokens: tokens)
        older = try OlderProtocols(state, sessions, decisions, tokens, keys)
        self.tokens = tokens
        files = try keys.files()
        self.settings = settings
    }

    /// Answers a request that came at `machineTime`, by the clock of the sandbox.
    package func answer(_ request: HTTPRequest, at machineTime: Timestamp) -> SandboxAnswer {
        let now = machineTime.advanced(byMilliseconds: settings.clockMilliseconds)
        var answer = PassCall(request, at: now, isSecure: settings.isSecure).map(route) ?? refuse(.undecodable)
        if settings.latencyMilliseconds.upperBound > 0 {
            answer.delay += state.withLock { settings.latencyMilliseconds.randomElement(using: &$0.random) ?? 0 }
        }
        if let origin = request.onlyText(of: "origin") { answer.answer.allow(origin) }
        return answer
    }

    /// The path of a request for logs. `CODE` replaces the code of a session, because anybody who has it can log in,
    /// and `(undecodable)` a path that cannot be decoded.
    package static func pathWithoutCode(of request: HTTPRequest) -> String {
        guard var path = PassCall.path(of: request) else { return "(undecodable)" }
        if path.count > 4, path[2] == "authenticate" || path[3] == "sessions" { path[4] = "CODE" }
        if path.count > 5, path[3] == "profiles", path[4] == "code" { path[5] = "CODE" }
        return "/" + path.joined(separator: "/")
    }

    private func route(_ call: PassCall) -> SandboxAnswer {
        if call.method == "OPTIONS" { return SandboxAnswer(HTTPAnswer(204)) }
        let isThrottled = settings.throttles && ["o", "api"].contains(call.path.first)
        if isThrottled, state.withLock({ Throttle.refuses(call, &$0) }) { return Throttle.answer }
        switch (call.method, call.path.first, call.path.dropFirst().first) {
        case ("POST", "o", "client"): return register(call)
        case ("GET", "api", "v2") where call.path.count == 5 && call.path[2] == "authenticate":
            return authenticate(call.path[4], of: call.path[3], call)
        case (_, "api", "v2"): return callAPI(call)
        case (_, "api", "v1"), (_, "adobe-services", _), (_, "reggie", _):
            return older.answer(call) ?? pages.message(404, "The sandbox does not have this older call.")
        case ("GET", "mvpd", "login"), ("POST", "mvpd", "login"): return showLogin(call)
        case ("GET", "mvpd", "logout"): return endLogout(call)
        case ("GET", "sandbox", "keys"): return key(call)
        case ("POST", "sandbox", "token") where call.path.count == 2: return token(call)
        case ("GET", "sandbox", "logo.svg"):
            return SandboxAnswer(HTTPAnswer(200, type: "image/svg+xml", body: Array(Configuration.logo.utf8)))
        case ("GET", "healthz", nil), ("HEAD", "healthz", nil):
            return SandboxAnswer(HTTPAnswer(200, type: "text/plain", body: Array("ok\n".utf8)))
        case ("GET", "", _):
            return pages.message(200, "This is a sandbox that plays Adobe Pass. Its keys are below /sandbox/keys/.")
        default: return pages.message(404, "The sandbox has no \(call.method) /\(call.path.joined(separator: "/")).")
        }
    }

    private func register(_ call: PassCall) -> SandboxAnswer {
        state.withLock { state in
            switch call.path.dropFirst(2).first {
            case "register": registration.register(call, &state)
            case "token": registration.token(call, &state)
            default: pages.message(404, "The sandbox has /o/client/register and /o/client/token.")
            }
        }
    }

    /// Sends the browser of a viewer from the session's address to the login page of the MVPD.
    private func authenticate(_ code: String, of provider: String, _ call: PassCall) -> SandboxAnswer {
        guard state.withLock({ try? sessions.find(code, of: provider, $0, now: call.now) }) != nil else {
            return pages.message(400, "No session has the code \(code).")
        }
        return .redirect(to: MVPDPages.loginURL(code, of: provider, call))
    }

    // MARK: REST v2

    private func callAPI(_ call: PassCall) -> SandboxAnswer {
        guard call.path.count >= 4, !call.path[2].isEmpty else { return refuse(.serviceProvider) }
        guard registration.permits(call) else { return refuse(.accessToken) }
        do throws(EnhancedError) {
            return try answerAPI(call, of: call.path[2], Array(call.path.dropFirst(3)))
        } catch { return refuse(error) }
    }

    private func answerAPI(
        _ call: PassCall, of provider: String, _ path: [String]
    ) throws(EnhancedError) -> SandboxAnswer {
        // Adobe's sample of this call has a slash at its end, and its list of calls has none.
        let rest = path == ["configuration", ""] ? ["configuration"] : path
        if ["profiles", "decisions", "logout"].contains(rest[0]), rest.count > 1, rest.last == "" { throw .mvpd }
        switch (call.method, rest[0], rest.count) {
        case ("GET", "configuration", 1): return Configuration.answer(provider, call)
        case ("POST", "decisions", 3): return try decide(rest[1], call, mvpd: rest[2], at: call.identity(of: provider))
        case ("POST", "sessions", 1...2), ("GET", "sessions", 2), ("GET", "profiles", 1...3), ("GET", "logout", 2):
            return try state.withLock { (state) throws(EnhancedError) in
                try answerFromState(call, of: provider, rest, &state)
            }
        case (_, "configuration", 1), (_, "sessions", 1...2), (_, "profiles", 1...3), (_, "decisions", 3),
            (_, "logout", 2):
            throw .method
        default: throw .unknown
        }
    }

    private func answerFromState(
        _ call: PassCall, of provider: String, _ rest: [String], _ state: inout SandboxState
    ) throws(EnhancedError) -> SandboxAnswer {
        switch (call.method, rest[0], rest.count) {
        case ("POST", "sessions", 2): return try sessions.resume(rest[1], of: provider, call, &state)
        case ("GET", "sessions", _): return try sessions.show(rest[1], of: provider, state, now: call.now)
        case ("POST", "sessions", _): return try sessions.create(call, at: call.identity(of: provider), &state)
        case (_, "profiles", 3):
            guard rest[1] == "code" else { throw .unknown }
            // A device waits for this profile while its viewer logs in elsewhere.
            let session = try sessions.find(rest[2], of: provider, state, now: call.now)
            return try profiles.show(call, at: session.identity, mvpd: session.mvpd ?? "", state)
        case (_, "profiles", _):
            return try profiles.show(call, at: call.identity(of: provider), mvpd: rest.dropFirst().first, state)
        case (_, "logout", _): return profiles.end(rest[1], call, at: try call.identity(of: provider), &state)
        default: throw .unknown
        }
    }

    private func decide(
        _ name: String, _ call: PassCall, mvpd: String, at identity: SandboxState.DeviceIdentity
    ) throws(EnhancedError) -> SandboxAnswer {
        guard let kind = Decisions.Kind(rawValue: name) else { throw .unknown }
        let resources = try decisions.resources(call)
        let cards = resources.compactMap { TestCard.chosen(for: $0, mvpd: mvpd) }
        if let failure = cards.lazy.compactMap(\.failure).first { throw failure }
        let decided = try state.withLock { (state) throws(EnhancedError) in
            try decisions.decide(kind, resources, mvpd: mvpd, at: identity, call, &state)
        }
        var answer: SandboxAnswer
        do {
            answer = try decisions.answer(kind, decided, mvpd: mvpd, at: identity, now: call.now, traces: trace)
        } catch { throw .signing }
        if let how = cards.lazy.compactMap(\.disturbance).first { answer.disturb(how) }
        return answer
    }

    // MARK: The others

    private func showLogin(_ call: PassCall) -> SandboxAnswer {
        guard let code = call.parameter("code"), let provider = call.parameter("provider") else {
            return pages.message(400, "The login has no code.")
        }
        // A page of another site must not log anybody in.
        if call.method == "POST", let origin = call.header("origin"), let host = call.header(.host),
            !origin.hasSuffix("://\(host)")
        {
            return pages.message(403, "The login was not sent by the page of the MVPD.")
        }
        return state.withLock { state in
            guard let session = try? sessions.find(code, of: provider, state, now: call.now), !session.isUsed else {
                return pages.message(400, "The session has expired, or somebody has logged in with it.")
            }
            return call.method == "GET" ? pages.login(code, session) : logIn(code, session, call, &state)
        }
    }

    private func logIn(
        _ code: String, _ given: SandboxState.Session, _ call: PassCall, _ state: inout SandboxState
    ) -> SandboxAnswer {
        var session = given
        let isCancelled = call.parameter("cancel") != nil
        if !isCancelled {
            guard let viewer = call.parameter("user"), call.parameter("password") != MVPDPages.wrongPassword else {
                return pages.login(code, session, problem: "This name or password is wrong.")
            }
            let mvpd = session.mvpd ?? call.parameter("mvpd") ?? MVPDPages.offered[0]
            (session.mvpd, session.isUsed) = (mvpd, true)
            state.sessions.set(code, session, until: session.end, at: call.now)
            state.setProfile(
                settings.profile(of: viewer, from: call.now), of: mvpd, at: session.identity, now: call.now)
        }
        return session.redirectURL.map { .redirect(to: $0) }
            ?? pages.message(
                200, isCancelled ? "The login was cancelled." : "You are logged in. Go back to your other screen.")
    }

    /// Sends the browser back from the logout page of the MVPD.
    private func endLogout(_ call: PassCall) -> SandboxAnswer {
        guard let back = call.parameter("redirect_url") else { return pages.message(200, "You are logged out.") }
        return Sessions.isRedirect(back)
            ? .redirect(to: back) : pages.message(400, "The redirect_url is not an absolute URL.")
    }

    private func key(_ call: PassCall) -> SandboxAnswer {
        guard let file = files.first(where: { $0.name == call.path.last }) else {
            return pages.message(404, "The keys are \(files.map(\.name).joined(separator: ", ")).")
        }
        return SandboxAnswer(HTTPAnswer(200, type: "application/octet-stream", body: file.bytes))
    }

    /// A media token without login and authorization, for tests of a backend: Adobe Pass has no such call.
    private func token(_ call: PassCall) -> SandboxAnswer {
        let (requestor, resource) = (call.parameter("requestor") ?? "MML", call.parameter("resource") ?? "TNT")
        // Another viewer each time, so that no two tokens of one second are the same.
        let (mvpd, viewer) = (call.parameter("mvpd") ?? MVPDPages.offered[0], call.parameter("user") ?? trace())
        guard let age = Int64(call.parameter("age") ?? "0"), (-86_400...86_400).contains(age) else {
            return pages.message(400, "The age is not a whole number of seconds from -86400 to 86400.")
        }
        guard let form = TokenWrapping(rawValue: call.parameter("form") ?? "clear") else {
            let forms = TokenWrapping.allCases.map(\.rawValue)
            return pages.message(400, "The form is none of \(forms.joined(separator: ", ")).")
        }
        do {
            let token = try tokens.media(
                resource, at: SandboxState.DeviceIdentity(provider: requestor, device: viewer), mvpd: mvpd,
                viewer: viewer, TestCard.chosen(for: resource, mvpd: mvpd), now: call.now.advanced(by: .seconds(-age)))
            let text = form.wrap(token.clearText, token.recipe)
            return SandboxAnswer(HTTPAnswer(200, type: "text/plain; charset=utf-8", body: Array(text.utf8)))
        } catch { return refuse(.signing) }
    }

    // MARK: Answers

    private func refuse(_ error: EnhancedError) -> SandboxAnswer { .json(error.status, error.json(trace: trace())) }

    private func trace() -> String { state.withLock { $0.random.identifier() } }
}

extension HTTPAnswer {
    /// Lets pages of any origin read the answer, as Adobe's service does.
    fileprivate mutating func allow(_ origin: String) {
        add("Access-Control-Allow-Origin", origin)
        add("Vary", "Origin")
        add("Access-Control-Allow-Methods", "POST,GET,OPTIONS,DELETE")
        add(
            "Access-Control-Allow-Headers",
            "Authorization,Content-Type,AP-Device-Identifier,AP-TempPass-Identity,X-Device-Info,AD-Service-Token")
    }
}

extension SandboxAnswer {
    /// Damages the answer, or makes it late, as a test card says.
    mutating func disturb(_ how: TestCard.Disturbance) {
        switch how {
        case .slow: delay += TestCard.slowMilliseconds
        case .unavailable: self = .html(503, "<html><body><h1>503 Service Unavailable</h1>Sandbox</body></html>\n")
        case .throttled: self = Throttle.answer
        case .truncated: answer.body.removeLast(answer.body.count / 2)
        }
    }
}
