internal import HTTPMessages
internal import MediaToken
internal import TextEncodings
internal import Threading
internal import Timestamps
internal import TokenCrypto
internal import TokenIssuer

/// The calls of older clients: REST v1's media token, and those that Adobe's SDKs make at `adobe-services`.
///
/// The SDKs' tokens are bound to a device. It is the parameter `device_id`, or a cookie that the login sets.
struct OlderProtocols: Sendable {
    private let decisions: Decisions
    private let tokens: MediaTokens
    private let inspector: TokenInspector

    init(decisions: Decisions, tokens: MediaTokens, keys: SandboxKeys) throws(CryptoError) {
        (self.decisions, self.tokens) = (decisions, tokens)
        do {
            let requirements = KeyRequirements(minimumRSABits: KeyRequirements.lowestMinimumRSABits)
            inspector = TokenInspector(
                keys: try KeyRing(
                    loading: [], unsafelyTrusting: keys.first.publicKey, password: nil, requirements: requirements))
        } catch { throw .libcrypto("\(error)") }
    }

    /// Answers the call; `nil` for one that is none of these.
    func answer(_ call: PassCall, _ state: Guarded<SandboxState>, _ sessions: Sessions, now: Timestamp)
        -> SandboxAnswer?
    {
        switch call.path {
        case ["api", "v1", "mediatoken"], ["api", "v1", "tokens", "media"]: mediaToken(call, state, now: now)
        case ["adobe-services", "authenticate", "saml"]: logIn(call, state, sessions, now: now)
        case ["adobe-services", "session"]: session(call, state, now: now)
        case ["adobe-services", "authorize"]: authorize(call, state, now: now)
        case ["adobe-services", "shortAuthorize"]: shortAuthorize(call, now: now)
        default: nil
        }
    }

    /// Answers REST v1 with XML, or with JSON if the client accepts it.
    private func mediaToken(_ call: PassCall, _ state: Guarded<SandboxState>, now: Timestamp) -> SandboxAnswer {
        guard let requestor = call.parameter("requestor"), let device = call.parameter("deviceId"),
            let resource = call.parameter("resource")
        else { return Self.error(400, "requestor, deviceId and resource are expected") }
        let place = SandboxState.Place(provider: requestor, device: device)
        guard let (mvpd, profile) = login(at: place, state, now: now) else {
            return Self.error(403, "nobody has logged in on this device")
        }
        let card = TestCard.chosen(by: resource) ?? TestCard.chosen(by: mvpd)
        if let error = card?.denial { return Self.error(error.status, error.message) }
        guard let token = try? tokens.media(resource, at: place, mvpd: mvpd, viewer: profile.viewer, card, now: now)
        else {
            return Self.error(500, "cannot sign")
        }
        let isJSON = call.header("accept")?.contains("json") ?? false
        let wrapping = isJSON ? TokenWrapping.v1JSON : .v1XML
        return SandboxAnswer(
            HTTPAnswer(
                200, type: isJSON ? "application/json" : "application/xml",
                body: Array(wrapping.wrap(token.clearText, token.recipe).utf8)))
    }

    /// Sends the browser to the login page of an MVPD, with a session of its own.
    private func logIn(_ call: PassCall, _ state: Guarded<SandboxState>, _ sessions: Sessions, now: Timestamp)
        -> SandboxAnswer
    {
        guard let requestor = call.parameter("requestor_id"), let mvpd = call.parameter("mso_id") else {
            return Self.error(400, "requestor_id and mso_id are expected")
        }
        var code = ""
        var device = device(of: call) ?? ""
        state.withLock { state in
            code = state.freshCode(at: now)
            if device.isEmpty { device = state.random.identifier() }
            let place = SandboxState.Place(provider: requestor, device: device)
            var session = SandboxState.Session(id: state.random.identifier(), place: place, start: now)
            (session.mvpd, session.redirectURL) = (mvpd, call.parameter("redirect_url"))
            let end = now.advanced(byMilliseconds: sessions.settings.sessionSeconds * 1000)
            state.sessions.set(code, session, until: end, at: now)
        }
        var answer = SandboxAnswer.redirect(to: MVPDPages.loginURL(code, of: requestor, call))
        answer.answer.add("Set-Cookie", "\(Self.cookie)=\(PercentEncoding.encode(device)); Path=/; HttpOnly")
        return answer
    }

    /// Hands out the AuthN token of the device's login.
    private func session(_ call: PassCall, _ state: Guarded<SandboxState>, now: Timestamp) -> SandboxAnswer {
        guard let requestor = call.parameter("requestor_id"), let device = device(of: call) else {
            return Self.error(400, "requestor_id and a device are expected")
        }
        let place = SandboxState.Place(provider: requestor, device: device)
        guard let (mvpd, profile) = login(at: place, state, now: now) else {
            return Self.error(401, "nobody has logged in on this device")
        }
        guard let token = try? tokens.authentication(at: place, mvpd: mvpd, profile) else {
            return Self.error(500, "cannot sign")
        }
        return Self.xml(200, "<session><authnToken>\(Self.escaped(token.clearText))</authnToken></session>")
    }

