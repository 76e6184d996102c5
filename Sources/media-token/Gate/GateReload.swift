internal import Basics
internal import CommandShell
internal import HTTP
internal import MediaTokenGate

/// Has a running gate take over its settings, and the files that they name, as they are now: all of it or, if anything
/// is invalid, nothing but what was taken away. The operator and the service manager are told.
struct GateReload {
    private let options: GateOptions
    private let process: ServiceProcess
    private var watch = FileWatch()
    /// The settings as the configuration file had them when it was last read, if the gate could not take them over.
    /// Keys and clients that it no longer named stay withdrawn, although files are read again by the gate's settings.
    private var named: GateSettings?

    init(_ options: GateOptions, in process: ServiceProcess) { (self.options, self.process) = (options, process) }

    /// Reads the configuration file and all files that it names again.
    mutating func readAll(into gate: RunningGate) {
        var options = options
        apply(to: gate, .signal) { (settings) throws(CommandError) in
            let reader = try options.read(isReload: true)
            settings = reader.named(or: settings)
            guard reader.problems.isEmpty else { throw CommandError("the settings have problems") }
            settings = reader.settings
        }
    }

    /// Reads the files again if any of them has changed, and leaves the configuration file alone.
    mutating func readChangedFiles(into gate: RunningGate) {
        guard let changed = watch.changes(from: gate.files.marks, to: gate.applied.fileMarks) else { return }
        let names = changed.map { printable($0, limit: 300) }.joined(separator: ", ")
        Console.printNotice("changed: \(names.isEmpty ? "nothing since the last reload that took effect" : names)")
        apply(to: gate, .files) { (_) throws(CommandError) in }
    }

    /// - Parameter read: Replaces the settings that were applied last; if it throws, by what could be read.
    private mutating func apply(
        to gate: RunningGate, _ cause: ReloadCause, _ read: (inout GateSettings) throws(CommandError) -> Void
    ) {
        var settings = cause == .signal ? named ?? gate.applied : gate.applied
        ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
        defer { ServiceManager.notify("READY=1") }
        do throws(CommandError) {
            try read(&settings)
            let (changed, before) = (settings.names(thatDifferFrom: gate.applied), gate.files)
            if cause == .signal { named = nil }
            try gate.apply(settings, keepingTo: named, in: process)
            watch.attempted(isSuccessful: true, interval: settings.watchSeconds)
            let isAllWell = gate.metrics.recordReload(cause, isSuccessful: true)
            FileModes.warn(settings, file: options.file)
            if cause == .signal { settings.reportOnly.warnings.forEach { Console.printWarning($0) } }
            for warning in gate.files.warnings(since: before) { Console.printWarning(warning) }
            for name in settings.namesThatWait(since: gate.settings) {
                Console.printWarning("\(name): changed; takes effect after a restart")
            }
            let names = changed.isEmpty ? "settings unchanged" : "changed: " + changed.joined(separator: ", ")
            Console.printNotice("reloaded: \(gate.status.contents); \(names)")
            if isAllWell { gate.status.regain(.reload) }
        } catch {
            if cause == .files { watch.attempted(isSuccessful: false, interval: gate.applied.watchSeconds) }
            gate.metrics.recordReload(cause, isSuccessful: false)
            gate.status.lose(.reload, "reload failed, configuration unchanged: \(error.message)")
            if cause == .signal { named = settings }
            let gone = gate.withdraw(by: named ?? settings, in: process)
            if !gone.isEmpty { Console.printNotice("withdrawn in spite of that: \(gone.joined(separator: "; "))") }
        }
    }
}
