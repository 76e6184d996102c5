internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import TextEncodings

/// `media-token bench gate`: measures how many requests per second a running gate answers, and how long it takes.
enum BenchGateCommand {
    static let command = Command(syntax, run: run)

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
            """,
        groups: [
            GateQuestionOptions.group, CorpusOptions.group,
            OptionGroup(
                heading: "How to measure:",
                options: [
                    CommandOption("rate", "R", "Requests per second (default: as fast as they are answered)"),
                    CommandOption("connections", "N", "Connections (default 32)"),
                    CommandOption("seconds", "S", "Duration; less if no token is left (default 10)"),
                ]),
            BenchOutput.group,
        ])

    struct Invocation {
        let url: String
        let corpus: CorpusOptions
        let asked: GateQuestionOptions
        let output: BenchOutput
        var load = GateLoad.Settings()

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.count == 1, let url = given.operands.first else {
                throw UsageError("\(given.operands.count) URLs given; expected one, for example http://127.0.0.1:8080")
            }
            self.url = printable(url)
            let place = try GateURL(url)
            (load.address, load.port) = (place.host, place.port)
            corpus = try CorpusOptions(given)
            asked = try GateQuestionOptions(given, at: place)
            output = try BenchOutput(given)
            load.rate = try given.number("rate", in: 1...1_000_000).map(Double.init)
            load.connections = Int(try given.number("connections", in: 1...10_000) ?? 32)
            load.seconds = Double(try given.number("seconds", in: CorpusOptions.seconds) ?? 10)
            guard asked.question.means == .nothing || corpus.file != nil || corpus.namesSigningKey else {
                throw UsageError(
                    "no tokens; expected --tokens FILE, or --signing-key FILE of a key that the gate trusts")
            }
        }
    }

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try measure(invocation) }
    }

    private static func measure(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        try invocation.output.checkPage()
        let earlier = try invocation.output.earlier(with: GateReport.mainFigure)
        _ = ServiceProcess.raiseDescriptorLimit()
        var settings = invocation.load
        settings.address = try HostAddress.look(up: settings.address)
        var question = invocation.asked.question
        let tokens = question.means == .nothing ? nil : try GateTokens(invocation.corpus)
        if let tokens { question = try FirstAnswer(from: invocation.url, at: settings).prepare(question, tokens) }
        let plan = invocation.corpus.plan(rate: settings.rate, seconds: settings.seconds)
        let queue = question.means == .token ? try tokens?.queue(plan) : nil
        defer { queue?.close() }
        let load: GateLoad
        do { load = try GateLoad(question, queue, settings) } catch {
            throw CommandError("no file descriptors left; raise the limit (ulimit -n)")
        }
        Interruption.note()
        var progress = ProgressBar("asking", total: 100)
        let figures = load.run(
            isCancelled: { Interruption.isRequested }, progress: { progress.update(Int($0 * 100)) })
        guard figures.answers > 0 else {
            throw CommandError("\(invocation.url): no answer; is a gate listening there?")
        }
        try invocation.output.show(GateReport(figures, of: invocation, queue), beside: earlier)
        let isAsExpected = figures.codes.keys.allSatisfy { $0 == invocation.asked.expected }
        return isAsExpected && figures.unanswered + figures.unsent == 0 ? .success : .rejected
    }
}
