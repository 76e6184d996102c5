internal import Basics
internal import CommandShell
internal import EventLoops
internal import Glibc
internal import HTTP
internal import LoadTest
internal import MediaToken
internal import Sandbox

/// A device whose app and viewer do what the lines of a script say.
final class DeviceSession {
    private let loop: EventLoop
    private let client: HTTPClient
    private let storage: String?
    private let show: (DeviceRecord) -> Void
    private let service: ServerURL
    private let redirectURL: String
    private let hardware: DeviceDriver.Hardware
    private var app: AppInstallation
    private(set) lazy var driver = DeviceDriver(
        app, on: hardware, service: "http://\(service.host):\(service.port)\(service.path)", redirectURL: redirectURL,
        send: { [unowned self] call, completion in
            completion(
                client.ask(
                    service.path + call.target, headers: call.headers, body: call.body.map { Array($0.utf8) }))
        },
        note: { [unowned self] happening in
            if case .callback(.setToken(let token, _)) = happening { self.token = token }
            show(DeviceRecord(happening))
        })
    /// The last media token, which `play` posts.
    private var token: String?

    /// - Parameters:
    ///   - name: the name of the device; `nil` for that in the file, or a usual one.
    ///   - service: the sandbox.
    ///   - storage: the file in which the device keeps what its apps store; `nil` to forget it.
    ///   - show: takes what happens.
    init(
        _ app: AppInstallation, named name: String?, at service: ServerURL, redirectURL: String, storage: String?,
        show: @escaping (DeviceRecord) -> Void
    ) throws(CommandError) {
        (self.app, self.service, self.redirectURL) = (app, service, redirectURL)
        (self.storage, self.show) = (storage, show)
        hardware = DeviceDriver.Hardware(DeviceMemory(name: name ?? "device"))
        loop = try CommandError.wrap { try EventLoop() }
        client = HTTPClient(loop, address: service.host, port: service.port)
        try remember()
        if let name, hardware.memory.name != name, let storage {
            throw CommandError("\(storage): is the file of the device '\(printable(hardware.memory.name))'")
        }
    }

    /// Reads a line of the script.
    func act(of line: String) throws(UsageError) -> DeviceVerb.Act? { try DeviceVerb.act(of: line, for: app) }

    /// Does what a line says, with what other programs have stored by then, and stores what the device has then.
    func run(_ act: DeviceVerb.Act) throws(CommandError) {
        try remember()
        try act(self)
        if let storage { try Self.write(hardware.memory, to: storage) }
    }

    // MARK: Acts

    func logIn(_ viewer: String, password: String) {
        guard driver.logIn(viewer, password: password) else {
            return show(DeviceRecord("page", "none", "no login page is shown"))
        }
        driver.poll()
    }

    func poll() {
        if !driver.poll() { show(DeviceRecord("page", "none", "no code waits for a login")) }
    }

    /// Starts an app of the device. If its system is another one, the device is upgraded.
    func launch(_ app: AppInstallation) {
        hardware.memory.upgradeSystem(from: self.app.system, to: app.system)
        self.app = app
        driver.launch(app)
        show(
            DeviceRecord(
                "launch", "\(app.team)/\(app.bundleID)@\(app.sdk)", .text("\(app.system)"), .text(driver.device.id)))
    }

    /// Posts the media token to the gate of a stream.
    func play(_ stream: ServerURL) {
        guard let token else { return show(DeviceRecord("play", "none", "no media token has come")) }
        let answer = HTTPClient(loop, address: stream.host, port: stream.port).ask(
            "/v1/play?path=\(PercentEncoding.encode(stream.path))", headers: [("Content-Type", "text/plain")],
            body: Array(token.utf8))
        guard let answer else { return show(DeviceRecord("play", "no answer", .text("\(stream.host):\(stream.port)"))) }
        let detail = answer.gateDetail.map { [JSONValue.text($0)] } ?? []
        show(DeviceRecord("play", answer.gateCode, [.number(Double(answer.status))] + detail))
    }

    // MARK: The file of the device

    private static let longestFile = 16 << 20

    /// Reads the file, if there is one.
    private func remember() throws(CommandError) {
        guard let storage, access(storage, F_OK) == 0 else { return }
        let bytes = try CommandError.wrap(at: storage) { try FileBytes.read(storage, limit: Self.longestFile) }
        let object = try CommandError.wrap(at: storage) { try StrictJSON.readObject(bytes[...], valueLimit: 100_000) }
        guard let memory = DeviceMemory(object) else { throw CommandError("\(storage): is no file of a device") }
        hardware.memory = memory
    }

    private static func write(_ memory: DeviceMemory, to path: String) throws(CommandError) {
        let new = "\(path).\(getpid())"
        try NewFile.write(memory.json.document + "\n", to: new, mode: 0o600)
        guard rename(new, path) == 0 else {
            throw CommandError("\(path): \(String(cString: strerror(errno)))")
        }
    }
}
