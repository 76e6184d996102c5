internal import Basics
internal import HTTP
internal import MediaToken
internal import Sandbox

/// One app of the crowd. It drives Adobe's SDK, which is a value (`Device`), and plays what surrounds an SDK: the app's
/// code, the calls of REST v2, and the viewer's web view.
final class CrowdApp {
    /// Who the viewer is, and where the viewer logs in.
    struct Viewer {
        let name: String
        let mvpd: MVPDID
        /// Milliseconds by which the clock of the device is ahead.
        let clockMilliseconds: Int64
        var mistypesPassword = false
    }

    enum Ending {
        /// What was asked for has happened: the viewer is logged in after `open`, and logged out after `logOut`.
        case done
        case token(String)
        case refused(String)
    }

    private static let redirectURL = "adobepass://ios.app"

    private let worker: CrowdWorker
    private var viewer: Viewer
    private var device: Device
    private var storage: DeviceStorage
    private var bearer: String?
    /// The media token that came with a decision, until the SDK asks for it.
    private var decided: String?
    /// The status, the action and the code of the last answer, if it refused something.
    private var refusal = (status: 0, action: String?.none, code: "no request was made")
    private var hasTriedLogin = false
    private var ended: ((Ending) -> Void)?
    private let note: (CrowdEvent.Stage, String) -> Void

    init(
        _ worker: CrowdWorker, _ viewer: Viewer, deviceID: String, bundleID: String = "tv.crowd.one",
        over storage: DeviceStorage = DeviceStorage(), note: @escaping (CrowdEvent.Stage, String) -> Void
    ) {
        (self.worker, self.viewer, self.storage, self.note) = (worker, viewer, storage, note)
        device = Device(
            id: deviceID, app: AppInstallation(on: DeviceSystem(.iOS, 17), team: "crowd", bundleID: bundleID))
    }

    /// A second app, on the device and over the storage of this one.
    func neighbour() -> CrowdApp {
        CrowdApp(worker, viewer, deviceID: device.id, bundleID: "tv.crowd.two", over: storage, note: note)
    }

    // MARK: What the app does

    /// Opens the app, and logs the viewer in unless its storage has a login that counts.
    func open(_ ended: @escaping (Ending) -> Void) {
        (self.ended, hasTriedLogin) = (ended, false)
        call(.setRequestor(RequestorID(worker.settings.requestor)))
    }

    /// Replaces the SDK by a new one over the same storage, as a restart of the app does.
    func restart() { device = Device(id: device.id, app: device.app) }

    func authorize(_ ended: @escaping (Ending) -> Void) {
        self.ended = ended
        call(.getAuthorization(ResourceID(worker.settings.resource)))
    }

    func logOut(_ ended: @escaping (Ending) -> Void) {
        // The SDK of an app that was not opened would let the call wait.
        guard device.isReady else { return ended(.done) }
        (self.ended, hasTriedLogin) = (ended, true)
        call(.logout)
    }

    private func call(_ call: DeviceCall) { handle(device.call(call, at: now, in: &storage)) }

    private func answer(_ number: Int, _ answer: DeviceAnswer) {
        handle(device.receive(.answered(number, answer), at: now, in: &storage))
    }

    private var now: Timestamp { .now.advanced(byMilliseconds: viewer.clockMilliseconds) }

    private func handle(_ outputs: [DeviceOutput]) {
        for output in outputs {
            switch output {
            case .callback(let callback): handle(callback)
            case .request(let number, let request): send(request, number)
            case .tracking: break
            }
        }
    }

    private func handle(_ callback: DeviceCallback) {
        switch callback {
        case .setRequestorComplete(true): call(.checkAuthentication)
        case .setRequestorComplete(false): end(.refused(refusal.code))
        case .setAuthenticationStatus(true, _): end(.done)
        case .setAuthenticationStatus(false, let error):
            guard hasTriedLogin else {
                hasTriedLogin = true
                return call(.getAuthentication)
            }
            end(error == .notAuthenticated ? .done : .refused(refusal.code))
        case .displayProviderDialog: call(.setSelectedProvider(viewer.mvpd))
        case .navigateToUrl: logIn()
        case .setToken(let token, _): end(.token(token))
        case .tokenRequestFailed: end(.refused(refusal.code))
        default: break
        }
    }

    private func end(_ ending: Ending) {
        let ended = ended
        self.ended = nil
        ended?(ending)
    }

    // MARK: What the SDK asks for, in REST v2

    private func send(_ request: DeviceRequest, _ number: Int) {
        switch request {
        case .configuration:
            withBearer { [self] in configure(number) }
        case .exchange(_, let requestor, let mvpd):
            api("profiles/\(encoded(mvpd.text))", .login) { [self] object in
                let profile = try? object?.object("profiles")?.object(mvpd.text)
                guard let expiry = profile?.time("notAfter") else { return fail(number) }
                let token = AuthenticationToken(
                    requestor: requestor, mvpd: mvpd, deviceID: device.id, expiry: expiry, text: "profile")
                answer(number, .authentication(token))
            }
        case .authorization(let resource, let requestor, let login):
            decide(resource, login.mvpd, number) { [self] token, expiry in
                decided = token
                let decision = AuthorizationToken(
                    requestor: requestor, resource: resource, mvpd: login.mvpd, expiry: expiry, text: "decision")
                answer(number, .authorization(decision))
            }
        case .mediaToken(let token, let login):
            if let decided {
                self.decided = nil
                return answer(number, .mediaToken(decided))
            }
            decide(token.resource, login.mvpd, number) { [self] token, _ in answer(number, .mediaToken(token)) }
        case .logout(_, let mvpd):
            // An SDK whose login was refused knows no MVPD, but the service may still know the login.
            api("logout/\(encoded((mvpd ?? viewer.mvpd).text))", .logout) { [self] object in
                let isOut = (try? object?.object("logouts")) != nil
                note(.login, isOut ? "logged out" : printable("no logout: \(refusal.code)", limit: 80))
                answer(number, .loggedOut)
            }
        default: fail(number)
        }
    }

