import MediaToken
import Sandbox
import Testing

@Suite("tokens that a device keeps")
struct TokenCacheTests {
    private typealias Phone = TestDevice

    private static let perRequestor = [
        DeviceProvider(Phone.cable, authenticatesPerRequestor: true), DeviceProvider(Phone.dish),
    ]
    private static let old = SDKVersion(1, 6)
    private static let refusal = DeviceFailure(.notAuthenticated, "another device's token")

    /// A device whose app has started, and whose viewer has logged in.
    private static func loggedIn(sdk: SDKVersion = .latest, lasting seconds: Int64 = 3600) -> TestDevice {
        var phone = Phone(sdk: sdk)
        phone.start()
        phone.logIn(lasting: seconds)
        return phone
    }

    /// Plays a resource, and returns the requests that it took.
    private static func play(_ phone: inout TestDevice, _ resource: ResourceID = Phone.tnt) -> [DeviceRequest] {
        phone.call(.getAuthorization(resource))
        var asked = phone.requests.map(\.request)
        if case .authorization? = phone.request {
            phone.answer(.authorization(phone.authorization(resource)))
            asked += phone.requests.map(\.request)
        }
        phone.answer(.mediaToken("media"))
        return asked
    }

    // MARK: AuthN and AuthZ tokens

    @Test("a login survives a restart of the app, and ends with its TTL")
    func restart() {
        let phone = Self.loggedIn(lasting: 60)
        var later = Phone()
        later.resume(after: phone)
        later.start()
        #expect(later.isLoggedIn)
        later.now = phone.now.advanced(by: .seconds(60))
        #expect(later.isLoggedIn, "the last millisecond counts")
        later.now = later.now.advanced(by: .milliseconds(1))
        #expect(!later.isLoggedIn)
    }

    @Test("a login does not count once its MVPD is no longer among the programmer's")
    func issuer() {
        var phone = Phone()
        phone.start()
        phone.logIn(with: Phone.cable)
        phone.start(providers: [DeviceProvider(Phone.dish)])
        #expect(!phone.isLoggedIn)
        phone.start(providers: [DeviceProvider(Phone.cable)])
        #expect(phone.isLoggedIn)
    }

    @Test("a media token is never cached: each play asks for one, by the cached AuthZ token")
    func mediaToken() {
        var phone = Self.loggedIn()
        #expect(Self.play(&phone).count == 2)
        for _ in 0..<2 {
            let asked = Self.play(&phone)
            #expect(asked.count == 1)
            if case .mediaToken? = asked.first {} else { Issue.record("\(asked)") }
        }
    }

    @Test("AuthZ tokens are one per resource; after its TTL, a new one replaces the old")
    func authorizations() {
        var phone = Self.loggedIn()
        _ = Self.play(&phone)
        _ = Self.play(&phone, ResourceID("TBS"))
        #expect(phone.storage.logins[0].authorizations.map(\.resource.text) == ["TNT", "TBS"])
        phone.now = phone.now.advanced(by: .seconds(601))
        #expect(Self.play(&phone).count == 2)
        #expect(phone.storage.logins[0].authorizations.map(\.resource.text) == ["TBS", "TNT"])
        #expect(phone.storage.logins[0].authorizations[1].expiry > phone.now)
    }

    @Test("an AuthZ token of one programmer does not count for another that uses the same login")
    func authorizationOfOther() {
        var phone = Self.loggedIn()
        _ = Self.play(&phone)
        phone.start(Phone.two)
        #expect(phone.isLoggedIn)
        #expect(Self.play(&phone).count == 2)
        phone.start(Phone.one)
        #expect(Self.play(&phone).count == 1)
    }

    @Test("a new login with an MVPD replaces the old one and its AuthZ tokens")
    func newLogin() {
        var phone = Self.loggedIn(lasting: 10)
        _ = Self.play(&phone)
        phone.now = phone.now.advanced(by: .seconds(11))
        phone.logIn()
        #expect(phone.storage.logins.count == 1)
        #expect(Self.play(&phone).count == 2)
    }

    // MARK: storage before and from 1.7

    @Test("storage from 1.7 on keeps the login of each programmer and MVPD")
    func nestedMap() {
        var phone = Phone(sdk: SDKVersion(1, 7))
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        phone.logIn(with: Phone.cable)
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        phone.logIn(with: Phone.dish)
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        #expect(phone.isLoggedIn)
    }

    @Test("storage before 1.7 has one slot: the login of another programmer replaces it")
    func oneSlot() {
        var phone = Phone(sdk: Self.old)
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        phone.logIn(with: Phone.cable)
        #expect(phone.isLoggedIn)
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        #expect(!phone.isLoggedIn)
        phone.logIn(with: Phone.dish)
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        #expect(!phone.isLoggedIn)
        #expect(phone.storage.logins.count == 1)
    }

