internal import Basics
internal import HTTP
internal import MediaToken
internal import MediaTokenTesting
internal import TokenCrypto

/// The calls of older clients: REST v1's media token, and what Adobe's SDKs ask at `adobe-services` and `reggie`.
///
/// The SDKs' tokens are bound to a device. It is the parameter `device_id`, or a cookie that the login sets. A client
/// that accepts JSON gets JSON, and else XML where Adobe's service has it.
struct OlderProtocols: Sendable {
    private let state: Guarded<SandboxState>
    private let sessions: Sessions
    private let decisions: Decisions
    private let tokens: MediaTokens
    private let inspector: TokenInspector

    init(
        _ state: Guarded<SandboxState>, _ sessions: Sessions, _ decisions: Decisions, _ tokens: MediaTokens,
        _ keys: SandboxKeys
    ) throws(CryptoError) {
        (self.state, self.sessions, self.decisions, self.tokens) = (state, sessions, decisions, tokens)
        do {
            let requirements = KeyRequirements(minimumRSABits: KeyRequirements.lowestMinimumRSABits)
            inspector = TokenInspector(
                keys: try KeyRing(
                    loading: [], unsafelyTrusting: keys.first.publicKey, password: nil, requirements: requirements))
        } catch { throw .libcrypto("\(error)") }
    }

    /// Answers the call; `nil` for one that is none of these.
    func answer(_ call: PassCall) -> SandboxAnswer? {
        do throws(EnhancedError) {
            let path = call.path.dropFirst().joined(separator: "/")
            if call.path[0] != "api", !["GET", "POST"].contains(call.method) { throw .method }
            switch (call.path[0], path) {
            case ("api", "v1/mediatoken"), ("api", "v1/tokens/media"):
                guard call.method == "GET" else { throw .method }
                return try mediaToken(call)
            case ("adobe-services", "authenticate/saml"): return try logIn(call)
            case ("adobe-services", "session"): return try session(call)
            case ("adobe-services", "preauthorize"): return try preauthorize(call)
            case ("adobe-services", "authorize"): return try authorize(call)
            case ("adobe-services", "shortAuthorize"): return try shortAuthorize(call)
            case ("adobe-services", "logout"): return try logOut(call)
            case ("adobe-services", _) where call.path.count == 3 && call.path[1] == "config" && call.path[2] != "":
                return Configuration.answer(call.path[2], call, forSDK: true)
            case ("reggie", _) where call.path.count == 4 && path == "v1/\(call.path[2])/regcode" && call.path[2] != "":
                return try register(call.path[2], call)
            default: return nil
            }
        } catch {
            guard call.acceptsJSON else { return Self.xml(error.status, error.xml) }
            return .json(error.status, error.json(trace: state.withLock { $0.random.identifier() }))
        }
    }

    // MARK: REST v1

    /// Answers REST v1 with XML, or with JSON if the client accepts it.
    private func mediaToken(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let identity = SandboxState.DeviceIdentity(
            provider: try call.required("requestor"), device: try call.required("deviceId"))
        let resource = try call.required("resource")
        let (mvpd, profile) = try latestLogin(at: identity, now: call.now)
        let isJSON = call.acceptsJSON
        return try play(resource, mvpd, profile, at: identity, now: call.now) { token in
            let wrapping = isJSON ? TokenWrapping.v1JSON : .v1XML
            let body = wrapping.wrap(token.clearText, token.recipe)
            return HTTPAnswer(200, type: isJSON ? "application/json" : "application/xml", body: Array(body.utf8))
        }
    }

    // MARK: Logins of the SDKs

    /// Sends the browser to the login page of an MVPD, with a session of its own.
    private func logIn(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let (requestor, mvpd) = (try call.required("requestor_id"), try call.required("mso_id"))
        let back = call.parameter("redirect_url")
        guard back.map(Sessions.isRedirect) ?? true else { throw .redirectURL }
        let device = device(of: call) ?? state.withLock { $0.random.identifier() }
        let code = begin(at: .init(provider: requestor, device: device), mvpd, back, now: call.now)
        var answer = SandboxAnswer.redirect(to: MVPDPages.loginURL(code, of: requestor, call))
        answer.answer.add(
            "Set-Cookie", "\(Self.cookie)=\(PercentEncoding.encode(device)); Path=/; HttpOnly; SameSite=Lax")
        return answer
    }

