internal import Basics
internal import CommandShell
internal import EventLoops
internal import Glibc
internal import HTTP
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants
internal import ReplayStores
internal import Settings

/// A gate that serves until it is stopped.
final class RunningGate {
    /// The settings that the gate was started with.
    let settings: GateSettings
    /// The settings that were applied last.
    private(set) var applied: GateSettings
    /// The contents of the files that were applied last.
    private(set) var files: GateFiles
    let metrics: GateMetrics
    private let store: ConfiguredReplayStore
    private let ready: StoreReadiness
    /// Where the gate stands, for its operator.
    let status: GateStatus
    private let log: GateLog
    private let service: GateService
    private let server: HTTPServer
    private let adminServer: HTTPServer

    /// The addresses on which the gate serves.
    var listeners: [HTTPListener] { server.listeners }
    /// The addresses for health, readiness and metrics.
    var adminListeners: [HTTPListener] { adminServer.listeners }
    /// The addresses that serve clear text to a network.
    var exposedListeners: [HTTPListener] { server.exposedListeners + adminServer.exposedListeners }
    /// The certificate and client rules that new TLS connections get.
    var tls: TLSServer? { server.tls }

    /// Loads the keys, opens the store, and starts to serve.
    init(_ settings: GateSettings) throws(CommandError) {
        let files = try GateFiles(settings)
        store = try CommandError.wrap {
            try ConfiguredReplayStore(at: settings.replays, isService: true, clockSkew: settings.clockSkew)
        }
        do {
            let status = GateStatus()
            let ready = StoreReadiness(waits: !settings.isReadyWhileFenced) { [store] change in
                status.tell(change, cause: store.fenceCause)
            }
            _ = ready.answer(to: .success(try store.report(at: .now)), at: .now)
            (self.ready, self.status) = (ready, status)
            log = GateLog(
                to: STDOUT_FILENO, allowedEvery: settings.logEvery, refusedEvery: settings.logRefusedEvery)
            let metrics = GateMetrics()
            self.metrics = metrics
            let service = GateService(
                files.loaded(settings), keys: files.keys, store: store, ready: ready, metrics: metrics, log: log)
            let server = try HTTPServer(
                settings.listen, workers: settings.workers, limits: settings.limits, unixMode: settings.unixMode,
                tls: files.tls, handler: { service.handler(on: $0) })
            let admin = GateAdmin(
                service, store: store, ready: ready, metrics: metrics, version: ProgramVersion.text,
                connections: { server.connections }, tls: { server.tls })
            do {
                adminServer = try HTTPServer(
                    settings.admin, workers: 1, unixMode: settings.unixMode, tls: files.tls,
                    handler: { _ in HTTPHandler { admin.handle($0) } })
            } catch {
                server.stop(withinMilliseconds: 0)
                service.stop()
                throw error
            }
            (self.settings, applied, self.files) = (settings, settings, files)
            (self.service, self.server) = (service, server)
            status.load(files, settings)
        } catch {
            try? store.close()
            throw CommandError("\(error)")
        }
    }

    /// Applies `settings` and the files that they name, all at once. The listeners, limits and store stay as they are.
    ///
    /// - Parameter named: The settings whose keys and clients alone may be accepted; `nil` if these are `settings`.
    /// - Throws: what is wrong with any of the files, or that the process is told to stop; only keys whose files are
    ///   gone are then dropped.
    func apply(
        _ settings: GateSettings, keepingTo named: GateSettings? = nil, in process: ServiceProcess
    ) throws(CommandError) {
        // The store's fence allows for the skew that the gate was started with. With a larger one, tokens from before a
        // new fence could be accepted again.
        var settings = settings
        settings.clockSkew = self.settings.clockSkew
        if let file = settings.files.first(where: { !$0.canBeReadAgain }) {
            throw CommandError(
                "\(file.setting): \(file.path): is not a regular file, and cannot be read again; restart the gate")
        }
        let read = whileReading(in: process) { [settings] in
            Result { () throws(CommandError) in
                let files = try GateFiles(settings)
                return named.map { files.withdrawing(by: $0).files } ?? files
            }
        }
        guard var files = try read?.get() else { throw CommandError("the process is told to stop") }
        _ = files.withdrawFilesGone()
        if let lost = files.keys.refusals(ofFilesIn: self.files.keys).first {
            throw CommandError("\(lost); it was loaded before. Repair the file, or take it away")
        }
        guard files.tls != nil || !(listeners + adminListeners).contains(where: \.isTLS) else {
            throw CommandError(
                "tls-certificate: is no longer set, and a listener of this process speaks TLS; restart the gate")
        }
        service.apply(files.loaded(settings), keys: files.keys)
        server.replace(files.tls)
        adminServer.replace(files.tls)
        (applied, self.files) = (settings, files)
        status.load(files, settings)
    }

