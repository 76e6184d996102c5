import MediaToken
import Sandbox
import Testing

@Suite("calls of an app, and what they trigger")
struct CallTableTests {
    private typealias Phone = TestDevice

    private static let twoProviders = [DeviceProvider(Phone.cable), DeviceProvider(Phone.dish)]
    private static let pages = "http://127.0.0.1:8090/adobe-services"
    private static let fields = "device_id=device-1&redirect_url=adobepass%3A%2F%2Fios.app"
    private static let loginPage = DeviceCallback.navigateToUrl(
        "\(pages)/authenticate/saml?requestor_id=ONE&mso_id=Cable&\(fields)")
    /// MVPDs of which the system's dialog has two, one of which logs in with the system.
    private static let systemProviders = [
        DeviceProvider(Phone.cable, boarding: .picker), DeviceProvider(Phone.dish, boarding: .supported),
        DeviceProvider(MVPDID("Other")),
    ]

    /// A device that is ready, and whose viewer has logged in.
    private static func loggedIn(_ platform: DeviceSystem.Platform = .iOS) -> TestDevice {
        var phone = Phone(platform)
        phone.start()
        phone.logIn()
        return phone
    }

    // MARK: setRequestor

    @Test("setRequestor asks for the configuration, and tells its success")
    func setRequestor() {
        var phone = Phone()
        #expect(phone.call(.setRequestor(Phone.one, endpoints: ["sp.example"])) == [])
        #expect(phone.request == .configuration(Phone.one, endpoints: ["sp.example"], credentials: nil))
        let configuration = DeviceConfiguration(Phone.one, providers: Self.twoProviders)
        #expect(phone.answer(.configuration(configuration)) == [.setRequestorComplete(true)])
        #expect(phone.device.configuration == configuration)
    }

    @Test("setRequestor tells its failure: network, another kind of answer, another programmer's configuration")
    func setRequestorFails() {
        let answers: [DeviceAnswer] = [
            .failure(DeviceFailure(.other, "no network")), .loggedOut,
            .configuration(DeviceConfiguration(Phone.two, providers: [])),
        ]
        for answer in answers {
            var phone = Phone()
            phone.call(.setRequestor(Phone.one))
            #expect(phone.answer(answer) == [.setRequestorComplete(false)])
            #expect(!phone.device.isReady)
        }
    }

    @Test("setRequestor of tvOS needs a key and a secret, and sends them")
    func setRequestorOfTV() {
        var box = Phone(.tvOS)
        #expect(box.call(.setRequestor(Phone.one)) == [.setRequestorComplete(false)])
        #expect(box.requests.isEmpty)
        let credentials = DeviceCredentials(publicKey: "key", secret: "secret")
        box.call(.setRequestor(Phone.one, credentials: credentials))
        #expect(box.request == .configuration(Phone.one, endpoints: [], credentials: credentials))
    }

