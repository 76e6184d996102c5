internal import TextEncodings
internal import Timestamps

/// Authentication sessions: from the code that a device shows to the MVPD's login page.
struct Sessions: Sendable {
    let settings: SandboxSettings

    /// Answers `POST /api/v2/{sp}/sessions`.
    func create(_ call: PassCall, at place: SandboxState.Place, _ state: inout SandboxState, now: Timestamp)
        -> SandboxAnswer
    {
        let session = SandboxState.Session(id: state.random.identifier(), place: place, start: now)
        return proceed(session, state.freshCode(at: now), with: call, &state, now: now, isNew: true)
    }

    /// Answers `POST /api/v2/{sp}/sessions/{code}`.
    func resume(
        _ code: String, of provider: String, _ call: PassCall, _ state: inout SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        let session = try find(code, of: provider, state, now: now)
        return proceed(session, code, with: call, &state, now: now, isNew: false)
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

    /// The session of this provider that the code belongs to.
    func find(
        _ code: String, of provider: String, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxState.Session {
        guard let session = state.sessions.value(code, at: now)?.value, session.place.provider == provider else {
            throw .code
        }
        return session
    }

    /// Takes what the call adds to the session, and tells the client what is next.
    private func proceed(
        _ given: SandboxState.Session, _ code: String, with call: PassCall, _ state: inout SandboxState,
        now: Timestamp, isNew: Bool
    ) -> SandboxAnswer {
        var session = given
        session.mvpd = call.parameter("mvpd") ?? session.mvpd
        session.domain = call.parameter("domainName") ?? session.domain
        session.redirectURL = call.parameter("redirectUrl") ?? session.redirectURL
        let provider = session.place.provider
        var members: [JSONName: JSONValue] = ["sessionId": .text(session.id), "serviceProvider": .text(provider)]
        members["mvpd"] = session.mvpd.map { .text($0) }
        if let mvpd = session.mvpd, let reason = reason(mvpd, session, state, now: now) {
            members["actionName"] = "authorize"
            members["actionType"] = "direct"
            members["reasonType"] = .text(reason)
            members["url"] = .text("/api/v2/\(escaped(provider))/decisions/authorize/\(escaped(mvpd))")
            if !isNew { members["code"] = .text(code) }
            return .json(200, .object(members))
        }
        let end = session.start.advanced(byMilliseconds: settings.sessionSeconds * 1000)
        state.sessions.set(code, session, until: end, at: now)
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

    /// Why no login is needed; `nil` if one is.
    private func reason(_ mvpd: String, _ session: SandboxState.Session, _ state: SandboxState, now: Timestamp)
        -> String?
    {
        if TemporaryAccess.isTemporary(mvpd) { return "temporary" }
        return state.profiles[session.place]?[mvpd].flatMap { $0.end > now ? "authenticated" : nil }
    }

    /// The times between which the code is valid, as strings, which Adobe's answers have here.
    private func validity(_ session: SandboxState.Session) -> [JSONName: JSONValue] {
        let start = session.start.milliseconds
        return [
            "notBefore": .text("\(start)"), "notAfter": .text("\(start + settings.sessionSeconds * 1000)"),
        ]
    }

    private func escaped(_ id: String) -> String { PercentEncoding.encode(id) }
}
