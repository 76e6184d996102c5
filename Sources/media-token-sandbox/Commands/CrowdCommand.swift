internal import Basics
internal import CommandShell
internal import LoadTest
internal import Sandbox

/// `media-token-sandbox crowd`: many devices that know what must happen to them.
enum CrowdCommand {
    static let command = Command(syntax, CrowdOptions.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox crowd", operands: "",
        summary: "Send a crowd of devices to a gate, and compare what happens with what must happen.",
        details: """
            Devices arrive along a curve. Each has Adobe's SDK and a clock of its own: it logs in at the \
            sandbox, gets a media token, and posts it to the gate's /v1/play. With --stream, it then fetches a manifest \
            and segments by the cookie of the play. Some post a token twice, share it, have it stolen, or play with a \
            test card; each story knows what must happen. A seed repeats who does what. \
            The crowd waits for a gate whose replay store is new, which rejects every token for its --skew.

            Exit status: 0 all as expected, 1 something else happened, 2 could not run, or was interrupted while all \
            was as expected, 64 usage.

            Example:
              media-token-sandbox serve --listen 127.0.0.1:8090 --keys-to sandbox-keys &
              curl -sf --retry 9 --retry-connrefused http://127.0.0.1:8090/healthz
              (umask 077; openssl rand -hex 32 > grant.key)
              media-token-sandbox crowd --print-gate > gate.json
              media-token serve --config gate.json --listen 127.0.0.1:8080 \\
                --admin 127.0.0.1:8081 &
              gate=$!
              curl -sf --retry 9 --retry-connrefused http://127.0.0.1:8081/healthz
              media-token-sandbox crowd --devices 100 --seconds 5 \\
                --service http://127.0.0.1:8090 --gate http://127.0.0.1:8080 \\
                --memory-of gate=$gate
            """)

    @Sendable private static func run(_ options: CrowdOptions) throws(CommandError) -> ExitStatus {
        if options.printsGate {
            Console.print(options.gateConfiguration.document)
            return .success
        }
        return try play(options)
    }

    private static func play(_ options: CrowdOptions) throws(CommandError) -> ExitStatus {
        for file in [options.json, options.page].compactMap(\.self) where file != "-" { try ReportFile.check(file) }
        _ = ServiceProcess.raiseDescriptorLimit()
        var settings = options.settings
        settings.nonce = "\(Timestamp.now.milliseconds)"
        Interruption.note()
        let run = CrowdRun(options.plan, settings, workers: options.workers)
        try run.waitForGate()
        let (figures, memory) = try run.play(watching: options.watched)
        let isComplete = figures.tally.devices == options.plan.devices
        let report = CrowdReport(
            plan: options.plan, figures: figures, memory: memory, wasInterrupted: !isComplete
        ).report
        if options.json == "-" {
            Console.print(report.json().document)
        } else {
            report.lines().forEach(Console.print)
        }
        if let file = options.json, file != "-" { try ReportFile.write(report.json().document + "\n", to: file) }
        if let file = options.page { try ReportFile.write(report.page(), to: file) }
        return !figures.tally.isAsExpected ? .rejected : isComplete ? .success : .undecided
    }
}
