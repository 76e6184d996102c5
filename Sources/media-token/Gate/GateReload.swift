internal import HTTPServing
internal import MediaTokenGate
internal import TextEncodings

/// Has a running gate take over its settings, and the files that they name, as they are now: all of it or, if anything is invalid,
/// nothing. The operator and the service manager are told.
struct GateReload {
    private let options: GateOptions
    /// The files as the gate last read them.
    private var watch: FileWatch

    /// - Parameter settings: The settings of the gate, which reads its files afterwards.
    init(_ settings: GateSettings, _ options: GateOptions) {
        (self.options, watch) = (options, FileWatch(settings))
    }

    /// Reads the configuration file and all files that it names again.
    mutating func readAll(into gate: RunningGate) {
        apply(to: gate, .signal) { [options] () throws(CommandError) in
            let reader = try options.read()
            guard reader.problems.isEmpty else { throw CommandError("the settings have problems") }
            FileModes.warn(reader.settings, file: options.file)
            return reader.settings
        }
    }

    /// Reads the files again if any of them has changed, and leaves the configuration file alone.
    mutating func readChangedFiles(into gate: RunningGate) {
        let changed = watch.changes(gate.applied)
        guard !changed.isEmpty else { return }
        Console.printError("changed: \(changed.map { printable($0, limit: 300) }.joined(separator: ", "))")
        apply(to: gate, .files) { gate.applied }
    }

    private mutating func apply(
        to gate: RunningGate, _ cause: ReloadCause, _ read: () throws(CommandError) -> GateSettings
    ) {
        ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
        defer { ServiceManager.notify("READY=1") }
        do throws(CommandError) {
            let settings = try read()
            let (changed, before) = (settings.names(thatDifferFrom: gate.applied), gate.files)
            // Before the files are read, so that what changes meanwhile is a change.
            let newWatch = FileWatch(settings)
            try gate.apply(settings)
            watch = newWatch
            gate.metrics.recordReload(cause, isSuccessful: true)
            for warning in gate.files.warnings(since: before) { Console.printError(warning) }
            for name in settings.namesThatWait(since: gate.settings) {
                Console.printError("\(name): changed; takes effect after a restart")
            }
            let names = changed.isEmpty ? "no setting" : changed.joined(separator: ", ")
            Console.printError(
                "reloaded: \(gate.files.keyCount) keys, \(settings.routes.count) routes; changed: \(names)")
        } catch {
            if cause == .files { watch.postpone() }
            gate.metrics.recordReload(cause, isSuccessful: false)
            Console.printError("reload failed, configuration unchanged: \(error.message)")
        }
    }
}
