internal import Basics
internal import HTTP
internal import MediaToken
internal import TokenCrypto
internal import TokenIssuer

/// The calls of older clients: REST v1's media token, and those that Adobe's SDKs make at `adobe-services`.
///
/// The SDKs' tokens are bound to a device. It is the parameter `device_id`, or a cookie that the login sets.
struct OlderProtocols: Sendable {
    private let decisions: Decisions
    private let tokens: MediaTokens
    private let inspector: TokenInspector

    /// Why a call fails.
    fileprivate struct Failure: Error {
        let status: Int
        let text: String

        init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }
    }

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
    func answer(_ call: PassCall, _ state: Guarded<SandboxState>, _ sessions: Sessions) -> SandboxAnswer? {
        do throws(Failure) {
            switch call.path {
            case ["api", "v1", "mediatoken"], ["api", "v1", "tokens", "media"]:
                guard call.method == "GET" else { throw Failure(405, "the method GET is expected") }
                return try mediaToken(call, state)
            case ["adobe-services", "authenticate", "saml"]: return try logIn(call, state, sessions)
            case ["adobe-services", "session"]: return try session(call, state)
            case ["adobe-services", "authorize"]: return try authorize(call, state)
            case ["adobe-services", "shortAuthorize"]: return try shortAuthorize(call, state)
            default: return nil
            }
        } catch {
            let details = "Sandbox: \(error.text)"
            if call.path[0] == "api", call.acceptsJSON {
                return .json(error.status, ["status": .number(Double(error.status)), "details": .text(details)])
            }
            return Self.xml(
                error.status,
                "<error><status>\(error.status)</status><details>\(xmlEscaped(details))</details></error>")
        }
    }

    /// Answers REST v1 with XML, or with JSON if the client accepts it.
    private func mediaToken(_ call: PassCall, _ state: Guarded<SandboxState>) throws(Failure) -> SandboxAnswer {
        let identity = SandboxState.DeviceIdentity(
            provider: try call.required("requestor"), device: try call.required("deviceId"))
        let resource = try call.required("resource")
        let (mvpd, profile) = try login(at: identity, state, now: call.now)
        let isJSON = call.acceptsJSON
        return try play(resource, mvpd, profile, at: identity, now: call.now) { token in
            let wrapping = isJSON ? TokenWrapping.v1JSON : .v1XML
            let body = wrapping.wrap(token.clearText, token.recipe)
            return HTTPAnswer(200, type: isJSON ? "application/json" : "application/xml", body: Array(body.utf8))
        }
    }

    /// Sends the browser to the login page of an MVPD, with a session of its own.
    private func logIn(
        _ call: PassCall, _ state: Guarded<SandboxState>, _ sessions: Sessions
    ) throws(Failure) -> SandboxAnswer {
        let (requestor, mvpd) = (try call.required("requestor_id"), try call.required("mso_id"))
        let back = call.parameter("redirect_url")
        guard back.map(Sessions.isRedirect) ?? true else { throw Failure(400, "redirect_url is not an absolute URL") }
        var (code, device) = ("", device(of: call) ?? "")
        state.withLock { state in
            code = state.freshCode(at: call.now)
            if device.isEmpty { device = state.random.identifier() }
            var session = sessions.make(at: .init(provider: requestor, device: device), &state, now: call.now)
            (session.mvpd, session.redirectURL) = (mvpd, back)
            state.sessions.set(code, session, until: session.end, at: call.now)
        }
        var answer = SandboxAnswer.redirect(to: MVPDPages.loginURL(code, of: requestor, call))
        answer.answer.add(
            "Set-Cookie", "\(Self.cookie)=\(PercentEncoding.encode(device)); Path=/; HttpOnly; SameSite=Lax")
        return answer
    }

    /// Hands out the AuthN token of the device's login.
    private func session(_ call: PassCall, _ state: Guarded<SandboxState>) throws(Failure) -> SandboxAnswer {
        let identity = try identity(of: call)
        let (mvpd, profile) = try login(at: identity, state, now: call.now)
        guard let token = try? tokens.authentication(at: identity, mvpd: mvpd, profile) else { throw Self.signing }
        return Self.xml(200, "<session><authnToken>\(xmlEscaped(token.clearText))</authnToken></session>")
    }

    /// Exchanges the AuthN token for the AuthZ token of a resource.
    private func authorize(_ call: PassCall, _ state: Guarded<SandboxState>) throws(Failure) -> SandboxAnswer {
        let (identity, resource) = (try identity(of: call), try call.required("resource_id"))
        let fields = try fields(of: call.required("authentication_token"), .authentication, at: identity, now: call.now)
        let mvpd = fields["simpleTokenMsoID"] ?? ""
        let profile = try login(at: identity, mvpd: mvpd, state, now: call.now)
        if let error = TestCard.chosen(for: resource, mvpd: mvpd)?.denial {
            throw Failure(error.status, error.details ?? error.message)
        }
        let end = decisions.end(at: call.now, within: profile.end)
        let token = try? tokens.authorization(
            resource, at: identity, mvpd: mvpd, viewer: profile.viewer, until: end, now: call.now)
        guard let token else { throw Self.signing }
        return Self.xml(
            200, "<authorization><authzToken>\(xmlEscaped(token.clearText))</authzToken></authorization>")
    }

    /// Exchanges the AuthZ token for a media token, in clear text.
    private func shortAuthorize(_ call: PassCall, _ state: Guarded<SandboxState>) throws(Failure) -> SandboxAnswer {
        let identity = try identity(of: call)
        let fields = try fields(of: call.required("authz_token"), .authorization, at: identity, now: call.now)
        let (mvpd, resource) = (fields["simpleTokenMsoID"] ?? "", fields["simpleTokenResourceID"] ?? "")
        let profile = try login(at: identity, mvpd: mvpd, state, now: call.now)
        return try play(resource, mvpd, profile, at: identity, now: call.now) { token in
            HTTPAnswer(200, type: "text/plain", body: Array(token.clearText.utf8))
        }
    }

    /// The answer with a media token, as the test card of the resource or the MVPD says.
    private func play(
        _ resource: String, _ mvpd: String, _ profile: SandboxState.Profile, at identity: SandboxState.DeviceIdentity,
        now: Timestamp, _ wrap: (MintedToken) -> HTTPAnswer
    ) throws(Failure) -> SandboxAnswer {
        let card = TestCard.chosen(for: resource, mvpd: mvpd)
        if let error = card?.denial { throw Failure(error.status, error.message) }
        let token = try? tokens.media(resource, at: identity, mvpd: mvpd, viewer: profile.viewer, card, now: now)
        guard let token else { throw Self.signing }
        var answer = SandboxAnswer(wrap(token))
        if let how = card?.disturbance { answer.disturb(how) }
        return answer
    }

    private static let signing = Failure(500, "a token could not be signed")

    /// The fields of a token of this sandbox, if it is of the kind, and bound to the place, and has not expired.
    private func fields(
        of token: String, _ kind: TokenKind, at identity: SandboxState.DeviceIdentity, now: Timestamp
    ) throws(Failure) -> [String: String] {
        var questions = TokenInspector.Questions(now: now)
        (questions.requestor, questions.device) = (RequestorID(identity.provider), identity.device)
        questions.time = .at(now)
        let examination = inspector.inspect(RawToken(token), asking: questions)
        if let failure = examination.firstFailure { throw Failure(401, failure.detail) }
        guard examination.kind == kind else { throw Failure(401, "the token is of another kind") }
        return Dictionary(examination.fields.map { ($0.name, $0.text) }) { first, _ in first }
    }

    /// The device's login with this MVPD; when it has ended, its tokens are worth nothing either.
    private func login(
        at identity: SandboxState.DeviceIdentity, mvpd: String, _ state: Guarded<SandboxState>, now: Timestamp
    ) throws(Failure) -> SandboxState.Profile {
        guard let profile = state.withLock({ try? decisions.profile(mvpd, at: identity, $0, now: now) }) else {
            throw Failure(401, "the login of this token has ended")
        }
        return profile
    }

    /// The latest login of the device.
    private func login(
        at identity: SandboxState.DeviceIdentity, _ state: Guarded<SandboxState>, now: Timestamp
    ) throws(Failure) -> (mvpd: String, SandboxState.Profile) {
        let profiles = state.withLock { $0.profiles(at: identity, now: now) }.filter { $1.end > now }
        guard let latest = profiles.max(by: { $0.value.start < $1.value.start }) else {
            throw Failure(403, "nobody has logged in on this device")
        }
        return (latest.key, latest.value)
    }

    private func identity(of call: PassCall) throws(Failure) -> SandboxState.DeviceIdentity {
        guard let device = device(of: call) else {
            throw Failure(400, "device_id or the cookie of a login is expected")
        }
        return SandboxState.DeviceIdentity(provider: try call.required("requestor_id"), device: device)
    }

    private static let cookie = "sandbox_device"

    private func device(of call: PassCall) -> String? {
        if let device = call.parameter("device_id") { return device }
        let pairs = call.header("cookie")?.split(separator: ";") ?? []
        let value = pairs.map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(Self.cookie)=") }
        return value.flatMap { value in
            PassCall.decoded(Array(value.utf8.dropFirst(Self.cookie.utf8.count + 1))[...], plus: UInt8(ascii: "+"))
        }
    }

    private static func xml(_ status: Int, _ document: String) -> SandboxAnswer {
        let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
        return SandboxAnswer(HTTPAnswer(status, type: "application/xml", body: Array((declaration + document).utf8)))
    }
}

extension PassCall {
    /// Whether a client of REST v1 asks for JSON, not XML.
    fileprivate var acceptsJSON: Bool { header("accept")?.contains("json") ?? false }

    fileprivate func required(_ name: String) throws(OlderProtocols.Failure) -> String {
        guard let value = parameter(name) else { throw .init(400, "the parameter \(name) is expected") }
        return value
    }
}

extension TestCard {
    /// The error of a card that denies the resource, or makes the whole call fail.
    fileprivate var denial: EnhancedError? { if case .deny(let error) = effect { error } else { failure } }
}
