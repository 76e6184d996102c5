internal import Basics
package import HTTP
package import MediaToken

/// Drives an app's device: carries out its requests, and shows its pages in a web view, or on a second screen.
///
/// Its owner gives it the calls of the app and the acts of the viewer, a way to send, and hears what happens. It
/// belongs to one thread.
package final class DeviceDriver {
    /// Something that happens, in its order.
    package enum Happening {
        /// The web view has reached the app's URL, with which the app calls `handleExternalURL`.
        case reached(String)
        case callback(DeviceCallback)
        case tracking(TrackingEvent)
        /// The service has answered a call; `nil` if it has not.
        case answered(ServiceCall, Int?)
        /// A page waits for the viewer. With any status but 200 it is an error page.
        case page(Int?)
    }

    /// The memory of a device, which the drivers of all its apps share.
    package final class Hardware {
        package var memory: DeviceMemory
        /// Milliseconds by which the clock of the device is ahead.
        package var clockMilliseconds: Int64 = 0

        package init(_ memory: DeviceMemory) { self.memory = memory }
    }

    package typealias Send = (ServiceCall, @escaping (HTTPClient.Answer?) -> Void) -> Void

    /// The redirections that a web view follows.
    private static let mostRedirections = 10

    package private(set) var device: Device
    package let hardware: Hardware
    /// Why the last request failed, with its code before a colon.
    package private(set) var failure = "no request was made"
    private let send: Send
    private let note: (Happening) -> Void
    private var outputs: [DeviceOutput] = []
    private var isHandling = false
    /// The polls that wait for the second screen.
    private var polls: [(number: Int, request: DeviceRequest)] = []
    /// The page that is shown: its path and query.
    private var page: String?
    /// The number of launches. Answers to an earlier run are nobody's.
    private var run = 0
    /// The number of times that the web view was opened or closed. Answers to an earlier page are nobody's.
    private var view = 0

    /// - Parameters:
    ///   - service: the URL of Adobe Pass.
    ///   - send: sends a call, and hands over its answer, at once or later.
    ///   - note: hears what happens.
    package init(
        _ app: AppInstallation, on hardware: Hardware, service: String,
        redirectURL: String = Device.usualRedirectURL, send: @escaping Send, note: @escaping (Happening) -> Void
    ) {
        (self.hardware, self.send, self.note) = (hardware, send, note)
        device = Device(
            id: app.deviceIdentifier.id(of: hardware.memory.name), app: app, service: service, redirectURL: redirectURL)
    }

    /// Starts an app: this one again, or another on the same device. Nothing but what is stored is left of the old one.
    package func launch(_ app: AppInstallation) {
        (outputs, polls, run) = ([], [], run + 1)
        closeView()
        device = Device(
            id: app.deviceIdentifier.id(of: hardware.memory.name), app: app, service: device.service,
            redirectURL: device.redirectURL)
    }

    // MARK: The app and its viewer

    package func call(_ call: DeviceCall) { turn { $0.call(call, at: now, in: &$1) } }

    package func receive(_ event: DeviceEvent) { turn { $0.receive(event, at: now, in: &$1) } }

    /// Fills in the page of the MVPD that is shown, or that the second screen opens. `false` if there is none.
    package func logIn(_ viewer: String, password: String) -> Bool {
        guard let page, let query = page.split(separator: "?", maxSplits: 1).dropFirst().first else { return false }
        let fields = FormPairs(Array(query.utf8)[...]).map { name, value in
            (String(decoding: name, as: UTF8.self), String(percentEncoded: value, plus: UInt8(ascii: " ")))
        }
        let form = fields + [("user", viewer), ("password", password)]
        visit(ServiceCall(.login, Self.path(of: page), form: form), 0)
        return true
    }

    /// Asks again whether the viewer has logged in on the second screen. `false` if nothing waits for that.
    @discardableResult
    package func poll() -> Bool {
        // What the device has abandoned, nobody waits for.
        let waiting = polls.filter { device.pending[$0.number] != nil }
        polls = []
        waiting.forEach { carryOut($0.number, $0.request) }
        return !waiting.isEmpty
    }

    /// The time by the clock of the device.
    package var now: Timestamp { .now.advanced(byMilliseconds: hardware.clockMilliseconds) }

    // MARK: What the device gives back

    private func turn(_ body: (inout Device, inout DeviceStorage) -> [DeviceOutput]) {
        var storage = hardware.memory[device.app]
        outputs += body(&device, &storage)
        hardware.memory[device.app] = storage
        if !device.showsPage { closeView() }
        guard !isHandling else { return }
        isHandling = true
        while !outputs.isEmpty { handle(outputs.removeFirst()) }
        isHandling = false
    }

    private func handle(_ output: DeviceOutput) {
        switch output {
        case .tracking(let event): note(.tracking(event))
        case .request(let number, let request): carryOut(number, request)
        case .callback(let callback):
            let before = run
            note(.callback(callback))
            guard run == before else { return }
            switch callback {
            case .navigateToUrl(let url):
                closeView()
                visit(ServiceCall(device.login == .leaving ? .logout : .login, Self.target(of: url)), 0)
            case .status(.registrationCode(_, let url)): page = Self.target(of: url)
            default: break
            }
        }
    }

    private func carryOut(_ number: Int, _ request: DeviceRequest) {
        let call = request.call(of: device)
        send(call) { [self, run] reply in
            note(.answered(call, reply?.status))
            guard run == self.run else { return }
            let answer = request.answer(reply)
            // The device would ask again at once; here the request waits for ``poll()``.
            if case .pending = answer { return polls.append((number, request)) }
            if case .failure(let failure) = answer { self.failure = failure.description }
            receive(.answered(number, answer))
        }
    }

    // MARK: The web view

    /// Opens a page, and follows its redirections: up to a page for the viewer, or to the app's URL, which the app
    /// takes from there.
    private func visit(_ call: ServiceCall, _ redirections: Int) {
        send(call) { [self, view] reply in
            note(.answered(call, reply?.status))
            guard view == self.view else { return }
            guard let location = reply?.header("Location"), redirections < Self.mostRedirections else {
                if reply?.status != 200 { failure = reply.map { "HTTP \($0.status)" } ?? "no answer" }
                // A page that comes in answer to a form is that of the form again.
                if reply?.status == 200, call.form == nil { page = call.target }
                return note(.page(reply?.status))
            }
            if device.isRedirect(location) {
                closeView()
                note(.reached(location))
                return self.call(.handleExternalURL(location))
            }
            visit(ServiceCall(call.purpose, Self.target(of: location)), redirections + 1)
        }
    }

    private func closeView() { (page, view) = (nil, view + 1) }

    /// The path and the query of a URL, whose scheme and host are those of the service. What no request line may have
    /// is left out.
    private static func target(of url: String) -> String {
        let path = url.firstRange(of: "://").map { url[$0.upperBound...].drop { $0 != "/" } } ?? url[...]
        return (path.hasPrefix("/") ? "" : "/") + path.visible
    }

    private static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }
}
