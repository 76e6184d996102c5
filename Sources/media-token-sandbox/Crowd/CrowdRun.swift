internal import CommandShell
internal import Glibc
internal import HTTP
internal import LoadTest
internal import MediaToken
internal import Sandbox
internal import Synchronization

/// Plays a crowd on several threads.
struct CrowdRun {
    /// The longest wait for a gate whose store is new, in seconds.
    private static let patience = 120

    private let plan: CrowdPlan
    private let settings: CrowdSettings
    private let workers: Int

    init(_ plan: CrowdPlan, _ settings: CrowdSettings, workers: Int) {
        (self.plan, self.settings, self.workers) = (plan, settings, workers)
    }

    /// Plays with one device, about once per second, until the gate's store is no longer new.
    ///
    /// - Throws: An error if the sandbox or the gate gives no answer, or the store is still new after two minutes.
    func waitForGate() throws(CommandError) {
        for attempt in 0..<Self.patience {
            var settings = settings
            settings.nonce += "-first-\(attempt)"
            settings.stream = nil
            let alone = CrowdPlan(devices: 1, seconds: 0.2, only: [.plain])
            let rows = try figures(CrowdProgress(), alone, settings, workers: 1).tally.rows.filter { $0.seen > 0 }
            if let silent = rows.first(where: { $0.code == "no answer" }) {
                let server = silent.stage == .play ? settings.gate : settings.service
                throw CommandError("no answer from \(server.host), port \(server.port); is the program running?")
            }
            guard rows.contains(where: { $0.code == VerdictCode.tokenPredatesStore.rawValue }),
                !Interruption.isRequested
            else { return }
            if attempt == 0 {
                Console.printError("the gate's store is new, and still rejects every token; waiting")
            }
            sleep(1)
        }
        throw CommandError(
            "the gate still answers TOKEN_PREDATES_STORE after \(Self.patience) s; is its --skew longer?")
    }

    func play(
        watching parts: [MemoryWatch.Part]
    ) throws(CommandError) -> (CrowdFigures, [MemoryWatch.Series]) {
        let progress = CrowdProgress()
        var watch = MemoryWatch(parts)
        var bar = ProgressBar("crowd", total: plan.devices)
        let figures = try figures(progress, plan, settings, workers: workers) {
            watch.sampleIfDue()
            bar.update(progress.devices.load(ordering: .relaxed))
        }
        return (figures, watch.series)
    }

    private func figures(
        _ progress: CrowdProgress, _ plan: CrowdPlan, _ settings: CrowdSettings, workers: Int, tick: () -> Void = {}
    ) throws(CommandError) -> CrowdFigures {
        do {
            let made = try Workers.run(workers, progress: tick) { number in
                try CrowdWorker(plan, settings, number: number, of: workers, progress).run()
            }
            return made.reduce(into: CrowdFigures(seconds: plan.seconds)) { $0.add($1) }
        } catch { throw .noDescriptors }
    }
}
