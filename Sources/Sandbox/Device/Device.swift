package import MediaToken

/// AccessEnabler, Adobe's SDK for iOS and tvOS, in one app on one device.
///
/// The device takes calls and events, and returns callbacks and requests. It does no I/O, and has no clock and no
/// source of randomness. An app that restarts is a new device value over the storage that the old one used.
package struct Device: Sendable {
    /// The login, or logout, in progress.
    enum LoginAttempt: Sendable, Equatable {
        /// The app shows the dialog of MVPDs.
        case choosing
        /// The app shows the MVPD's login page.
        case visiting(MVPDID)
        /// The app shows the dialog of the system's TV provider.
        case system
        /// The viewer has logged in with the system's TV provider.
        case systemExchange
        /// The viewer logs in on a second screen.
        case secondScreen
        /// The app shows the page that ends the session at the MVPD.
        case leaving
    }

    /// The URL to which Adobe Pass leads the web view of an app without a scheme of its own (ADOBEPASS_REDIRECT_URL).
    package static let usualRedirectURL = "adobepass://ios.app"

    /// The device ID, which the server compares with the one that it signed into a token.
    package let id: String
    package let app: AppInstallation
    /// The URL of Adobe Pass, in front of the paths of its pages.
    package let service: String
    /// The URL to which Adobe Pass leads the web view at the end of a login or logout.
    package let redirectURL: String
    /// The viewer's ID in the programmer's analytics, which goes along with every request.
    package internal(set) var visitorID: String?
    /// The programmer's configuration; without any MVPD until Adobe Pass has answered.
    package internal(set) var configuration = DeviceConfiguration.none

    /// Whether `setRequestor` has completed with success.
    package internal(set) var isReady = false
    var login: LoginAttempt?
    /// The MVPD that `setSelectedProvider` named while no login was in progress.
    var chosenProvider: MVPDID?
    /// The tokens that the server did not accept, which no longer count in this run of the app.
    var refused: Set<AuthenticationToken> = []
    /// The calls that wait for `setRequestor`.
    var queue: [DeviceCall] = []
    /// The requests without an answer, by their numbers.
    var pending: [Int: DeviceRequest] = [:]
    var requestCount = 0

    package init(
        id: String, app: AppInstallation, service: String = "http://127.0.0.1:8090",
        redirectURL: String = Device.usualRedirectURL
    ) {
        (self.id, self.app, self.service, self.redirectURL) = (id, app, service, redirectURL)
    }

    /// Takes a call of the app. Until `setRequestor` has completed, any other call waits, and nothing is returned.
    package mutating func call(
        _ call: DeviceCall, at now: Timestamp, in storage: inout DeviceStorage
    ) -> [DeviceOutput] {
        turn(at: now, in: &storage) { $0.answer(call) }
    }

    /// Handles the answer to a request, or an act of the viewer.
    package mutating func receive(
        _ event: DeviceEvent, at now: Timestamp, in storage: inout DeviceStorage
    ) -> [DeviceOutput] {
        turn(at: now, in: &storage) { $0.answer(event) }
    }

    private mutating func turn(
        at now: Timestamp, in storage: inout DeviceStorage, _ body: (inout DeviceTurn) -> Void
    ) -> [DeviceOutput] {
        var turn = DeviceTurn(device: self, storage: storage, now: now)
        body(&turn)
        (self, storage) = (turn.device, turn.storage)
        return turn.outputs
    }
}