    /// Gives a device without a browser a code, and the page on which its viewer logs in elsewhere.
    private func register(_ requestor: String, _ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let identity = SandboxState.DeviceIdentity(provider: requestor, device: try call.required("device_id"))
        let code = begin(at: identity, call.parameter("mso_id"), nil, now: call.now)
        return .json(200, ["code": .text(code), "url": .text(MVPDPages.loginURL(code, of: requestor, call))])
    }

    /// Begins a session, and returns its code.
    private func begin(
        at identity: SandboxState.DeviceIdentity, _ mvpd: String?, _ redirectURL: String?, now: Timestamp
    ) -> String {
        state.withLock { state in
            let code = state.freshCode(at: now)
            var session = sessions.make(at: identity, &state, now: now)
            (session.mvpd, session.redirectURL) = (mvpd, redirectURL)
            state.sessions.set(code, session, until: session.end, at: now)
            return code
        }
    }

    /// Hands out the AuthN token of a login of the device: that with the MVPD `mso_id`, that on a second screen with
    /// the code `reg_code`, or else the latest.
    ///
    /// The call may first make a login without the viewer: by the `authentication_token` of another programmer (passive
    /// authentication), or by the `system_provider` to which the viewer has logged in in the device's settings.
    private func session(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let identity = try identity(of: call)
        var login: (mvpd: String, profile: SandboxState.Profile)
        if let code = call.parameter("reg_code") {
            let session = try state.withLock { (state) throws(EnhancedError) in
                try sessions.find(code, of: identity.provider, state, now: call.now)
            }
            guard session.identity == identity else { throw .code }
            guard session.isUsed, let mvpd = session.mvpd else { throw .loginPending }
            login = (mvpd, try namedLogin(mvpd, at: identity, now: call.now))
        } else if call.parameter("authentication_token") != nil {
            login = try self.login(provenBy: call, isPassive: true)
            keep(login.profile, of: login.mvpd, at: identity, now: call.now)
        } else if let system = call.parameter("system_provider") {
            guard Configuration.provider(system, of: identity.provider)?.boarding == .supported else {
                throw .profileMissing
            }
            login = (system, decisions.settings.profile(of: "the viewer of the settings", from: call.now))
            keep(login.profile, of: login.mvpd, at: identity, now: call.now)
        } else if let mvpd = call.parameter("mso_id") {
            login = (mvpd, try namedLogin(mvpd, at: identity, now: call.now))
        } else {
            login = try latestLogin(at: identity, now: call.now)
        }
        let token = try sign {
            try tokens.authentication(at: identity, mvpd: login.mvpd, login.profile)
        }
        guard call.acceptsJSON else {
            return Self.xml(200, "<session><authnToken>\(xmlEscaped(token.clearText))</authnToken></session>")
        }
        return .json(
            200,
            AuthenticationToken(
                requestor: RequestorID(identity.provider), mvpd: MVPDID(login.mvpd), deviceID: identity.device,
                expiry: login.profile.end, text: token.clearText,
                metadata: ["userID": login.profile.viewer, "upstreamUserID": login.profile.viewer]
            ).json)
    }

    /// Ends the device's login with an MVPD, or its logins with all, and sends a browser on to the MVPD's own logout
    /// page if there was one.
    private func logOut(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let (identity, back) = (try identity(of: call), call.parameter("redirect_url"))
        guard back.map(Sessions.isRedirect) ?? true else { throw .redirectURL }
        let wasLoggedIn = state.withLock { state in
            let mvpds = call.parameter("mso_id").map { [$0] } ?? Array(state.profiles(at: identity, now: call.now).keys)
            return mvpds.map { state.setProfile(nil, of: $0, at: identity, now: call.now) }.contains(true)
        }
        guard let back else { return .json(200, ["loggedOut": .boolean(wasLoggedIn)]) }
        return .redirect(to: wasLoggedIn ? "/mvpd/logout?redirect_url=\(PercentEncoding.encode(back))" : back)
    }

    // MARK: Decisions for the SDKs

    /// Tells which of the resources would be authorized, for the lists of an app.
    private func preauthorize(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let mvpd = try login(provenBy: call).mvpd
        let permitted = call.values("resource_id").filter { TestCard.chosen(for: $0, mvpd: mvpd)?.denial == nil }
        return .json(200, ["resources": .texts(permitted)])
    }

