import MediaToken
import Sandbox

/// A device with its storage, and the last that it gave back.
struct TestDevice {
    static let beginning = Timestamp(milliseconds: 1_700_000_000_000)
    static let one = RequestorID("ONE")
    static let two = RequestorID("TWO")
    static let cable = MVPDID("Cable")
    static let dish = MVPDID("Dish")
    static let tnt = ResourceID("TNT")

    var device: Device
    var storage: DeviceStorage
    var now = beginning
    private(set) var outputs: [DeviceOutput] = []

    init(
        _ platform: DeviceSystem.Platform = .iOS, id: String = "device-1", team: String = "T",
        bundleID: String = "com.example.one", sdk: SDKVersion = .latest, storage: DeviceStorage = DeviceStorage()
    ) {
        let app = AppInstallation(on: DeviceSystem(platform, 9), team: team, bundleID: bundleID, sdk: sdk)
        device = Device(id: id, app: app)
        self.storage = storage
    }

    var callbacks: [DeviceCallback] {
        outputs.compactMap { if case .callback(let callback) = $0 { callback } else { nil } }
    }

    var tracked: [TrackingEvent] {
        outputs.compactMap { if case .tracking(let event) = $0 { event } else { nil } }
    }

    var requests: [(number: Int, request: DeviceRequest)] {
        outputs.compactMap { if case .request(let number, let request) = $0 { (number, request) } else { nil } }
    }

    /// The only request of the last turn.
    var request: DeviceRequest? { requests.count == 1 ? requests[0].request : nil }

    /// The number of the last request of the last turn; 0, which no request has, if there was none.
    var lastNumber: Int { requests.last?.number ?? 0 }

    @discardableResult mutating func call(_ call: DeviceCall) -> [DeviceCallback] {
        outputs = device.call(call, at: now, in: &storage)
        return callbacks
    }

    @discardableResult mutating func receive(_ event: DeviceEvent) -> [DeviceCallback] {
        outputs = device.receive(event, at: now, in: &storage)
        return callbacks
    }

    /// Answers the last request of the last turn.
    @discardableResult mutating func answer(_ answer: DeviceAnswer) -> [DeviceCallback] {
        receive(.answered(lastNumber, answer))
    }

    /// Sets the requestor, whose configuration comes at once, and returns the callbacks that follow it.
    @discardableResult mutating func start(
        _ requestor: RequestorID = one, providers: [DeviceProvider] = [DeviceProvider(cable), DeviceProvider(dish)]
    ) -> [DeviceCallback] {
        // Only tvOS needs them.
        call(.setRequestor(requestor, credentials: DeviceCredentials(publicKey: "key", secret: "secret")))
        return answer(.configuration(DeviceConfiguration(requestor, providers: providers)))
    }

    /// Logs the viewer in through the dialog of MVPDs, and the login page or a second screen.
    @discardableResult mutating func logIn(
        with mvpd: MVPDID = cable, lasting seconds: Int64 = 3600
    ) -> AuthenticationToken {
        openLoginPage(of: mvpd)
        if case .registrationCode? = request {
            answer(.registrationCode("AB12CD3", url: "https://tv.example"))
        } else {
            call(.handleExternalURL("adobepass://ios.app"))
        }
        let token = authentication(mvpd, lasting: seconds)
        answer(.authentication(token))
        return token
    }

    /// Begins a login, up to the login page of the MVPD.
    mutating func openLoginPage(of mvpd: MVPDID = cable) {
        call(.getAuthentication)
        if callbacks.contains(where: { if case .displayProviderDialog = $0 { true } else { false } }) {
            call(.setSelectedProvider(mvpd))
        }
    }

    /// A token of the current programmer that Adobe Pass issues to this device.
    func authentication(_ mvpd: MVPDID = cable, lasting seconds: Int64 = 3600) -> AuthenticationToken {
        let requestor = device.configuration.requestor
        return AuthenticationToken(
            requestor: requestor, mvpd: mvpd, deviceID: device.id, expiry: now.advanced(by: .seconds(seconds)),
            text: "AuthN \(requestor) \(mvpd) \(device.id) \(now.milliseconds)", metadata: ["zip": "12345"])
    }

    func authorization(
        _ resource: ResourceID = tnt, _ mvpd: MVPDID = cable, lasting seconds: Int64 = 600
    ) -> AuthorizationToken {
        AuthorizationToken(
            requestor: device.configuration.requestor, resource: resource, mvpd: mvpd,
            expiry: now.advanced(by: .seconds(seconds)), text: "AuthZ \(resource) \(now.milliseconds)")
    }

    /// Whether `checkAuthentication` says that the viewer is logged in.
    var isLoggedIn: Bool {
        var copy = self
        return copy.call(.checkAuthentication) == [.setAuthenticationStatus(true)]
    }

    /// Restarts the app, or gives it its turn after another, over the storage that `earlier` left.
    mutating func resume(after earlier: TestDevice) {
        (storage, now) = (earlier.storage, earlier.now)
    }
}