    @Test("calls before setRequestor completes wait silently, and are answered in order")
    func queue() {
        var phone = Phone()
        #expect(phone.call(.getSelectedProvider) == [])
        phone.call(.setRequestor(Phone.one))
        let asked = phone.lastNumber
        phone.call(.checkAuthentication)
        #expect(phone.call(.getMetadata(.deviceID)) == [])
        let configuration = DeviceConfiguration(Phone.one, providers: Self.twoProviders)
        let callbacks = phone.receive(.answered(asked, .configuration(configuration)))
        #expect(
            callbacks == [
                .setRequestorComplete(true), .selectedProvider(nil), .setAuthenticationStatus(false, .notAuthenticated),
                .setMetadataStatus("device-1", .deviceID),
            ])
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(nil)])
        #expect(phone.start() == [.setRequestorComplete(true)], "each call is answered once")
    }

    @Test("calls go on waiting after a setRequestor that failed, until another one succeeds")
    func queueAfterFailure() {
        var phone = Phone()
        phone.call(.checkAuthentication)
        phone.call(.setRequestor(Phone.one))
        phone.answer(.failure(DeviceFailure(.other, "no network")))
        #expect(phone.start() == [.setRequestorComplete(true), .setAuthenticationStatus(false, .notAuthenticated)])
    }

    @Test("a second setRequestor abandons what was asked for the first")
    func secondRequestor() {
        var phone = Phone()
        phone.call(.setRequestor(Phone.one))
        let first = phone.lastNumber
        phone.call(.setRequestor(Phone.two))
        let configuration = DeviceConfiguration(Phone.one, providers: Self.twoProviders)
        #expect(phone.receive(.answered(first, .configuration(configuration))) == [])
        #expect(!phone.device.isReady)
    }

    // MARK: checkAuthentication

    @Test("checkAuthentication tells the status every time, and never begins a login")
    func checkAuthentication() {
        var phone = Phone()
        phone.start()
        for _ in 0..<2 {
            #expect(phone.call(.checkAuthentication) == [.setAuthenticationStatus(false, .notAuthenticated)])
            #expect(phone.requests.isEmpty)
        }
        #expect(phone.tracked == [.authenticationDetection(false, nil)])
        phone.logIn()
        for _ in 0..<2 { #expect(phone.call(.checkAuthentication) == [.setAuthenticationStatus(true)]) }
        #expect(phone.tracked == [.authenticationDetection(true, Phone.cable)])
    }

    // MARK: getAuthentication

    @Test("getAuthentication of a viewer who is logged in tells so")
    func getAuthenticationLoggedIn() {
        var phone = Self.loggedIn()
        #expect(phone.call(.getAuthentication) == [.setAuthenticationStatus(true)])
        #expect(phone.tracked == [.authenticationDetection(true, Phone.cable)])
    }

    @Test("getAuthentication without a cached MVPD has the app ask for one")
    func getAuthenticationAsks() {
        var phone = Phone()
        phone.start()
        #expect(phone.call(.getAuthentication) == [.displayProviderDialog(Self.twoProviders)])
    }

    @Test(
        "getAuthentication goes to the login page of the cached MVPD, if it can authenticate", arguments: [true, false])
    func getAuthenticationCached(canAuthenticate: Bool) {
        var phone = Self.loggedIn()
        phone.now = phone.now.advanced(by: .seconds(3601))
        let providers = [DeviceProvider(Phone.cable, canAuthenticate: canAuthenticate)]
        phone.start(providers: providers)
        let expected = canAuthenticate ? Self.loginPage : .displayProviderDialog(providers)
        #expect(phone.call(.getAuthentication) == [expected])
    }

    @Test("getAuthentication goes to the login page of the MVPD that setSelectedProvider named before, once")
    func getAuthenticationChosen() {
        var phone = Phone()
        phone.start(providers: [DeviceProvider(Phone.cable, canAuthenticate: false)])
        #expect(phone.call(.setSelectedProvider(Phone.cable)) == [])
        #expect(phone.call(.getAuthentication) == [Self.loginPage])
        phone.call(.setSelectedProvider(nil))
        phone.call(.getAuthentication)
        #expect(phone.callbacks != [Self.loginPage])
    }

    @Test(
        "getAuthentication with Apple SSO presents the system's dialog, and dismisses it after the choice",
        arguments: [DeviceSystem.Platform.iOS, .tvOS])
    func systemSignOn(platform: DeviceSystem.Platform) {
        var phone = Phone(platform)
        phone.start(providers: Self.systemProviders)
        #expect(phone.call(.getAuthentication) == [.presentTvProviderDialog])
        #expect(phone.receive(.systemDialog(.provider(Phone.dish))) == [.dismissTvProviderDialog])
        #expect(phone.request == .systemExchange(Phone.one, Phone.dish))
        let asked = phone.lastNumber
        #expect(phone.receive(.systemDialog(.closed)) == [], "the dialog is no longer there")
        let token = phone.authentication(Phone.dish)
        #expect(phone.receive(.answered(asked, .authentication(token))) == [.setAuthenticationStatus(true)])
        #expect(phone.storage.logins.map(\.isFromSystem) == [true])
    }

    @Test("the system's dialog may lead to the dialog of MVPDs, or end the login")
    func systemSignOnLeft() {
        var phone = Phone()
        phone.start(providers: Self.systemProviders)
        phone.call(.getAuthentication)
        #expect(
            phone.receive(.systemDialog(.other)) == [
                .dismissTvProviderDialog, .displayProviderDialog(Self.systemProviders),
            ])
        phone.call(.getAuthentication)
        #expect(
            phone.receive(.systemDialog(.closed)) == [
                .dismissTvProviderDialog, .setAuthenticationStatus(false, .providerNotSelected),
            ])
        #expect(phone.receive(.systemDialog(.provider(Phone.dish))) == [], "the dialog is no longer there")
    }

    @Test("an MVPD that the system's dialog has only to choose from logs in as Adobe's do: in the web, or by a code")
    func systemPicker() {
        var phone = Phone()
        phone.start(providers: Self.systemProviders)
        phone.call(.getAuthentication)
        #expect(phone.receive(.systemDialog(.provider(Phone.cable))) == [.dismissTvProviderDialog, Self.loginPage])
        var box = Phone(.tvOS)
        box.start(providers: Self.systemProviders)
        box.call(.getAuthentication)
        #expect(box.receive(.systemDialog(.provider(Phone.cable))) == [.dismissTvProviderDialog])
        #expect(box.request == .registrationCode(Phone.one, Phone.cable))
        box.answer(.registrationCode("AB12CD3", url: "https://tv.example"))
        #expect(box.request == .poll(code: "AB12CD3", Phone.one))
        box.call(.getAuthentication)
        #expect(
            box.receive(.systemDialog(.provider(MVPDID("Other")))) == [
                .dismissTvProviderDialog, .setAuthenticationStatus(false, .providerNotAvailable),
            ])
    }

    @Test("a login goes the way that the last one came: in the web, or by the system's dialog")
    func sameWay() {
        var phone = Phone()
        phone.start(providers: Self.systemProviders)
        phone.call(.getAuthentication)
        phone.receive(.systemDialog(.provider(Phone.dish)))
        phone.answer(.authentication(phone.authentication(Phone.dish, lasting: 10)))
        phone.now = phone.now.advanced(by: .seconds(11))
        #expect(phone.call(.getAuthentication) == [.presentTvProviderDialog])
        phone.receive(.systemDialog(.provider(Phone.cable)))
        phone.call(.handleExternalURL("adobepass://ios.app"))
        phone.answer(.authentication(phone.authentication(Phone.cable, lasting: 10)))
        phone.now = phone.now.advanced(by: .seconds(11))
        #expect(phone.call(.getAuthentication) == [Self.loginPage])
    }

    @Test("getAuthentication of tvOS asks for the MVPD, tells a code, and polls until the second screen has logged in")
    func secondScreen() {
        var box = Phone(.tvOS)
        box.start()
        #expect(box.call(.getAuthentication) == [.displayProviderDialog(Self.twoProviders)])
        #expect(box.call(.setSelectedProvider(Phone.cable)) == [])
        #expect(box.request == .registrationCode(Phone.one, Phone.cable))
        let url = "https://tv.example/activate"
        #expect(
            box.answer(.registrationCode("AB12CD3", url: url)) == [.status(.registrationCode("AB12CD3", url: url))])
        for _ in 0..<2 {
            #expect(box.request == .poll(code: "AB12CD3", Phone.one))
            #expect(box.answer(.pending) == [])
        }
        #expect(box.answer(.authentication(box.authentication())) == [.setAuthenticationStatus(true)])
        #expect(box.requests.isEmpty)
    }

    @Test("a registration code that expires ends the login")
    func secondScreenExpires() {
        var box = Phone(.tvOS)
        box.start()
        box.openLoginPage()
        box.answer(.registrationCode("AB12CD3", url: "https://tv.example"))
        let failure = DeviceFailure(.other, "no_code: the code has expired")
        #expect(box.answer(.failure(failure)) == [.setAuthenticationStatus(false, .other)])
    }

    @Test("setSelectedProvider with null ends the polling")
    func secondScreenCancelled() {
        var box = Phone(.tvOS)
        box.start()
        box.openLoginPage()
        box.answer(.registrationCode("AB12CD3", url: "https://tv.example"))
        let poll = box.lastNumber
        #expect(box.call(.setSelectedProvider(nil)) == [.setAuthenticationStatus(false, .providerNotSelected)])
        #expect(box.receive(.answered(poll, .pending)) == [])
        #expect(box.requests.isEmpty)
    }

    // MARK: setSelectedProvider

    @Test("setSelectedProvider opens the MVPD's login page")
    func setSelectedProvider() {
        var phone = Phone()
        phone.start()
        phone.call(.getAuthentication)
        #expect(phone.call(.setSelectedProvider(Phone.cable)) == [Self.loginPage])
        #expect(phone.tracked == [.mvpdSelection(Phone.cable)])
    }

    @Test("setSelectedProvider with an MVPD that the programmer has not ends the login")
    func setUnknownProvider() {
        var phone = Phone()
        phone.start()
        phone.call(.getAuthentication)
        #expect(
            phone.call(.setSelectedProvider(MVPDID("Other"))) == [
                .setAuthenticationStatus(false, .providerNotAvailable)
            ])
    }

    @Test("setSelectedProvider with null cancels only the login in progress, and a late answer changes nothing")
    func cancel() {
        var phone = Phone()
        phone.start()
        phone.logIn(with: Phone.cable)
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        phone.logIn(with: Phone.dish, lasting: 10)
        phone.now = phone.now.advanced(by: .seconds(11))
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        phone.call(.getAuthentication)
        phone.call(.handleExternalURL("adobepass://ios.app"))
        let exchange = phone.lastNumber
        let stored = phone.storage.logins
        #expect(phone.call(.setSelectedProvider(nil)) == [.setAuthenticationStatus(false, .providerNotSelected)])
        #expect(phone.storage.logins == stored)
        #expect(phone.storage.cachedProviders == [Phone.one: CachedProvider(Phone.cable)])
        let late = phone.authentication(Phone.dish)
        #expect(phone.receive(.answered(exchange, .authentication(late))) == [])
        #expect(phone.storage.logins == stored)
    }

    @Test("setSelectedProvider with null and no login in progress only forgets the MVPD")
    func cancelNothing() {
        var phone = Self.loggedIn()
        #expect(phone.call(.setSelectedProvider(nil)) == [])
        #expect(phone.storage.cachedProviders.isEmpty)
        #expect(phone.isLoggedIn)
    }

    // MARK: handleExternalURL

    @Test("handleExternalURL with the app's URL fetches the AuthN token", arguments: ["", "/", "?code=1", "#x"])
    func handleExternalURL(end: String) {
        var phone = Phone()
        phone.start()
        phone.openLoginPage()
        let url = "adobepass://ios.app" + end
        #expect(phone.call(.handleExternalURL(url)) == [])
        #expect(phone.request == .exchange(url: url, Phone.one, Phone.cable))
        #expect(phone.answer(.authentication(phone.authentication())) == [.setAuthenticationStatus(true)])
        #expect(phone.tracked == [.authenticationDetection(true, Phone.cable)])
    }

    @Test("handleExternalURL with another URL, or without a login page, does nothing")
    func handleOtherURL() {
        var phone = Phone()
        phone.start()
        phone.call(.handleExternalURL("adobepass://ios.app"))
        #expect(phone.requests.isEmpty)
        phone.openLoginPage()
        for url in ["https://mvpd.example", "adobepass://ios.apple", "adobepass://ios"] {
            phone.call(.handleExternalURL(url))
            #expect(phone.requests.isEmpty, "\(url)")
        }
    }

    @Test("a login whose token cannot be fetched fails")
    func exchangeFails() {
        var phone = Phone()
        phone.start()
        phone.openLoginPage()
        phone.call(.handleExternalURL("adobepass://ios.app"))
        #expect(
            phone.answer(.failure(DeviceFailure(.other, "no network"))) == [.setAuthenticationStatus(false, .other)])
        #expect(phone.storage.logins.isEmpty)
    }

    // MARK: checkPreauthorizedResources

    @Test("checkPreauthorizedResources tells which resources may be played, and leaves the AuthZ tokens alone")
    func preauthorized() {
        var phone = Self.loggedIn()
        let other = ResourceID("TBS")
        phone.call(.checkPreauthorizedResources([Phone.tnt, other]))
        #expect(phone.answer(.preauthorized([other])) == [.preauthorizedResources([other])])
        #expect(phone.storage.logins.map(\.authorizations) == [[]])
    }

    @Test("checkPreauthorizedResources tells none without a login, or after a failure")
    func preauthorizedNone() {
        var phone = Phone()
        phone.start()
        #expect(phone.call(.checkPreauthorizedResources([Phone.tnt])) == [.preauthorizedResources([])])
        phone.logIn()
        phone.call(.checkPreauthorizedResources([Phone.tnt]))
        #expect(phone.answer(.failure(DeviceFailure(.other, "no network"))) == [.preauthorizedResources([])])
    }

    // MARK: checkAuthorization and getAuthorization

    @Test(
        "an authorization hands a media token to the app",
        arguments: [
            DeviceCall.checkAuthorization(TestDevice.tnt), .getAuthorization(TestDevice.tnt),
        ])
    func authorize(call: DeviceCall) {
        var phone = Phone()
        phone.start()
        let login = phone.logIn()
        #expect(phone.call(call) == [])
        #expect(phone.request == .authorization(Phone.tnt, Phone.one, login))
        let token = phone.authorization()
        #expect(phone.answer(.authorization(token)) == [])
        #expect(phone.request == .mediaToken(token, login))
        #expect(phone.answer(.mediaToken("media 1")) == [.setToken("media 1", Phone.tnt)])
        #expect(phone.tracked == [.authorizationDetection(true, Phone.cable, nil)])
    }

    @Test("an authorization without a login fails with an AuthN error")
    func authorizeLoggedOut() {
        var phone = Phone()
        phone.start()
        phone.call(.getAuthorization(Phone.tnt))
        #expect(phone.callbacks == [.tokenRequestFailed(Phone.tnt, .notAuthenticated, "nobody has logged in")])
        #expect(phone.tracked == [.authorizationDetection(false, nil, .notAuthenticated)])
    }

    @Test(
        "a failed authorization tells whether to log in again, not to play, or neither",
        arguments: [TokenError.notAuthenticated, .notAuthorized, .other])
    func authorizeFails(error: TokenError) {
        for reachesMediaToken in [false, true] {
            var phone = Self.loggedIn()
            phone.call(.checkAuthorization(Phone.tnt))
            if reachesMediaToken { phone.answer(.authorization(phone.authorization())) }
            let failure = DeviceFailure(error, "some words")
            #expect(
                phone.answer(.failure(failure)) == [.tokenRequestFailed(Phone.tnt, error, "some words")])
            #expect(phone.tracked == [.authorizationDetection(false, Phone.cable, error)])
            #expect(phone.isLoggedIn == (error != .notAuthenticated))
            let isKept = reachesMediaToken && error == .other
            #expect(phone.storage.logins.map(\.authorizations.isEmpty) == [!isKept])
        }
    }

    @Test(
        "an error of REST v2 tells by its action whether to log in again, not to play, or neither",
        arguments: [
            (403, "authentication", TokenError.notAuthenticated), (403, "none", .notAuthorized),
            (401, "application-registration", .other), (403, "retry", .other), (400, "none", .other),
            (503, nil, .other),
        ] as [(Int, String?, TokenError)])
    func actions(status: Int, action: String?, error: TokenError) {
        let failure = DeviceFailure(status: status, action: action, code: "some_code", "some words")
        #expect(failure == DeviceFailure(error, "some_code: some words"))
    }

    // MARK: getSelectedProvider and getMetadata

    @Test("getSelectedProvider tells the MVPD of the login")
    func getSelectedProvider() {
        var phone = Phone()
        phone.start()
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(nil)])
        phone.logIn(with: Phone.dish)
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(Phone.dish)])
    }

    @Test("getMetadata tells the device ID, what the MVPD says of the viewer, and the expiry of tokens")
    func getMetadata() {
        var phone = Self.loggedIn()
        phone.call(.getAuthorization(Phone.tnt))
        phone.answer(.authorization(phone.authorization()))
        let values: [(MetadataKey, String?)] = [
            (.deviceID, "device-1"), (.user("zip"), "12345"), (.user("age"), nil),
            (.authenticationExpiry, "2023-11-14 23:13:20 +0000"),
            (.authorizationExpiry(Phone.tnt), "2023-11-14 22:23:20 +0000"),
            (.authorizationExpiry(ResourceID("TBS")), nil),
        ]
        for (key, value) in values { #expect(phone.call(.getMetadata(key)) == [.setMetadataStatus(value, key)]) }
    }

    // MARK: logout

    @Test("logout of tvOS erases the tokens of all programmers and MVPDs, and tells when the MVPD has answered")
    func logoutOfTV() {
        for answer in [DeviceAnswer.loggedOut, .failure(DeviceFailure(.other, "no network"))] {
            var box = Self.loggedIn(.tvOS)
            box.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
            box.logIn(with: Phone.dish)
            #expect(box.storage.logins.count == 2)
            #expect(box.call(.logout) == [])
            #expect(box.request == .logout(Phone.two, Phone.dish))
            #expect(box.storage == DeviceStorage())
            #expect(box.answer(answer) == [.setAuthenticationStatus(false, .notAuthenticated)])
            box.start(Phone.one)
            #expect(!box.isLoggedIn)
        }
    }

    @Test("logout of iOS erases the tokens, shows the logout page, and ends when the page has come to the app's URL")
    func logout() {
        var phone = Self.loggedIn()
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        phone.logIn(with: Phone.dish)
        let page = "\(Self.pages)/logout?requestor_id=TWO&mso_id=Dish&\(Self.fields)"
        #expect(phone.call(.logout) == [.navigateToUrl(page)])
        #expect(phone.storage == DeviceStorage())
        #expect(phone.requests.isEmpty)
        #expect(phone.call(.handleExternalURL("https://mvpd.example")) == [])
        #expect(
            phone.call(.handleExternalURL("adobepass://ios.app")) == [
                .setAuthenticationStatus(false, .notAuthenticated)
            ])
        #expect(phone.call(.handleExternalURL("adobepass://ios.app")) == [])
    }

    @Test("logout of a login by Apple SSO tells that the viewer must also log out in the settings (VSA203)")
    func logoutOfSystem() {
        var phone = Phone()
        phone.start(providers: Self.systemProviders)
        phone.call(.getAuthentication)
        phone.receive(.systemDialog(.provider(Phone.dish)))
        phone.answer(.authentication(phone.authentication(Phone.dish)))
        #expect(phone.call(.logout) == [.status(.systemLogoutNeeded)])
        #expect(phone.answer(.loggedOut) == [.setAuthenticationStatus(false, .notAuthenticated)])
        #expect(!phone.isLoggedIn)

        var relaunched = Phone()
        relaunched.resume(after: phone)
        relaunched.start(providers: Self.systemProviders)
        #expect(relaunched.request == .systemExchange(Phone.one, Phone.dish))
        let token = relaunched.authentication(Phone.dish)
        #expect(relaunched.answer(.authentication(token)) == [.setRequestorComplete(true)])
        #expect(relaunched.isLoggedIn)

        relaunched.call(.logout)
        relaunched.receive(.systemLogout)
        var last = Phone()
        last.resume(after: relaunched)
        #expect(last.start(providers: Self.systemProviders) == [.setRequestorComplete(true)])
        #expect(!last.isLoggedIn)
    }

    // MARK: view media

    @Test("media that is not protected plays at once; for the rest the app calls getAuthorization")
    func viewMedia() {
        #expect(DeviceCall.view(Phone.tnt, isProtected: false) == nil)
        #expect(DeviceCall.view(Phone.tnt, isProtected: true) == .getAuthorization(Phone.tnt))
    }
}
