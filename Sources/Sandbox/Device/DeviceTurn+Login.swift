internal import MediaToken

extension DeviceTurn {
    /// Tells whether the viewer is logged in, and never begins a login.
    mutating func checkAuthentication() {
        let login = currentLogin
        report(login?.authentication.mvpd, login == nil ? .notAuthenticated : nil)
    }

    /// Begins a login, unless the viewer is logged in. A login that is in progress is abandoned.
    mutating func getAuthentication() {
        if let login = currentLogin { return report(login.authentication.mvpd, nil) }
        endLogin()
        let known = app.system.platform == .iOS ? knownProvider : nil
        device.chosenProvider = nil
        if let known {
            visit(known)
        } else if device.hasSystemSignOn {
            device.login = .system
            callback(.presentTvProviderDialog)
        } else {
            offerProviders()
        }
    }

    /// The MVPD that the viewer need not be asked for: the one that the app set, or the cached one if it can
    /// authenticate.
    private var knownProvider: MVPDID? {
        if let chosen = device.chosenProvider { return chosen }
        let cached = storage.cachedProviders[requestor].flatMap(configuration.provider)
        return cached?.canAuthenticate == true ? cached?.id : nil
    }

    private mutating func offerProviders() {
        switch app.system.platform {
        case .iOS:
            device.login = .choosing
            callback(.displayProviderDialog(configuration.providers))
        case .tvOS:
            device.login = .secondScreen
            send(.registrationCode(requestor))
        }
    }

    private mutating func visit(_ mvpd: MVPDID) {
        endLogin()
        device.login = .visiting(mvpd)
        callback(.navigateToUrl(requestor, mvpd, redirectURL: device.redirectURL))
    }

    /// Goes on with the login in progress, or keeps the MVPD for the next one.
    mutating func setSelectedProvider(_ mvpd: MVPDID?) {
        guard let mvpd else { return cancelLogin() }
        let isKnown = configuration.provider(mvpd) != nil
        switch device.login {
        case .choosing where isKnown, .visiting where isKnown: visit(mvpd)
        case .choosing, .visiting: fail(.providerNotAvailable)
        case .system, .systemExchange, .secondScreen, nil: device.chosenProvider = isKnown ? mvpd : nil
        }
        track(.mvpdSelection(mvpd))
    }

    /// Cancels the login in progress and forgets the programmer's MVPD. The stored tokens stay.
    private mutating func cancelLogin() {
        device.chosenProvider = nil
        storage.cachedProviders[requestor] = nil
        guard let cancelled = device.login else { return }
        if cancelled == .system { callback(.dismissTvProviderDialog) }
        fail(.providerNotSelected)
    }

    /// Fetches the AuthN token, if the web view of the login in progress has reached the app's URL.
    mutating func handleExternalURL(_ url: String) {
        guard case .visiting(let mvpd) = device.login, isRedirect(url) else { return }
        send(.exchange(url: url, requestor, mvpd))
    }

    /// Whether `url` is the app's own, alone or with a path, a query or a fragment.
    private func isRedirect(_ url: String) -> Bool {
        guard url.utf8.starts(with: device.redirectURL.utf8) else { return false }
        return url.utf8.dropFirst(device.redirectURL.utf8.count).first.map("/?#".utf8.contains) ?? true
    }

    mutating func leaveSystemDialog(_ choice: DeviceEvent.SystemChoice) {
        guard device.login == .system else { return }
        callback(.dismissTvProviderDialog)
        switch choice {
        case .provider(let mvpd):
            device.login = .systemExchange
            send(.systemExchange(requestor, mvpd))
        case .other: offerProviders()
        case .closed: fail(.providerNotSelected)
        }
    }

    /// Uses the answer to a request of the login in progress.
    mutating func continueLogin(_ answer: DeviceAnswer, to request: DeviceRequest) {
        switch (request, answer) {
        case (.registrationCode(let requestor), .registrationCode(let code, let url)):
            callback(.status(.registrationCode(code, url: url)))
            send(.poll(code: code, requestor))
        case (.poll, .pending): send(request)
        case (.exchange, .authentication(let token)), (.poll, .authentication(let token)):
            finishLogin(token, isFromSystem: false)
        case (.systemExchange, .authentication(let token)): finishLogin(token, isFromSystem: true)
        default: fail(.other)
        }
    }

    private mutating func finishLogin(_ token: AuthenticationToken, isFromSystem: Bool) {
        endLogin()
        store(token, isFromSystem: isFromSystem)
        report(token.mvpd, nil)
    }

    /// Ends the login in progress, whose requests are abandoned.
    mutating func endLogin() {
        device.login = nil
        device.pending = device.pending.filter { !$0.value.isLogin }
    }

    private mutating func fail(_ error: AuthenticationError) {
        endLogin()
        report(nil, error)
    }

    private mutating func report(_ mvpd: MVPDID?, _ error: AuthenticationError?) {
        callback(.setAuthenticationStatus(error == nil, error))
        track(.authenticationDetection(error == nil, mvpd))
    }
}