    /// Exchanges the AuthN token for the AuthZ token of a resource.
    private func authorize(_ call: PassCall, _ state: Guarded<SandboxState>, now: Timestamp) -> SandboxAnswer {
        guard let requestor = call.parameter("requestor_id"), let device = device(of: call),
            let resource = call.parameter("resource_id"), let token = call.parameter("authentication_token")
        else { return Self.error(400, "requestor_id, resource_id, authentication_token and a device are expected") }
        let place = SandboxState.Place(provider: requestor, device: device)
        switch fields(of: token, .authentication, at: place, now: now) {
        case .failure(let reason): return Self.error(401, reason.text)
        case .success(let fields):
            let mvpd = fields["simpleTokenMsoID"] ?? ""
            // The device is what the token was bound to; a login that has ended is gone for its tokens too.
            guard let profile = state.withLock({ try? decisions.profile(mvpd, at: place, $0, now: now) }) else {
                return Self.error(401, "the login of this token has ended")
            }
            let card = TestCard.chosen(by: resource) ?? TestCard.chosen(by: mvpd)
            if let error = card?.denial { return Self.error(error.status, error.details ?? error.message) }
            let token = try? tokens.authorization(resource, at: place, mvpd: mvpd, viewer: profile.viewer, now: now)
            guard let token else { return Self.error(500, "cannot sign") }
            return Self.xml(
                200, "<authorization><authzToken>\(Self.escaped(token.clearText))</authzToken></authorization>")
        }
    }

    /// Exchanges the AuthZ token for a media token, in clear text.
    private func shortAuthorize(_ call: PassCall, now: Timestamp) -> SandboxAnswer {
        guard let requestor = call.parameter("requestor_id"), let device = device(of: call),
            let token = call.parameter("authz_token")
        else { return Self.error(400, "requestor_id, authz_token and a device are expected") }
        let place = SandboxState.Place(provider: requestor, device: device)
        switch fields(of: token, .authorization, at: place, now: now) {
        case .failure(let reason): return Self.error(401, reason.text)
        case .success(let fields):
            let (mvpd, resource) = (fields["simpleTokenMsoID"] ?? "", fields["simpleTokenResourceID"] ?? "")
            let card = TestCard.chosen(by: resource) ?? TestCard.chosen(by: mvpd)
            let token = try? tokens.media(
                resource, at: place, mvpd: mvpd, viewer: call.parameter("session_guid") ?? device, card, now: now)
            guard let token else { return Self.error(500, "cannot sign") }
            return SandboxAnswer(HTTPAnswer(200, type: "text/plain", body: Array(token.clearText.utf8)))
        }
    }

    private struct Reason: Error {
        let text: String
    }

    /// The fields of a token of this sandbox, if it is of the kind, and bound to the place, and has not expired.
    private func fields(of token: String, _ kind: TokenKind, at place: SandboxState.Place, now: Timestamp)
        -> Result<[String: String], Reason>
    {
        var questions = TokenInspector.Questions(now: now)
        (questions.requestor, questions.device) = (RequestorID(place.provider), place.device)
        questions.time = .at(now)
        let examination = inspector.inspect(RawToken(token), asking: questions)
        if let failure = examination.firstFailure { return .failure(Reason(text: failure.detail)) }
        guard examination.kind == kind else { return .failure(Reason(text: "the token is of another kind")) }
        return .success(Dictionary(examination.fields.map { ($0.name, $0.text) }) { first, _ in first })
    }

    private func login(at place: SandboxState.Place, _ state: Guarded<SandboxState>, now: Timestamp)
        -> (mvpd: String, SandboxState.Profile)?
    {
        let profiles = state.withLock { $0.profiles[place] ?? [:] }
        return profiles.filter { $1.end > now }.max { $0.value.start < $1.value.start }.map { ($0.key, $0.value) }
    }

    private static let cookie = "sandbox_device"

    private func device(of call: PassCall) -> String? {
        if let device = call.parameter("device_id") { return device }
        let pairs = call.header("cookie")?.split(separator: ";") ?? []
        let value = pairs.map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(Self.cookie)=") }
        return value.flatMap { value in
            let bytes = Array(value.utf8.dropFirst(Self.cookie.utf8.count + 1))
            return (try? PercentEncoding.decode(bytes[...])).flatMap { String(utf8: $0) }
        }
    }

    private static func error(_ status: Int, _ details: String) -> SandboxAnswer {
        xml(status, "<error><status>\(status)</status><details>Sandbox: \(escaped(details))</details></error>")
    }

    private static func xml(_ status: Int, _ document: String) -> SandboxAnswer {
        let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
        return SandboxAnswer(HTTPAnswer(status, type: "application/xml", body: Array((declaration + document).utf8)))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension TestCard {
    /// The error of a card that denies or refuses.
    fileprivate var denial: EnhancedError? {
        switch effect {
        case .deny(let error), .refuse(let error): error
        case .disturb, .token, .key, .forge: nil
        }
    }
}
