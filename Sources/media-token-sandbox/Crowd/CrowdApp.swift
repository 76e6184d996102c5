internal import Basics
internal import HTTP
internal import MediaToken
internal import Sandbox

/// One app of the crowd, on a device that a ``DeviceDriver`` drives. It plays the app's code and its viewer.
final class CrowdApp {
    /// Who the viewer is, and where the viewer logs in.
    struct Viewer {
        let name: String
        let mvpd: MVPDID
        var mistypesPassword = false
    }

    enum Ending {
        /// What was asked for has happened: the viewer is logged in after `open`, and logged out after `logOut`.
        case done
        case token(String)
        case refused(String)
    }

    /// What the app has begun, and has not come to its end.
    private enum Aim { case open, logIn, play, logOut, lookAfterLogout }

    private let worker: CrowdWorker
    private var viewer: Viewer
    private let installation: AppInstallation
    private let hardware: DeviceDriver.Hardware
    private lazy var driver = DeviceDriver(
        installation, on: hardware, service: "", send: { [unowned self] in send($0, $1) },
        note: { [unowned self] in handle($0) })
    private var aim = Aim.open
    /// Whether a password was sent, and whether it was wrong.
    private var (hasSubmitted, hasMistyped) = (false, false)
    /// Whether the logout has come to the MVPD's own page, as it does only if somebody was logged in.
    private var hasReachedMVPD = false
    private var ended: ((Ending) -> Void)?
    private let note: (CrowdEvent.Stage, String) -> Void

    init(
        _ worker: CrowdWorker, _ viewer: Viewer, _ name: String, of team: String, on hardware: DeviceDriver.Hardware,
        note: @escaping (CrowdEvent.Stage, String) -> Void
    ) {
        (self.worker, self.viewer, self.hardware, self.note) = (worker, viewer, hardware, note)
        installation = AppInstallation(on: DeviceSystem(.iOS, 17), team: team, bundleID: "tv.crowd.\(name)")
    }

    // MARK: What the app does

    /// Opens the app, and logs the viewer in unless its storage has a login that counts.
    func open(_ ended: @escaping (Ending) -> Void) {
        begin(.open, ended)
        driver.call(.setRequestor(RequestorID(worker.settings.requestor)))
    }

    /// Replaces the SDK by a new one over the same storage, as a restart of the app does.
    func restart() { driver.launch(installation) }

    func authorize(_ ended: @escaping (Ending) -> Void) {
        begin(.play, ended)
        driver.call(.getAuthorization(ResourceID(worker.settings.resource)))
    }

    func logOut(_ ended: @escaping (Ending) -> Void) {
        // The SDK of an app that was not opened would let the call wait.
        guard driver.device.isReady else { return ended(.done) }
        begin(.logOut, ended)
        driver.call(.logout)
    }

    /// Notes whether the logout of another app of the device has ended the login of this one too.
    func noteLogoutElsewhere() {
        begin(.lookAfterLogout) { _ in }
        driver.call(.checkAuthentication)
    }

    private func begin(_ aim: Aim, _ ended: @escaping (Ending) -> Void) {
        (self.aim, self.ended, hasReachedMVPD) = (aim, ended, false)
        (hasSubmitted, hasMistyped) = (false, false)
    }

    // MARK: What comes back

    private func handle(_ happening: DeviceDriver.Happening) {
        switch happening {
        case .callback(let callback): handle(callback)
        case .page(200) where aim == .logIn && (!hasSubmitted || hasMistyped): logIn()
        case .page where aim == .logOut: end(refusal)
        case .page: driver.call(.setSelectedProvider(nil))
        case .answered(let call, 302) where call.target.hasPrefix("/mvpd/logout"): hasReachedMVPD = true
        case .answered, .reached, .tracking: break
        }
    }

    private func handle(_ callback: DeviceCallback) {
        switch (callback, aim) {
        case (.setRequestorComplete(true), _): driver.call(.checkAuthentication)
        case (.setRequestorComplete(false), _): end(refusal)
        case (.setAuthenticationStatus(let isLoggedIn, _), .lookAfterLogout):
            note(.login, isLoggedIn ? "still logged in" : CrowdOutcome.loggedOutElsewhere)
            end(.done)
        case (.setAuthenticationStatus, .logOut):
            note(.login, hasReachedMVPD ? "logged out" : "nobody was logged in")
            end(.done)
        case (.setAuthenticationStatus(true, _), _):
            if aim == .logIn { note(.login, "logged in") }
            end(.done)
        case (.setAuthenticationStatus(false, _), .open):
            aim = .logIn
            driver.call(.getAuthentication)
        case (.setAuthenticationStatus(false, _), _): end(refusal)
        case (.displayProviderDialog, _): driver.call(.setSelectedProvider(viewer.mvpd))
        case (.presentTvProviderDialog, _): driver.receive(.systemDialog(.other))
        case (.setToken(let token, _), _): end(.token(token))
        case (.tokenRequestFailed, _): end(refusal)
        default: break
        }
    }

    /// Fills in the page of the MVPD. If it comes back, the password was wrong.
    private func logIn() {
        if hasMistyped { note(.login, "wrong password") }
        (hasSubmitted, hasMistyped) = (true, viewer.mistypesPassword)
        viewer.mistypesPassword = false
        guard driver.logIn(viewer.name, password: hasMistyped ? "wrong" : "right") else {
            // The page is that of no login.
            return driver.call(.setSelectedProvider(nil))
        }
    }

    /// The code of the last failure.
    private var refusal: Ending { .refused(String(driver.failure.prefix { $0 != ":" })) }

    private func end(_ ending: Ending) {
        let ended = ended
        self.ended = nil
        ended?(ending)
    }

    private func send(_ call: ServiceCall, _ completion: @escaping (HTTPClient.Answer?) -> Void) {
        guard let step = CrowdStep(rawValue: call.purpose.rawValue) else { return completion(nil) }
        worker.send(step, call.target, headers: call.headers, body: call.body) { [self] answer in
            // The driver hears the answer, and does not keep its app alive.
            withExtendedLifetime(self) { completion(answer) }
        }
    }
}