    /// Registers the app, unless it has been registered before.
    private func withBearer(_ then: @escaping () -> Void) {
        guard bearer == nil else { return then() }
        let statement = #"{"software_statement": "crowd.crowd.crowd", "redirect_uri": "\#(Self.redirectURL)"}"#
        service("/o/client/register", .register, body: statement) { [self] answer in
            let (id, secret) = (answer?.string("client_id") ?? "", answer?.string("client_secret") ?? "")
            let form = "grant_type=client_credentials&client_id=\(encoded(id))&client_secret=\(encoded(secret))"
            service("/o/client/token", .register, body: form) { [self] answer in
                bearer = answer?.string("access_token")
                then()
            }
        }
    }

    private func configure(_ number: Int) {
        api("configuration", .configure) { [self] object in
            let listed = try? object?.object("requestor")?.objects("mvpds")
            let providers = listed?.compactMap { $0.string("id").map { DeviceProvider(MVPDID($0)) } }
            guard let providers else { return fail(number) }
            let requestor = RequestorID(worker.settings.requestor)
            answer(number, .configuration(DeviceConfiguration(requestor, providers: providers)))
        }
    }

    private func decide(
        _ resource: ResourceID, _ mvpd: MVPDID, _ number: Int, _ then: @escaping (String, Timestamp) -> Void
    ) {
        let body: JSONValue = ["resources": [.text(resource.text)]]
        api("decisions/authorize/\(encoded(mvpd.text))", .authorize, body: body.document) { [self] object in
            let decision = (try? object?.objects("decisions"))?.first
            guard let token = (try? decision?.object("token"))?.string("serializedToken"),
                let expiry = decision?.time("notAfter")
            else { return fail(number, denial: (try? decision?.object("error")) ?? nil) }
            then(token, expiry)
        }
    }

    /// Tells the SDK that a request has failed.
    ///
    /// - Parameter denial: The error of a decision; without one, the last answer says why.
    private func fail(_ number: Int, denial: JSONObject? = nil) {
        if let denial, let code = denial.string("code") { refusal = (403, denial.string("action"), code) }
        let (status, action, code) = refusal
        answer(number, .failure(DeviceFailure(status: status, action: action, code: code, "the service refused it")))
    }

    // MARK: The web view

    private func logIn() {
        let form = "mvpd=\(encoded(viewer.mvpd.text))&domainName=crowd.example&redirectUrl=\(encoded(Self.redirectURL))"
        api("sessions", .login, body: form) { [self] session in
            guard let code = session?.string("code") else { return call(.setSelectedProvider(nil)) }
            submit("provider=\(encoded(worker.settings.requestor))&code=\(code)&user=\(encoded(viewer.name))")
        }
    }

    private func submit(_ form: String) {
        let isWrong = viewer.mistypesPassword
        viewer.mistypesPassword = false
        worker.send(.login, "/mvpd/login", body: form + "&password=\(isWrong ? "wrong" : "right")") { [self] answer in
            if isWrong, answer?.status == 200 {
                note(.login, "wrong password")
                return submit(form)
            }
            guard answer?.status == 302, let url = answer?.header("Location"), url.hasPrefix(Self.redirectURL) else {
                refusal = Self.refusal(answer, nil)
                return call(.setSelectedProvider(nil))
            }
            note(.login, "logged in")
            call(.handleExternalURL(url))
        }
    }

    // MARK: Calls

    /// Calls REST v2, as ``service(_:_:body:_:)`` does.
    private func api(
        _ path: String, _ step: CrowdStep, body: String? = nil, _ then: @escaping (JSONObject?) -> Void
    ) {
        service("/api/v2/\(encoded(worker.settings.requestor))/\(path)", step, body: body, then)
    }

    /// Calls the service, with JSON or a form if there is a body, and hands over the object of its answer; `nil` if
    /// there is none.
    private func service(
        _ target: String, _ step: CrowdStep, body: String?, _ then: @escaping (JSONObject?) -> Void
    ) {
        var headers = [(name: "AP-Device-Identifier", value: "fingerprint \(Base64.encode(Array(device.id.utf8)))")]
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        worker.send(step, target, headers: headers, body: body) { [self] answer in
            let object = answer.flatMap { try? StrictJSON.readObject($0.body[...], valueLimit: 4096) }
            refusal = Self.refusal(answer, object)
            then(object)
        }
    }

    private static func refusal(
        _ answer: HTTPClient.Answer?, _ object: JSONObject?
    ) -> (status: Int, action: String?, code: String) {
        guard let answer else { return (0, nil, "no answer") }
        let plain = answer.status < 300 && object == nil ? "unreadable" : "HTTP \(answer.status)"
        return (answer.status, object?.string("action"), object?.string("code") ?? plain)
    }

    private func encoded(_ text: String) -> String { PercentEncoding.encode(text) }
}

extension JSONObject {
    /// The string in a member; `nil` if there is none.
    fileprivate func string(_ name: String) -> String? { (try? text(name)) ?? nil }

    /// The time in a member, which has milliseconds since 1970.
    fileprivate func time(_ name: String) -> Timestamp? {
        guard case .number(let number)? = members[JSONName(name)] else { return nil }
        return Int64(exactly: number).map { Timestamp(milliseconds: $0) }
    }
}