    /// Exchanges the AuthN token for the AuthZ token of a resource.
    private func authorize(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let (identity, resource) = (try identity(of: call), try call.required("resource_id"))
        let (mvpd, profile) = try login(provenBy: call)
        if let error = TestCard.chosen(for: resource, mvpd: mvpd)?.denial { throw error }
        let end = decisions.end(at: call.now, within: profile.end)
        let token = try sign {
            try tokens.authorization(
                resource, at: identity, mvpd: mvpd, viewer: profile.viewer, until: end, now: call.now)
        }
        guard call.acceptsJSON else {
            return Self.xml(
                200, "<authorization><authzToken>\(xmlEscaped(token.clearText))</authzToken></authorization>")
        }
        return .json(
            200,
            AuthorizationToken(
                requestor: RequestorID(identity.provider), resource: ResourceID(resource), mvpd: MVPDID(mvpd),
                expiry: end, text: token.clearText
            ).json)
    }

    /// Exchanges the AuthZ token for a media token, in clear text unless the client accepts JSON.
    private func shortAuthorize(_ call: PassCall) throws(EnhancedError) -> SandboxAnswer {
        let identity = try identity(of: call)
        let fields = try fields(
            of: call.required("authz_token"), .authorization, of: identity.provider, on: identity.device, now: call.now)
        let (mvpd, resource) = (fields["simpleTokenMsoID"] ?? "", fields["simpleTokenResourceID"] ?? "")
        var profile: SandboxState.Profile
        if call.parameter("authentication_token") == nil {
            profile = try self.profile(mvpd, at: identity, now: call.now)
        } else {
            // The login may be another programmer's, but is with the MVPD that has authorized the resource.
            let login = try login(provenBy: call)
            guard login.mvpd == mvpd else { throw .invalidated("the login is with \(login.mvpd), not with \(mvpd)") }
            profile = login.profile
        }
        let isJSON = call.acceptsJSON
        return try play(resource, mvpd, profile, at: identity, now: call.now) { token in
            isJSON
                ? SandboxAnswer.json(200, ["mediaToken": .text(token.clearText)]).answer
                : HTTPAnswer(200, type: "text/plain", body: Array(token.clearText.utf8))
        }
    }

    /// The answer with a media token, as the test card of the resource or the MVPD says.
    private func play(
        _ resource: String, _ mvpd: String, _ profile: SandboxState.Profile, at identity: SandboxState.DeviceIdentity,
        now: Timestamp, _ wrap: (MintedToken) -> HTTPAnswer
    ) throws(EnhancedError) -> SandboxAnswer {
        let card = TestCard.chosen(for: resource, mvpd: mvpd)
        if let error = card?.denial { throw error }
        let token = try sign {
            try tokens.media(resource, at: identity, mvpd: mvpd, viewer: profile.viewer, card, now: now)
        }
        var answer = SandboxAnswer(wrap(token))
        if let how = card?.disturbance { answer.disturb(how) }
        return answer
    }

    // MARK: Who calls

    /// The login that the AuthN token of the call proves. It counts no longer than the device's login with that MVPD,
    /// and for other programmers too, unless the MVPD wants a login for each. Passive authentication makes one.
    private func login(
        provenBy call: PassCall, isPassive: Bool = false
    ) throws(EnhancedError) -> (mvpd: String, profile: SandboxState.Profile) {
        let identity = try identity(of: call)
        let fields = try fields(
            of: call.required("authentication_token"), .authentication, of: nil, on: identity.device, now: call.now)
        let (mvpd, requestor) = (fields["simpleTokenMsoID"] ?? "", fields["simpleTokenRequestorID"] ?? "")
        if requestor != identity.provider {
            guard Configuration.lists(mvpd, of: identity.provider) else {
                throw .invalidated("\(mvpd) is none of the MVPDs of \(identity.provider)")
            }
            guard isPassive || !Configuration.authenticatesPerRequestor(mvpd) else {
                throw .invalidated("the login is of \(requestor), and \(mvpd) wants one for each requestor")
            }
        }
        let profile = try profile(mvpd, at: .init(provider: requestor, device: identity.device), now: call.now)
        guard tokens.isAuthentication(fields, of: profile, mvpd: mvpd) else {
            throw .invalidated("the login of this token has ended, and there is another one")
        }
        return (mvpd, profile)
    }