    /// Advises the operator on settings with which a fault of the replay store costs less; `nil` if all is set so.
    var advice: String? { store.advice }

    /// Asks the replay store how it is, and tells the operator of a change.
    ///
    /// - Returns: Whether it works.
    func askStore(in process: ServiceProcess) -> Bool {
        BlockingCalls.perform { [ready, store] in
            _ = ready.ask(store)
        } while: {
            !process.isToldToStop
        }
        return !ready.isLost
    }

    /// Drops what is loaded and no longer there, after a reload that could not take over the rest.
    ///
    /// - Parameter named: The settings now, as far as they could be read.
    /// - Returns: What was dropped, for the operator.
    func withdraw(by named: GateSettings, in process: ServiceProcess) -> [String] {
        let read = whileReading(in: process) { [files] in files.withdrawing(by: named) }
        guard var left = read else { return [] }
        for (name, setting) in [
            ("report-only", \GateSettings.reportsOnly), ("report-only-grants", \.reportsWithGrants),
        ]
        where applied[keyPath: setting] && !named[keyPath: setting] {
            applied[keyPath: setting] = false
            left.gone.append(name)
        }
        guard !left.gone.isEmpty else { return [] }
        _ = left.files.withdrawFilesGone()
        files = left.files
        service.apply(files.loaded(applied), keys: files.keys)
        server.replace(files.tls)
        adminServer.replace(files.tls)
        return left.gone
    }

    /// Has another thread read files, since these choose how long that takes. In the meantime keys whose files are gone
    /// are dropped.
    ///
    /// - Returns: `nil` if the process is told to stop.
    private func whileReading<Value: Sendable>(
        in process: ServiceProcess, _ read: @escaping @Sendable () -> Value
    ) -> Value? {
        BlockingCalls.perform(read) {
            let gone = files.withdrawFilesGone()
            if !gone.isEmpty {
                service.apply(files.loaded(applied), keys: files.keys)
                Console.printNotice("withdrawn while other files are read: \(gone.joined(separator: "; "))")
            }
            return !process.isToldToStop
        }
    }

    /// Is no longer ready, accepts no more connections, answers the requests in flight, writes the log's last line and
    /// closes the store.
    func stop() throws(CommandError) {
        ready.stop()
        let end = ContinuousClock.now + .milliseconds(settings.stopMilliseconds)
        server.stop(withinMilliseconds: settings.stopMilliseconds)
        adminServer.stop(withinMilliseconds: 0)
        service.stop()
        log.close(withinMilliseconds: max(0, Int((end - .now) / .milliseconds(1))))
        try CommandError.wrap { try store.close() }
    }
}

/// The contents of the files that settings name.
struct GateFiles: Sendable {
    /// Taken before the files were read, so that the next look sees what changed meanwhile.
    let marks: FileMarks
    private(set) var keys: KeyRing
    private(set) var tls: TLSServer?
    /// The routes, with the keys of their grants.
    private var routes: [GateRoute]
    private let pseudonyms: ViewerPseudonyms?

    var keyCount: Int { keys.keys.count }

    init(_ settings: GateSettings) throws(CommandError) {
        marks = settings.fileMarks
        keys = try KeyOptions.load(settings)
        tls = try Self.loadTLS(settings)
        pseudonyms = try Self.loadPseudonyms(settings)
        let problems: [SettingProblem]
        (routes, problems) = Self.loadRoutes(settings)
        if let problem = problems.first { throw CommandError("\(problem)") }
    }

    /// The routes with the keys of their grants, and what is wrong with these grants or, if nothing is, with dialects
    /// beside them.
    private static func loadRoutes(_ settings: GateSettings) -> (routes: [GateRoute], problems: [SettingProblem]) {
        var (routes, problems) = ([GateRoute](), [SettingProblem]())
        for route in settings.routes {
            do throws(GrantError) { routes.append(try route.withGrant(among: settings.routes)) } catch {
                problems.append(SettingProblem("routes", at: "\(route.place).grant.\(error.field)", error.reason))
            }
        }
        return (routes, problems.isEmpty ? settings.dialects.compactMap { $0.problem(beside: routes) } : problems)
    }

    /// A copy of `settings` with the contents of the files.
    func loaded(_ settings: GateSettings) -> GateSettings {
        var settings = settings
        (settings.routes, settings.pseudonyms) = (routes, pseudonyms)
        return settings
    }

