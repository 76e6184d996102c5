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
        let known = knownProvider
        device.chosenProvider = nil
        if let known {
            logIn(with: known)
        } else if configuration.hasSystemSignOn {
            device.login = .system
            callback(.presentTvProviderDialog)
        } else {
            offerProviders()
        }
    }

    /// The MVPD that the viewer need not be asked for: the one that the app set, or the cached one if it can
    /// authenticate. A login by the system is taken up by the system's dialog.
    private var knownProvider: MVPDID? {
        if let chosen = device.chosenProvider { return chosen }
        guard let cached = storage.cachedProviders[requestor], !cached.isFromSystem,
            let provider = configuration.provider(cached.mvpd), provider.canAuthenticate
        else { return nil }
        return provider.id
    }

    private mutating func offerProviders() {
        device.login = .choosing
        callback(.displayProviderDialog(configuration.providers))
    }

    /// Has the viewer log in with the MVPD: in a web view, or on a second screen if the device has no browser.
    private mutating func logIn(with mvpd: MVPDID) {
        endLogin()
        switch app.system.platform {
        case .iOS:
            device.login = .visiting(mvpd)
            callback(.navigateToUrl(device.loginPage(requestor, mvpd)))
        case .tvOS:
            device.login = .secondScreen
            send(.registrationCode(requestor, mvpd))
        }
    }

    /// Goes on with the login in progress, or keeps the MVPD for the next one.
    mutating func setSelectedProvider(_ mvpd: MVPDID?) {
        guard let mvpd else { return cancelLogin() }
        let isKnown = configuration.provider(mvpd) != nil
        switch device.login {
        case .choosing where isKnown, .visiting where isKnown, .secondScreen where isKnown: logIn(with: mvpd)
        case .choosing, .visiting, .secondScreen: fail(.providerNotAvailable)
        case .system, .systemExchange, .leaving, nil: device.chosenProvider = isKnown ? mvpd : nil
        }
        track(.mvpdSelection(mvpd))
    }

    /// Cancels the login in progress, and the polling for one, and forgets the programmer's MVPD. The stored tokens
    /// stay.
    private mutating func cancelLogin() {
        device.chosenProvider = nil
        storage.cachedProviders[requestor] = nil
        guard let cancelled = device.login else { return }
        if cancelled == .system { callback(.dismissTvProviderDialog) }
        fail(.providerNotSelected)
    }

    /// Fetches the AuthN token, if the web view of the login in progress has reached the app's URL; ends a logout whose
    /// web view has.
    mutating func handleExternalURL(_ url: String) {
        guard device.isRedirect(url) else { return }
        switch device.login {
        case .visiting(let mvpd): send(.exchange(url: url, requestor, mvpd))
        case .leaving: fail(.notAuthenticated)
        default: break
        }
    }

    mutating func leaveSystemDialog(_ choice: DeviceEvent.SystemChoice) {
        guard device.login == .system else { return }
        callback(.dismissTvProviderDialog)
        switch choice {
        case .provider(let mvpd):
            switch configuration.provider(mvpd)?.boarding {
            case .supported?:
                device.login = .systemExchange
                send(.systemExchange(requestor, mvpd))
            case .picker?: logIn(with: mvpd)
            case .some(.none), nil: fail(.providerNotAvailable)
            }
        case .other: offerProviders()
        case .closed: fail(.providerNotSelected)
        }
    }

    /// Uses the answer to a request of the login in progress.
    mutating func continueLogin(_ answer: DeviceAnswer, to request: DeviceRequest) {
        switch (request, answer) {
        case (.registrationCode(let requestor, _), .registrationCode(let code, let url)):
            callback(.status(.registrationCode(code, url: url)))
            send(.poll(code: code, requestor))
        case (.poll, .pending): send(request)
        case (.exchange(_, _, let mvpd), .authentication(let token)) where token.mvpd != mvpd: fail(.other)
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