    /// The fields of a token of this sandbox, if it is of the kind, and bound to the device and the programmer (if one
    /// is given), and has not expired.
    private func fields(
        of token: String, _ kind: TokenKind, of requestor: String?, on device: String, now: Timestamp
    ) throws(EnhancedError) -> [String: String] {
        var questions = TokenInspector.Questions(now: now)
        (questions.requestor, questions.time) = (requestor.map { RequestorID($0) }, .at(now))
        questions.device = try sign { try MediaTokens.fingerprint(of: device) }
        let examination = inspector.inspect(RawToken(token), asking: questions)
        if let failure = examination.firstFailure { throw .invalidated(failure.detail) }
        guard examination.kind == kind else { throw .invalidated("the token is of another kind") }
        return Dictionary(examination.fields.map { ($0.name, $0.text) }) { first, _ in first }
    }

    /// The device's login with the MVPD of a token; when it has ended, its tokens are worth nothing either.
    private func profile(
        _ mvpd: String, at identity: SandboxState.DeviceIdentity, now: Timestamp
    ) throws(EnhancedError) -> SandboxState.Profile {
        do { return try namedLogin(mvpd, at: identity, now: now) } catch {
            throw .invalidated("the login of this token has ended")
        }
    }

    private func keep(
        _ profile: SandboxState.Profile, of mvpd: String, at identity: SandboxState.DeviceIdentity, now: Timestamp
    ) {
        state.withLock { _ = $0.setProfile(profile, of: mvpd, at: identity, now: now) }
    }

    private func namedLogin(
        _ mvpd: String, at identity: SandboxState.DeviceIdentity, now: Timestamp
    ) throws(EnhancedError) -> SandboxState.Profile {
        try state.withLock { (state) throws(EnhancedError) in
            try decisions.profile(mvpd, at: identity, state, now: now)
        }
    }

    private func latestLogin(
        at identity: SandboxState.DeviceIdentity, now: Timestamp
    ) throws(EnhancedError) -> (mvpd: String, profile: SandboxState.Profile) {
        let profiles = state.withLock { $0.profiles(at: identity, now: now) }.filter { $1.end > now }
        guard let latest = profiles.max(by: { $0.value.start < $1.value.start }) else { throw .profileMissing }
        return (latest.key, latest.value)
    }

    private func identity(of call: PassCall) throws(EnhancedError) -> SandboxState.DeviceIdentity {
        guard let device = device(of: call) else { throw .missing("device_id") }
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

    /// Does what needs libcrypto.
    private func sign<Value>(_ body: () throws -> Value) throws(EnhancedError) -> Value {
        do { return try body() } catch { throw .signing }
    }

    private static func xml(_ status: Int, _ document: String) -> SandboxAnswer {
        let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
        return SandboxAnswer(HTTPAnswer(status, type: "application/xml", body: Array((declaration + document).utf8)))
    }
}

extension PassCall {
    /// Whether a client asks for JSON, not XML.
    fileprivate var acceptsJSON: Bool { header("accept")?.contains("json") ?? false }

    fileprivate func required(_ name: String) throws(EnhancedError) -> String {
        guard let value = parameter(name) else { throw .missing(name) }
        return value
    }
}

extension TestCard {
    /// The error of a card that denies the resource, or makes the whole call fail.
    fileprivate var denial: EnhancedError? { if case .deny(let error) = effect { error } else { failure } }
}

extension EnhancedError {
    /// Nobody has logged in on the second screen yet.
    fileprivate static let loginPending = Self(
        "authentication_session_pending", 404, .retry, "nobody has logged in with this code yet")

    fileprivate static func missing(_ parameter: String) -> Self {
        Self("invalid_parameter_\(parameter)", 400, .none, "the parameter \(parameter) is missing")
    }

    /// A token that is not, or no longer, worth anything on this device.
    fileprivate static func invalidated(_ why: String) -> Self {
        Self("authenticated_profile_invalidated", 401, .authentication, why)
    }

    /// The error in the XML of the older protocols.
    fileprivate var xml: String {
        let elements = [
            ("status", "\(status)"), ("action", action.rawValue), ("code", code), ("message", "Sandbox: \(message)"),
            ("details", details ?? ""),
        ]
        return "<error>\(elements.map { "<\($0)>\(xmlEscaped($1))</\($0)>" }.joined())</error>"
    }
}
