package import HTTPMessages
internal import TextEncodings
internal import Threading
package import Timestamps
package import TokenCrypto

/// A stand-in for Adobe Pass: answers REST v2, what is still in use of the older protocols, and the pages of a pretend MVPD.
///
/// It does no input or output, and reads no clock: a server hands requests in, and sends the answers when their delay is over. Any
/// thread may ask. Every service provider and every MVPD is known; names that are test cards choose a behaviour.
package final class SandboxService: Sendable {
    private let settings: SandboxSettings
    private let state: Guarded<SandboxState>
    private let registration: Registration
    private let sessions: Sessions
    private let profiles: Profiles
    private let decisions: Decisions
    private let pages = MVPDPages()
    private let older: OlderProtocols
    private let files: [(name: String, bytes: [UInt8])]

    package init(_ keys: SandboxKeys, _ settings: SandboxSettings) throws(CryptoError) {
        var random = SandboxRandom(seed: settings.seed)
        let secret = (0..<4).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        registration = try Registration(secret: secret, lifetimeSeconds: settings.bearerSeconds)
        let temporary = TemporaryAccess(settings: settings)
        let tokens = try MediaTokens(keys, settings, secret: secret)
        (sessions, profiles) = (Sessions(settings: settings), Profiles(temporary: temporary))
        decisions = Decisions(settings: settings, temporary: temporary, tokens: tokens)
        older = try OlderProtocols(decisions: decisions, tokens: tokens, keys: keys)
        files = try keys.files()
        (self.settings, state) = (settings, Guarded(SandboxState(random: random)))
    }

    /// Answers a request that came at `machineTime`, by the clock of the sandbox.
    package func answer(_ request: HTTPRequest, at machineTime: Timestamp) -> SandboxAnswer {
        let now = machineTime.advanced(byMilliseconds: settings.clockMilliseconds)
        guard let call = PassCall(request) else { return pages.message(400, "The request cannot be decoded.") }
        var answer = route(call, now: now)
        if settings.latencyMilliseconds.upperBound > 0 {
            answer.delay += state.withLock { settings.latencyMilliseconds.randomElement(using: &$0.random) ?? 0 }
        }
        if let origin = call.header("origin") { answer.answer.allow(origin) }
        return answer
    }

    private func route(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        if call.method == "OPTIONS" { return SandboxAnswer(HTTPAnswer(204)) }
        let isThrottled = settings.throttles && ["o", "api", "adobe-services"].contains(call.path.first)
        if isThrottled, state.withLock({ Throttle.refuses(call.address, &$0, now: now) }) { return Throttle.answer }
        switch (call.method, call.path.first, call.path.dropFirst().first) {
        case ("POST", "o", "client"): return register(call, now: now)
        case ("GET", "api", "v2") where call.path.count == 5 && call.path[2] == "authenticate":
            return authenticate(call.path[4], of: call.path[3], call, now: now)
        case (_, "api", "v2"): return callAPI(call, now: now)
        case (_, "api", "v1"), (_, "adobe-services", _): return callOlder(call, now: now)
        case (_, "mvpd", _): return callMVPD(call, now: now)
        case ("GET", "sandbox", "keys"): return key(call)
        case ("GET", "healthz", nil):
            return SandboxAnswer(HTTPAnswer(200, type: "text/plain", body: Array("ok\n".utf8)))
        case ("GET", nil, _):
            return pages.message(200, "This is a sandbox that plays Adobe Pass. Its keys are below /sandbox/keys/.")
        default: return pages.message(404, "The sandbox has no \(call.method) /\(call.path.joined(separator: "/")).")
        }
    }

    private func register(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        state.withLock { state in
            switch call.path.dropFirst(2).first {
            case "register": registration.register(call, &state, at: now)
            case "token": registration.token(call, &state, at: now)
            default: pages.message(404, "The sandbox has /o/client/register and /o/client/token.")
            }
        }
    }

    /// Sends the browser of a viewer from the session's address to the login page of the MVPD.
    private func authenticate(_ code: String, of provider: String, _ call: PassCall, now: Timestamp) -> SandboxAnswer {
        guard state.withLock({ try? sessions.find(code, of: provider, $0, now: now) }) != nil else {
            return pages.message(400, "No session has the code \(code).")
        }
        return .redirect(to: MVPDPages.loginURL(code, of: provider, call))
    }

    // MARK: REST v2

    private func callAPI(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        guard call.path.count >= 4 else { return refuse(.serviceProvider) }
        guard registration.permits(call, at: now) else { return refuse(.accessToken) }
        do throws(EnhancedError) {
            return try answerAPI(call, of: call.path[2], Array(call.path.dropFirst(3)), now: now)
        } catch { return refuse(error) }
    }

    private func answerAPI(
        _ call: PassCall, of provider: String, _ rest: [String], now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        switch (call.method, rest[0], rest.count) {
        case ("GET", "configuration", 1): return Configuration.answer(provider, now: now)
        case ("POST", "sessions", 2):
            return try state.withLock { (state) throws(EnhancedError) in
                try sessions.resume(rest[1], of: provider, call, &state, now: now)
            }
        case ("GET", "sessions", 2):
            return try state.withLock { (state) throws(EnhancedError) in
                try sessions.show(rest[1], of: provider, state, now: now)
            }
        case ("GET", "profiles", 3) where rest[1] == "code": return try profile(of: rest[2], provider, call, now: now)
        case ("POST", "sessions", 1), ("GET", "profiles", 1...2), ("POST", "decisions", 3), ("GET", "logout", 2):
            guard let device = call.device else { throw .device }
            return try answerDevice(call, rest, at: .init(provider: provider, device: device), now: now)
        case (_, "configuration", 1), (_, "sessions", 1...2), (_, "profiles", 1...3), (_, "decisions", 3),
            (_, "logout", 2):
            throw .method
        default: return pages.message(404, "REST v2 has no \(call.method) /\(call.path.joined(separator: "/")).")
        }
    }

    private func answerDevice(
        _ call: PassCall, _ rest: [String], at place: SandboxState.Place, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        switch rest[0] {
        case "sessions":
            return try state.withLock { (state) throws(EnhancedError) in
                try sessions.create(call, at: place, &state, now: now)
            }
        case "profiles":
            return try state.withLock { (state) throws(EnhancedError) in
                try profiles.show(call, at: place, mvpd: rest.dropFirst().first, state, now: now)
            }
        case "logout": return logOut(of: rest[1], call, at: place, now: now)
        default: return try decide(rest[1], call, mvpd: rest[2], at: place, now: now)
        }
    }

    /// The profile that a device waits for while its viewer logs in elsewhere: none until then.
    private func profile(
        of code: String, _ provider: String, _ call: PassCall, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        try state.withLock { (state) throws(EnhancedError) in
            let session = try sessions.find(code, of: provider, state, now: now)
            return try profiles.show(call, at: session.place, mvpd: session.mvpd ?? "", state, now: now)
        }
    }

    private func decide(
        _ name: String, _ call: PassCall, mvpd: String, at place: SandboxState.Place, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        guard let kind = Decisions.Kind(rawValue: name) else {
            return pages.message(404, "REST v2 has no decisions '\(name)'.")
        }
        let resources = try decisions.resources(call)
        let cards = resources.compactMap { TestCard.chosen(for: $0, mvpd: mvpd) }
        if let failure = cards.lazy.compactMap(\.failure).first { throw failure }
        let decided = try state.withLock { (state) throws(EnhancedError) in
            try decisions.decide(kind, resources, mvpd: mvpd, at: place, call, &state, now: now)
        }
        var answer: SandboxAnswer
        do {
            answer = try decisions.answer(kind, decided, mvpd: mvpd, at: place, now: now, traces: trace)
        } catch { throw .signing }
        if let how = cards.lazy.compactMap(\.disturbance).first { answer.disturb(how) }
        return answer
    }

    /// Ends the login with an MVPD, whose own logout page a browser must open next.
    private func logOut(
        of mvpd: String, _ call: PassCall, at place: SandboxState.Place, now: Timestamp
    ) -> SandboxAnswer {
        let wasLoggedIn = state.withLock { $0.setProfile(nil, of: mvpd, at: place, now: now) }
        var logout: [JSONName: JSONValue] = ["mvpd": .text(mvpd), "actionType": "none"]
        if wasLoggedIn {
            let back = PercentEncoding.encode(call.parameter("redirectUrl") ?? "")
            logout["actionName"] = "logout"
            logout["actionType"] = "interactive"
            logout["url"] = .text("/mvpd/logout?redirect_url=\(back)")
        } else {
            logout["actionName"] = TemporaryAccess.isTemporary(mvpd) ? "complete" : "invalid"
        }
        return .json(200, ["logouts": [JSONName(mvpd): .object(logout)]])
    }

    // MARK: The others

    private func callOlder(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        older.answer(call, state, sessions, now: now)
            ?? pages.message(404, "The sandbox does not have this older call.")
    }

    private func callMVPD(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        let back = call.parameter("redirect_url")
        switch (call.method, call.path.dropFirst().first) {
        case ("GET", "login"), ("POST", "login"):
            guard let code = call.parameter("code"), let provider = call.parameter("provider") else {
                return pages.message(400, "The login has no code.")
            }
            return state.withLock { state in
                guard let session = try? sessions.find(code, of: provider, state, now: now), !session.isUsed else {
                    return pages.message(400, "The session has expired, or somebody has logged in with it.")
                }
                return call.method == "GET"
                    ? pages.login(code, session) : logIn(code, session, call, &state, now: now)
            }
        case ("GET", "logout"):
            guard let back else { return pages.message(200, "You are logged out.") }
            return Sessions.isRedirect(back)
                ? .redirect(to: back) : pages.message(400, "The address to go back to is none.")
        default: return pages.message(404, "The pretend MVPD has /mvpd/login and /mvpd/logout.")
        }
    }

    private func logIn(
        _ code: String, _ given: SandboxState.Session, _ call: PassCall, _ state: inout SandboxState, now: Timestamp
    ) -> SandboxAnswer {
        var session = given
        if call.parameter("cancel") == nil {
            guard let viewer = call.parameter("user"), call.parameter("password") != MVPDPages.wrongPassword else {
                return pages.login(code, session, problem: "This name or password is wrong.")
            }
            let mvpd = session.mvpd ?? call.parameter("mvpd") ?? MVPDPages.offered[0]
            (session.mvpd, session.isUsed) = (mvpd, true)
            state.sessions.set(code, session, until: session.end, at: now)
            let end = now.advanced(byMilliseconds: settings.profileSeconds * 1000)
            let profile = SandboxState.Profile(viewer: viewer, start: now, end: end)
            state.setProfile(profile, of: mvpd, at: session.place, now: now)
        }
        return session.redirectURL.map { .redirect(to: $0) }
            ?? pages.message(200, "You are logged in. Go back to your other screen.")
    }

    private func key(_ call: PassCall) -> SandboxAnswer {
        guard let file = files.first(where: { $0.name == call.path.last }) else {
            return pages.message(404, "The keys are \(files.map(\.name).joined(separator: ", ")).")
        }
        return SandboxAnswer(HTTPAnswer(200, type: "application/octet-stream", body: file.bytes))
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
