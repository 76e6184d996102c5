internal import Glibc
internal import HTTPServer
internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores

/// A gate from its start to its end, by way of signals.
struct RunningGate {
    private let settings: GateSettings
    private let keys: KeyRing
    private let store: ReplayStore
    private let metrics = GateMetrics()
    private let log: GateLog
    private let service: GateService
    private let signals: sigset_t

    /// Loads the keys and opens the store.
    init(_ settings: GateSettings) throws(CommandFailure) {
        // Before the first thread is made, so that all of them leave these to us.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        Self.raiseDescriptorLimit()
        (self.signals, self.settings) = (signals, settings)
        keys = try KeyOptions.load(settings)
        do {
            store = try ReplayStore(opening: settings.replays, isService: true, clockSkew: settings.clockSkew)
        } catch {
            throw CommandFailure("\(error)")
        }
        log = GateLog(to: STDOUT_FILENO, every: settings.logEvery)
        service = GateService(settings, keys: keys, store: store, metrics: metrics, log: log)
    }

    /// Serves until it is told to stop.
    ///
    /// - Parameter readAgain: the settings as they are now; `nil` where they have problems, which it has told.
    func run(_ readAgain: () throws(CommandFailure) -> GateSettings?) throws(CommandFailure) -> ExitStatus {
        do {
            let server = try HTTPServer(
                settings.listen, workers: settings.workers, limits: settings.limits,
                handler: { [service] in service.handler(on: $0) })
            let admin = GateAdmin(
                service, store: store, metrics: metrics, version: MediaTokenCommand.version,
                connections: { server.connections })
            let adminServer = try HTTPServer(settings.admin, workers: 1, handler: { _ in { admin.handle($0) } })
            announce(settings.listen, server.ports, "serving")
            announce(settings.admin, adminServer.ports, "administered")
            while nextSignal() == SIGHUP { reload(readAgain) }
            Console.printError("stopping: what is on its way has \(settings.stopMilliseconds / 1000) s to be answered")
            server.stop(withinMilliseconds: settings.stopMilliseconds)
            adminServer.stop(withinMilliseconds: 0)
            log.close(withinMilliseconds: settings.stopMilliseconds)
            try store.close()
            return .success
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// A connection takes a descriptor, and the usual soft limit is 1024.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private func nextSignal() -> Int32 {
        var (signals, signal) = (signals, Int32(0))
        sigwait(&signals, &signal)
        return signal
    }

    /// What is wrong in any part leaves all as it was.
    private func reload(_ readAgain: () throws(CommandFailure) -> GateSettings?) {
        do throws(CommandFailure) {
            guard let settings = try readAgain() else {
                return Console.printError("not reloaded: the settings have problems, and stay as they were")
            }
            let keys = try KeyOptions.load(settings)
            service.apply(settings, keys: keys)
            Console.printError("reloaded: \(keys.keys.count) keys, \(settings.routes.count) routes")
        } catch {
            Console.printError("not reloaded, and as before: \(error.message)")
        }
    }

    private func announce(_ listeners: [HTTPListener], _ ports: [UInt16], _ what: String) {
        for (listener, port) in zip(listeners, ports) {
            var place = listener
            if case .tcp(let host, _) = listener { place = .tcp(host: host, port: port) }
            Console.printError("\(what) on \(place)")
        }
    }
}
