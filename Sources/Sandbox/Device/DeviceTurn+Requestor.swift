internal import MediaToken

extension DeviceTurn {
    /// Asks for the configuration of a programmer, and abandons what was asked for an earlier one.
    mutating func setRequestor(_ requestor: RequestorID, _ endpoints: [String], _ credentials: DeviceCredentials?) {
        (device.isReady, device.configuration) = (false, .none)
        (device.login, device.chosenProvider, device.pending) = (nil, nil, [:])
        guard app.system.platform == .iOS || credentials != nil else {
            return callback(.setRequestorComplete(false))
        }
        send(.configuration(requestor, endpoints: endpoints, credentials: credentials))
    }

    /// Puts the stored tokens in order for the configuration that has come. After a failure, the waiting calls go on
    /// waiting.
    mutating func configure(_ requestor: RequestorID, _ answer: DeviceAnswer) {
        guard case .configuration(let configuration) = answer, configuration.requestor == requestor else {
            return callback(.setRequestorComplete(false))
        }
        device.configuration = configuration
        storage.importOlder(for: app, configuration, at: now)
        storage.sanitize(for: app, deviceID: device.id)
        if currentLogin != nil {
            completeRequestor()
        } else if let other = loginOfOtherRequestor {
            send(.passiveAuthentication(requestor, from: other))
        } else if let mvpd = storage.systemProvider, configuration.provider(mvpd)?.boarding == .supported {
            send(.systemExchange(requestor, mvpd))
        } else {
            completeRequestor()
        }
    }

    /// Completes `setRequestor` after a login without the viewer, also if no token was obtained; the viewer then has to
    /// log in.
    mutating func finishSilentLogin(_ answer: DeviceAnswer, isFromSystem: Bool) {
        if case .authentication(let token) = answer { store(token, isFromSystem: isFromSystem) }
        completeRequestor()
    }

    /// Answers the calls that have waited for `setRequestor`, in their order.
    private mutating func completeRequestor() {
        device.isReady = true
        callback(.setRequestorComplete(true))
        let waiting = device.queue
        device.queue = []
        for call in waiting { answer(call) }
    }

    /// The token from which the programmer's own can be obtained passively: another programmer's valid one of an MVPD
    /// that authenticates per requestor. SDKs up to 1.6 do not ask for such tokens.
    private var loginOfOtherRequestor: AuthenticationToken? {
        guard app.sdk.layout == .nestedMap else { return nil }
        return visibleLogins.map(\.authentication).last { counts($0) && isPerRequestor($0.mvpd) }
    }

    private var visibleLogins: [StoredLogin] { storage.logins(app.sdk.layout, seenBy: app.bundleID) }

    /// The login that counts for the programmer; `nil` if the viewer must log in.
    ///
    /// Among several, one of this device ID comes first, then one of the programmer's own, then one of the cached MVPD,
    /// then the latest.
    var currentLogin: StoredLogin? {
        let usable = visibleLogins.filter {
            let token = $0.authentication
            return counts(token) && (token.requestor == requestor || !isPerRequestor(token.mvpd))
        }
        let cached = storage.cachedProviders[requestor]?.mvpd
        func rank(_ place: Int) -> (Int, Int) {
            let token = usable[place].authentication
            let merits = [token.deviceID == device.id, token.requestor == requestor, token.mvpd == cached]
            return (merits.reduce(0) { $0 * 2 + ($1 ? 1 : 0) }, place)
        }
        return usable.indices.max { rank($0) < rank($1) }.map { usable[$0] }
    }

    /// Whether a stored token is valid. An SDK with a sanitizer does not use a token of another device ID; an older one
    /// does, until the server refuses it.
    private func counts(_ token: AuthenticationToken) -> Bool {
        configuration.allows(token.mvpd, until: token.expiry, at: now) && !device.refused.contains(token)
            && (token.deviceID == device.id || app.sdk < .sanitizing)
    }

    private func isPerRequestor(_ mvpd: MVPDID) -> Bool {
        configuration.provider(mvpd)?.authenticatesPerRequestor == true
    }

    mutating func store(_ token: AuthenticationToken, isFromSystem: Bool) {
        let shelf: StoredLogin.Shelf =
            switch app.sdk.layout {
            case .nestedMap: .map
            case .oneSlot: isPerRequestor(token.mvpd) ? .privateSlot : .slot
            }
        storage.store(StoredLogin(token, on: shelf, of: app.bundleID, isFromSystem: isFromSystem))
        storage.cachedProviders[token.requestor] = CachedProvider(token.mvpd, isFromSystem: isFromSystem)
        if isFromSystem { storage.systemProvider = token.mvpd }
    }
}
