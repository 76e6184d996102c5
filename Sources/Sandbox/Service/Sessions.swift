internal import Basics

/// Authentication sessions: from the code that a device shows to the MVPD's login page.
struct Sessions: Sendable {
    let settings: SandboxSettings

    /// Answers `POST /api/v2/{sp}/sessions`.
    func create(
        _ call: PassCall, at identity: SandboxState.DeviceIdentity, _ state: inout SandboxState
    ) throws(EnhancedError) -> SandboxAnswer {
        let session = make(at: identity, &state, now: call.now)
        return try proceed(session, state.freshCode(at: call.now), with: call, &state, isNew: true)
    }

    /// Answers `POST /api/v2/{sp}/sessions/{code}`.
    func resume(
        _ code: String, of provider: String, _ call: PassCall, _ state: inout SandboxState
    ) throws(EnhancedError) -> SandboxAnswer {
        let session = try find(code, of: provider, state, now: call.now)
        return try proceed(session, code, with: call, &state, isNew: false)
    }

    /// Answers `GET /api/v2/{sp}/sessions/{code}`.
    func show(
        _ code: String, of provider: String, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        let session = try find(code, of: provider, state, now: now)
        var existing: [JSONName: JSONValue] = ["serviceProvider": .text(provider)]
        existing["mvpd"] = session.mvpd.map { .text($0) }
        existing["domain"] = session.domain.map { .text($0) }
        existing["redirectUrl"] = session.redirectURL.map { .text($0) }
        var members = validity(session)
        members["existingParameters"] = .object(existing)
        if !session.missing.isEmpty { members["missingParameters"] = .texts(session.missing) }
        members["device"] = ["type": "sandbox", "model": .null]
        return .json(200, .object(members))
    }

    /// A session that has no parameters yet.
    func make(at identity: SandboxState.DeviceIdentity, _ state: inout SandboxState, now: Timestamp)
        -> SandboxState.Session
    {
        let end = now.advanced(byMilliseconds: settings.sessionSeconds * 1000)
        return SandboxState.Session(id: state.random.identifier(), identity: identity, start: now, end: end)
    }

    /// The session of this provider that the code belongs to.
    func find(
        _ code: String, of provider: String, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxState.Session {
        guard let session = state.sessions.value(code, at: now)?.value, session.identity.provider == provider else {
            throw .code
        }
        return session
    }

    /// Takes what the call adds to the session, and tells the client what is next.
    private func proceed(
        _ given: SandboxState.Session, _ code: String, with call: PassCall, _ state: inout SandboxState,
        isNew: Bool
    ) throws(EnhancedError) -> SandboxAnswer {
        var session = given
        if let url = call.parameter("redirectUrl"), !Self.isRedirect(url) { throw .redirectURL }
        // After the login, somebody else who has seen the code can change nothing.
        if !session.isUsed {
            session.mvpd = call.parameter("mvpd") ?? session.mvpd
            session.domain = call.parameter("domainName") ?? session.domain
            session.redirectURL = call.parameter("redirectUrl") ?? session.redirectURL
        }
        let provider = session.identity.provider
        var members: [JSONName: JSONValue] = ["sessionId": .text(session.id), "serviceProvider": .text(provider)]
        members["mvpd"] = session.mvpd.map { .text($0) }
        // A first screen that polls must find the login that made this one needless.
        if !isNew { state.sessions.set(code, session, until: session.end, at: call.now) }
        if let mvpd = session.mvpd, let reason = reason(mvpd, session, state, now: call.now) {
            members["actionName"] = "authorize"
            members["actionType"] = "direct"
            members["reasonType"] = .text(reason)
            members["url"] = .text("/api/v2/\(escaped(provider))/decisions/authorize/\(escaped(mvpd))")
            if !isNew { members["code"] = .text(code) }
            return .json(200, .object(members))
        }
        state.sessions.set(code, session, until: session.end, at: call.now)
        members.merge(validity(session)) { $1 }
        members["code"] = .text(code)
        members["reasonType"] = "none"
        if session.missing.isEmpty {
            members["actionName"] = "authenticate"
            members["actionType"] = "interactive"
            members["url"] = .text("/api/v2/authenticate/\(escaped(provider))/\(code)")
        } else {
            members["actionName"] = .text(isNew ? "resume" : "retry")
            members["actionType"] = "direct"
            members["missingParameters"] = .texts(session.missing)
            members["url"] = .text("/api/v2/\(escaped(provider))/sessions/\(code)")
        }
        return .json(200, .object(members))
    }

    /// Whether a browser may be sent to `url` after the login: a scheme that browsers do not execute (RFC 3986, 3.1)
    /// and `://`, for the web with a host behind it, all in visible ASCII that needs no quotes.
    static func isRedirect(_ url: String) -> Bool {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }),
            let mark = url.firstRange(of: "://")
        else { return false }
        let scheme = url[..<mark.lowerBound].lowercased()
        if ["http", "https"].contains(scheme), url[mark.upperBound...].first.map({ $0 == "/" }) ?? true {
            return false
        }
        return scheme.first.map { ("a"..."z").contains($0) } ?? false
            && scheme.utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
            && !["javascript", "data", "vbscript", "file", "blob", "view-source"].contains(scheme)
    }

    /// The reason, in the words of REST v2, why the client needs no login; `nil` if it needs one.
    private func reason(_ mvpd: String, _ session: SandboxState.Session, _ state: SandboxState, now: Timestamp)
        -> String?
    {
        if TemporaryAccess.isTemporary(mvpd) { return "temporary" }
        let profile = state.profiles(at: session.identity, now: now)[mvpd]
        return profile.flatMap { $0.end > now ? "authenticated" : nil }
    }

    /// The times between which the code is valid, as strings, which Adobe's answers have here.
    private func validity(_ session: SandboxState.Session) -> [JSONName: JSONValue] {
        ["notBefore": .text("\(session.start.milliseconds)"), "notAfter": .text("\(session.end.milliseconds)")]
    }

    private func escaped(_ id: String) -> String { PercentEncoding.encode(id) }
}
