internal import Basics
internal import CommandShell
internal import HTTP
internal import LoadTest
internal import MediaToken
internal import Settings

/// `media-token bench gate`: measures how many requests per second a running gate answers, and how long it takes.
enum BenchGateCommand {
    static let command = Command(syntax, Invocation.self, run: measure)

    private static let syntax = CommandSyntax(
        name: "media-token bench gate", operands: "URL",
        summary: "Ask a running gate with distinct tokens, flat out or at a set rate.",
        details: """
            URL is http://HOST[:PORT][/PATH]; PATH is /v1/verify (default), /v1/play, or what a proxy asks: \
            /v1/authz/auth-request, /v1/authz/forward-auth or /v1/authz/ext-authz. Each token is sent once, with the \
            requestor and the resource that it was issued for, and is consumed in the gate's replay store. With --rate, \
            requests are sent when they are due, and latency counts from then: a gate that stalls cannot hide it. \
            Without, each connection sends the next request when the last one is answered. One thread sends.

            Threads of low priority sign tokens before the load and while it runs. If they cannot keep up, the run ends \
            early and says so. If the gate's store is new, the load waits until it accepts new tokens. What is due when \
            time is up and still waits for a connection is counted too.

            With --find-rate, one rate after the other is tried, --seconds long each, from 250 a second on. A rate is kept if \
            every answer is as expected and the latency is within the goal. The tokens of a rate are signed before it begins.

            Exit status: 0 every answer as expected, 1 some other answer or none, 2 could not measure, 64 usage.

            Examples:
              media-token keys generate --to dev
              media-token serve --keys dev --replays memory --skew 0 \\
                --listen 127.0.0.1:8080 --admin 127.0.0.1:8081 --route /live=MML:TNT &
              curl -sf --retry 9 --retry-connrefused http://127.0.0.1:8081/healthz
              media-token bench gate http://127.0.0.1:8080 --rate 200 --seconds 2 \\
                --signing-key dev/development.key
              media-token bench gate http://127.0.0.1:8080/v1/authz/forward-auth \\
                --stream /live/1.ts --requestor MML --resource TNT --count 200 \\
                --signing-key dev/development.key
            """)

    struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            GateQuestionOptions.table.within(\.asked), CorpusOptions.table.within(\.corpus),
            .group(
                "How to measure",
                [
                    .number(
                        "rate", "R", "Send R requests per second (default as fast as responses come)", 1...1_000_000,
                        \.load.rate
                    ) { Double($0) },
                    Setting(
                        "find-rate", "GOAL", .text(),
                        "Find the highest rate with this latency, for example p99=10ms: rates of --seconds each, doubled and then halved"
                    ) { given, name, invocation in
                        invocation.goal = given.value(name, LatencyGoal.form) { LatencyGoal($0) }
                    },
                    Setting(
                        "metrics", "URL", .text(),
                        "Read the gate's processor time here, for example http://127.0.0.1:8081/metrics"
                    ) { given, name, invocation in
                        invocation.metrics = given.value(name, "http://HOST[:PORT][/PATH]") { ServerURL($0) }
                    },
                    .number("connections", "N", "Use N connections", 1...10_000, default: 32, \.load.connections),
                    .number(
                        "seconds", "S", "Measure for S seconds, or until no token is left", CorpusOptions.seconds,
                        default: 10,
                        \.load.seconds
                    ) { Double($0) },
                ]),
            BenchOutput.table.within(\.output))

        /// The URL of the gate, for messages.
        var url = ""
        var corpus = CorpusOptions()
        var asked = GateQuestionOptions()
        var output = BenchOutput()
        var load = GateLoad.Settings()
        /// The latency to be kept at the rate that is searched; `nil` if none is searched.
        var goal: LatencyGoal?
        /// The URL of the gate's metrics; `nil` if they are not read.
        var metrics: ServerURL?
        private var place: GateURL?

        mutating func take(_ operands: [String]) throws(UsageError) {
            guard operands.count == 1 else {
                throw UsageError("\(operands.count) URLs given; expected one, for example http://127.0.0.1:8080")
            }
            url = printable(operands[0])
            place = try GateURL(operands[0])
        }

        mutating func check(_ given: inout SettingsObject) {
            corpus.check(&given)
            given.refuseSecond(of: ["rate", "find-rate"])
            // Captured tokens are sent once, and so for one rate only.
            if goal != nil { given.refuse(["tokens"], withoutEffect: "with --find-rate") }
            guard let place else { return }
            (load.address, load.port) = (place.host, place.port)
            asked.check(&given, at: place)
            if asked.question.means != .nothing, corpus.file == nil, !corpus.namesSigningKey {
                given.refuse(
                    nil, "no tokens; expected --tokens FILE, or --signing-key FILE of a key that the gate trusts")
            }
        }
    }

    @Sendable private static func measure(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        try invocation.output.checkPage()
        let isSearch = invocation.goal != nil
        let earlier = try invocation.output.earlier(
            with: isSearch ? RateSearch.mainFigure : GateMeasurement.mainFigure)
        _ = ServiceProcess.raiseDescriptorLimit()
        let run = try GateRun(invocation)
        guard let goal = invocation.goal else {
            let measured = try run.load(at: invocation.load.rate)
            guard measured.figures.answers > 0 else { throw run.noAnswer }
            try invocation.output.show(measured.report, beside: earlier)
            return measured.isAsExpected ? .success : .rejected
        }
        var search = RateSearch(goal, invocation)
        let isKept = try search.run(run)
        try invocation.output.show(search.report, beside: earlier)
        return isKept ? .success : .rejected
    }
}