    @Test("an upgrade to iOS 10 erases the pasteboard, and a later one does not")
    func upgrade() {
        var phone = Self.loggedIn()
        phone.storage.upgradeSystem(from: DeviceSystem(.iOS, 10), to: DeviceSystem(.iOS, 11))
        phone.storage.upgradeSystem(from: DeviceSystem(.iOS, 8), to: DeviceSystem(.iOS, 9))
        #expect(phone.isLoggedIn)
        phone.storage.upgradeSystem(from: DeviceSystem(.tvOS, 9), to: DeviceSystem(.tvOS, 11))
        #expect(phone.isLoggedIn)
        phone.storage.upgradeSystem(from: DeviceSystem(.iOS, 9), to: DeviceSystem(.iOS, 11))
        #expect(!phone.isLoggedIn)
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(nil)], "the cached MVPD is gone too")
    }

    // MARK: authentication per requestor

    @Test(
        "without authentication per requestor, one login counts for all programmers",
        arguments: [
            SDKVersion(1, 6), .latest,
        ])
    func sharedLogin(sdk: SDKVersion) {
        var phone = Self.loggedIn(sdk: sdk)
        #expect(phone.start(Phone.two) == [.setRequestorComplete(true)])
        #expect(phone.isLoggedIn)
    }

    @Test("with authentication per requestor, setRequestor obtains a token passively from another programmer's")
    func passive() {
        var phone = Phone(sdk: SDKVersion(1, 7))
        phone.start(Phone.one, providers: Self.perRequestor)
        let token = phone.logIn()
        #expect(phone.start(Phone.two, providers: Self.perRequestor) == [], "the passive request comes first")
        #expect(phone.request == .passiveAuthentication(Phone.two, from: token))
        let own = phone.authentication()
        #expect(own.requestor == Phone.two)
        #expect(phone.answer(.authentication(own)) == [.setRequestorComplete(true)])
        #expect(phone.isLoggedIn)
        #expect(phone.storage.logins.map(\.authentication) == [token, own])
        #expect(phone.start(Phone.two, providers: Self.perRequestor) == [.setRequestorComplete(true)])
    }

    @Test("a passive authentication that fails leaves the viewer logged out, and completes setRequestor")
    func passiveFails() {
        var phone = Phone()
        phone.start(Phone.one, providers: Self.perRequestor)
        phone.logIn()
        phone.start(Phone.two, providers: Self.perRequestor)
        #expect(phone.answer(.failure(Self.refusal)) == [.setRequestorComplete(true)])
        #expect(!phone.isLoggedIn)
    }

    @Test("before 1.7, a token per requestor is stored privately: another app does not see it, and nothing is passive")
    func privateSlot() {
        var phone = Phone(sdk: Self.old)
        phone.start(Phone.one, providers: Self.perRequestor)
        phone.logIn()
        var other = Phone(bundleID: "com.example.two", sdk: Self.old)
        other.resume(after: phone)
        #expect(other.start(Phone.one, providers: Self.perRequestor) == [.setRequestorComplete(true)])
        #expect(!other.isLoggedIn)
        other.logIn()
        phone.resume(after: other)
        #expect(phone.isLoggedIn)
        #expect(phone.start(Phone.two, providers: Self.perRequestor) == [.setRequestorComplete(true)])
        #expect(!phone.isLoggedIn)

        other.resume(after: phone)
        other.start(Phone.one, providers: Self.perRequestor)
        other.call(.logout)
        phone.resume(after: other)
        phone.start(Phone.one, providers: Self.perRequestor)
        #expect(phone.isLoggedIn, "the logout of another app leaves its file")
    }

    // MARK: importer and sanitizer

    @Test("the importer takes over a login of older storage, only where no valid token exists")
    func importer() {
        var phone = Phone(sdk: Self.old)
        phone.start()
        let older = phone.logIn()
        var updated = Phone(sdk: SDKVersion(1, 7))
        updated.resume(after: phone)
        updated.start()
        #expect(updated.isLoggedIn)
        #expect(updated.storage.logins.map(\.shelf) == [.slot, .map])
        #expect(updated.storage.logins.map(\.authentication) == [older, older])
        phone.resume(after: updated)
        phone.start()
        #expect(phone.isLoggedIn, "the older app stays logged in")

        // The older app logs in for another programmer and then again, while the updated one has a valid token.
        phone.now = phone.now.advanced(by: .seconds(1))
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        phone.logIn(with: Phone.dish)
        phone.start(providers: [DeviceProvider(Phone.cable)])
        let newer = phone.logIn()
        updated.resume(after: phone)
        updated.start()
        #expect(updated.storage.logins.map(\.authentication) == [older, newer])
        #expect(updated.storage.logins.map(\.shelf) == [.map, .slot])
        updated.now = older.expiry.advanced(by: .milliseconds(1))
        updated.start()
        #expect(updated.storage.logins.map(\.authentication) == [newer, newer])
        #expect(updated.storage.logins.map(\.shelf) == [.slot, .map])
    }

    @Test("the importer is not stopped by a login of another device ID")
    func importerOfOtherDevice() {
        var other = Phone(id: "device-2", bundleID: "com.two.app", sdk: SDKVersion(1, 7, 4))
        other.start()
        let others = other.logIn()
        var phone = Phone(id: "device-1", bundleID: "com.one.app", sdk: Self.old)
        phone.resume(after: other)
        phone.start()
        let older = phone.logIn()
        var updated = Phone(id: "device-1", bundleID: "com.one.app")
        updated.resume(after: phone)
        updated.start()
        #expect(updated.isLoggedIn)
        #expect(updated.storage.logins.map(\.authentication) == [others, older, older])
    }

    @Test("the importer replaces no valid login of another programmer, whose MVPD this one does not have")
    func importerOfOtherProgrammer() {
        var updated = Phone(bundleID: "com.example.two")
        updated.start(Phone.one)
        let valid = updated.logIn()
        var older = Phone(sdk: Self.old)
        older.resume(after: updated)
        older.now = older.now.advanced(by: .seconds(1))
        older.start(Phone.one)
        let other = older.logIn()
        updated.resume(after: older)
        updated.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        #expect(updated.storage.logins.map(\.authentication) == [valid, other])
        #expect(updated.storage.logins.map(\.shelf) == [.map, .slot])
    }

    @Test("the importer leaves expired logins and other apps' private ones")
    func importerLeaves() {
        var phone = Phone(sdk: Self.old)
        phone.start(providers: Self.perRequestor)
        phone.logIn(lasting: 60)
        var other = Phone(bundleID: "com.example.two")
        other.resume(after: phone)
        other.start(providers: Self.perRequestor)
        #expect(!other.isLoggedIn)
        var updated = Phone()
        updated.resume(after: phone)
        updated.now = updated.now.advanced(by: .seconds(61))
        updated.start(providers: Self.perRequestor)
        #expect(updated.storage.logins.map(\.shelf) == [.privateSlot])
        updated.now = phone.now
        updated.start(providers: Self.perRequestor)
        #expect(updated.isLoggedIn)
    }

    @Test(
        "the sanitizer removes logins of an earlier device ID from SDK 1.7.5 on",
        arguments: [
            (SDKVersion(1, 7, 4), false), (SDKVersion(1, 7, 5), true), (SDKVersion(1, 8), true), (.latest, true),
        ])
    func sanitizer(sdk: SDKVersion, removes: Bool) {
        let phone = Self.loggedIn(sdk: sdk)
        var restored = Phone(id: "device-2", sdk: sdk)
        restored.resume(after: phone)
        restored.start()
        #expect(restored.storage.logins.isEmpty == removes)
        #expect(restored.isLoggedIn == !removes)
    }

    @Test(
        "another app's login under another device ID counts only before SDK 1.7.5, until the server refuses it",
        arguments: [
            (SDKVersion(1, 7, 4), true), (SDKVersion(1, 7, 5), false), (SDKVersion(1, 9), false),
        ])
    func foreignLogin(sdk: SDKVersion, counts: Bool) {
        let phone = Self.loggedIn(sdk: sdk)
        var other = Phone(id: "device-2", bundleID: "org.example", sdk: sdk)
        other.resume(after: phone)
        other.start()
        #expect(other.isLoggedIn == counts)
        #expect(other.storage.logins.isEmpty == (sdk == SDKVersion(1, 7, 5)))
    }

    @Test("among several logins, one of the programmer's own comes first, then one of the cached MVPD")
    func preference() {
        var phone = Phone()
        phone.start(Phone.one, providers: [DeviceProvider(Phone.dish)])
        phone.logIn(with: Phone.dish)
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        phone.logIn(with: Phone.cable)
        phone.start(Phone.two, providers: [DeviceProvider(Phone.dish)])
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(Phone.dish)])
        phone.start(Phone.one)
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(Phone.cable)])
        phone.storage.upgradeSystem(from: DeviceSystem(.iOS, 9), to: DeviceSystem(.iOS, 10))
        phone.start(Phone.two)
        phone.logIn(with: Phone.dish)
        phone.start(Phone.one, providers: [DeviceProvider(Phone.cable)])
        phone.logIn(with: Phone.cable)
        phone.start(Phone.two)
        #expect(phone.call(.getSelectedProvider) == [.selectedProvider(Phone.dish)], "its own, although older")
    }

    @Test("the server refuses a token of another device ID, and the viewer can log in again")
    func deviceBinding() {
        var phone = Phone(id: "device-1", sdk: SDKVersion(1, 7))
        phone.start()
        let foreign = phone.logIn()
        var restored = Phone(id: "device-2", sdk: SDKVersion(1, 7))
        restored.resume(after: phone)
        restored.start()
        restored.call(.getAuthorization(Phone.tnt))
        #expect(restored.request == .authorization(Phone.tnt, Phone.one, foreign))
        #expect(
            restored.answer(.failure(Self.refusal)) == [
                .tokenRequestFailed(Phone.tnt, .notAuthenticated, "another device's token")
            ])
        #expect(!restored.isLoggedIn)
        let own = restored.logIn()
        #expect(Self.play(&restored).first == .authorization(Phone.tnt, Phone.one, own))
    }
}
