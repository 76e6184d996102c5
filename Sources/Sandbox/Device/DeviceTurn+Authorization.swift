internal import MediaToken

extension DeviceTurn {
    /// Asks for a media token, which is never cached, by a cached AuthZ token or else by a new one.
    mutating func authorize(_ resource: ResourceID) {
        guard let login = currentLogin else {
            return fail(DeviceFailure(.notAuthenticated, "nobody has logged in"), resource, nil)
        }
        if let token = validAuthorization(for: resource, by: login) {
            send(.mediaToken(token, login.authentication))
        } else {
            send(.authorization(resource, requestor, login.authentication))
        }
    }

    private func validAuthorization(for resource: ResourceID, by login: StoredLogin) -> AuthorizationToken? {
        login.authorizations.first {
            $0.resource == resource && $0.requestor == requestor
                && configuration.allows($0.mvpd, until: $0.expiry, at: now)
        }
    }

    mutating func finishAuthorization(_ answer: DeviceAnswer, _ resource: ResourceID, _ login: AuthenticationToken) {
        guard case .authorization(let token) = answer else { return fail(answer.failure, resource, login) }
        storage.update(login) { $0.add(token) }
        send(.mediaToken(token, login))
    }

    /// Hands a media token to the app. An AuthZ token that the server does not accept is removed.
    mutating func finishMediaToken(_ answer: DeviceAnswer, _ token: AuthorizationToken, _ login: AuthenticationToken) {
        guard case .mediaToken(let text) = answer else {
            if answer.failure.error != .other { storage.update(login) { $0.authorizations.removeAll { $0 == token } } }
            return fail(answer.failure, token.resource, login)
        }
        callback(.setToken(text, token.resource))
        track(.authorizationDetection(true, login.mvpd, nil))
    }

    /// Reports a failure. A login that the server does not accept no longer counts, so that the viewer can log in
    /// again.
    private mutating func fail(_ failure: DeviceFailure, _ resource: ResourceID, _ login: AuthenticationToken?) {
        if let login, failure.error == .notAuthenticated { device.refused.insert(login) }
        callback(.tokenRequestFailed(resource, failure.error, failure.description))
        track(.authorizationDetection(false, login?.mvpd, failure.error))
    }

    /// Asks which resources the viewer may probably play, for the app's lists. It neither reads nor changes AuthZ
    /// tokens.
    mutating func preauthorize(_ resources: [ResourceID]) {
        guard let login = currentLogin else { return callback(.preauthorizedResources([])) }
        send(.preauthorization(resources, requestor, login.authentication))
    }

    /// The MVPD of the login in progress, or of the login that counts, or else the one that the next login would take.
    var selectedProvider: MVPDID? {
        if case .visiting(let mvpd) = device.login { return mvpd }
        return currentLogin?.authentication.mvpd ?? device.chosenProvider ?? storage.cachedProviders[requestor]?.mvpd
    }

    /// The value of `key`; `nil` if there is none. Times are in UTC.
    func metadata(_ key: MetadataKey) -> String? {
        switch key {
        case .deviceID: device.id
        case .authenticationExpiry: currentLogin?.authentication.expiry.utcText
        case .authorizationExpiry(let resource):
            currentLogin.flatMap { validAuthorization(for: resource, by: $0) }?.expiry.utcText
        case .user(let name): currentLogin?.authentication.metadata[name]
        }
    }

    /// Erases the tokens of all programmers and MVPDs at once, so that none is left if the network fails, and ends the
    /// session at the MVPD: by a page in a web view of the app, or by a request if there is no page to show, which is
    /// so on tvOS and after a login by the system.
    mutating func logOut() {
        let login = currentLogin
        (device.login, device.pending, device.chosenProvider) = (nil, [:], nil)
        storage.erase(for: app.bundleID)
        let isFromSystem = login?.isFromSystem == true
        if isFromSystem { callback(.status(.systemLogoutNeeded)) }
        guard app.system.platform == .iOS, !isFromSystem else {
            return send(.logout(requestor, login?.authentication.mvpd))
        }
        device.login = .leaving
        callback(.navigateToUrl(device.logoutPage(requestor, login?.authentication.mvpd)))
    }
}