    /// The contents without what is gone, and what that is.
    func withdrawing(by named: GateSettings) -> (files: GateFiles, gone: [String]) {
        var (left, gone) = (self, [String]())
        gone += left.reduceKeys(to: KeyOptions.withdraw(from: keys, by: named))
        if let tls = named.tls.flatMap({ self.tls?.withdrawing(by: $0) }) {
            left.tls = tls
            gone.append("clients that tls-client-ca and tls-client-name no longer name")
        }
        for (position, route) in routes.enumerated() {
            guard let withdrawn = route.withdrawing(by: named.routes) else { continue }
            left.routes[position] = withdrawn.route
            gone += withdrawn.gone.map { "\($0) of \(route.place)" }
        }
        return (left, gone)
    }

    /// Drops the keys whose files are gone, without reading any file, and returns these keys for the operator.
    mutating func withdrawFilesGone() -> [String] { reduceKeys(to: keys.withoutFilesGone()) }

    private mutating func reduceKeys(to left: KeyRing) -> [String] {
        let kept = Set(left.keys.map(\.fingerprint))
        let gone = keys.keys.filter { !kept.contains($0.fingerprint) }
            .map { "the key '\($0.name)' of \(printable($0.file, limit: 300))" }
        keys = left
        return gone + (left.keys.isEmpty && !gone.isEmpty ? ["no key is left, and no token is accepted"] : [])
    }

    /// A warning for each grant key that is gone, since viewers may still play with grants of it.
    func warnings(since earlier: GateFiles) -> [String] {
        routes.flatMap { route in
            route.keysGone(since: earlier.routes).map { id in
                "\(route.place).grant: the key '\(printable(id))' is gone or has other content; grants that were made "
                    + "with it no longer open anything"
            }
        }
    }

    /// Every problem with the files that `settings` name, each with its setting. What needs a file that cannot be read
    /// is not checked, since it would fail for the same reason.
    ///
    /// - Parameter areWhole: Whether all routes could be read. One that could not would count as missing for a dialect.
    static func problems(_ settings: GateSettings, areWhole: Bool) -> [SettingProblem] {
        let password = unreadable(settings.files.filter { $0.setting == "password-file" })
        let tls = unreadable(settings.files.filter { $0.setting.hasPrefix("tls-") })
        let store = (settings.replays.secretFiles + settings.replays.trustedFiles).map {
            NamedFile(path: $0, role: .secret, setting: "replays")
        }
        // Without the password, it is only known which keys are not there.
        let gone = settings.keys.filter { !password.isEmpty && access($0, R_OK) != 0 }.map {
            SettingProblem("keys", "\($0): cannot be opened: \(String(cString: strerror(errno)))")
        }
        var problems =
            password + gone + tls + unreadable(store)
            + (settings.replays.refusal.map { [SettingProblem("replays", $0)] } ?? [])
        func check(_ name: String, _ load: () throws(CommandError) -> Void) {
            do throws(CommandError) { try load() } catch { problems.append(SettingProblem(name, error.message)) }
        }
        for path in settings.keys where password.isEmpty {
            var one = settings
            one.keys = [path]
            check("keys") { () throws(CommandError) in _ = try KeyOptions.load(one) }
        }
        if tls.isEmpty { check("tls-certificate") { () throws(CommandError) in _ = try loadTLS(settings) } }
        check("viewer-key-file") { () throws(CommandError) in _ = try loadPseudonyms(settings) }
        return problems + loadRoutes(settings).problems.filter { areWhole || $0.setting == "routes" }
    }

    /// Why files of settings cannot be read.
    private static func unreadable(_ files: [NamedFile]) -> [SettingProblem] {
        files.compactMap { file in
            do throws(FileError) { _ = try FileBytes.read(file.path, limit: 1 << 20) } catch {
                return SettingProblem(file.setting, "\(file.path): \(error)")
            }
            return nil
        }
    }

    private static func loadPseudonyms(_ settings: GateSettings) throws(CommandError) -> ViewerPseudonyms? {
        guard let file = settings.viewerKeyFile else { return nil }
        return try CommandError.wrap(at: file) {
            try ViewerPseudonyms(secret: FileBytes.withoutLastLineBreak(try FileBytes.read(file, limit: 65_536)))
        }
    }

    private static func loadTLS(_ settings: GateSettings) throws(CommandError) -> TLSServer? {
        guard let files = settings.tls else { return nil }
        let tls = try CommandError.wrap { try TLSServer(files) }
        if !tls.isValidNow {
            Console.printWarning("\(files.certificate): is not valid today; clients will refuse it")
        }
        return tls
    }
}
