internal import LoadTest
internal import MediaToken
internal import TextEncodings

/// `media-token bench gate`: measures how many requests per second a running gate answers, and how long it takes.
enum BenchGateCommand {
    private static let syntax = CommandSyntax(
        name: "media-token bench gate", operands: "URL",
        summary: "Ask a running gate about distinct tokens, flat out or at a set rate.",
        details: """
            URL is http://HOST[:PORT][/PATH]; without a path, /v1/verify. Each token is sent once, with the requestor and \
            the resource that it was issued for, and uses itself up in the gate's replay store. With --rate, requests are \
            sent when they are due, and latency counts from then: a gate that stalls cannot hide it. Without, each \
            connection sends the next request when the last one is answered. All is done by one thread.

            What is due when time is up and still waits for a connection is counted too.

            Exit status: 0 every answer as expected, 1 some other answer or none, 2 could not measure, 64 usage.

            Examples:
              media-token bench gate http://127.0.0.1:8080 --rate 2000 --seconds 30 \\
                --signing-key dev/development.key
              media-token bench gate http://127.0.0.1:8080 --tokens used.txt \\
                --expect TOKEN_ALREADY_USED
            """,
        groups: [
            CorpusOptions.group,
            OptionGroup(
                heading: "How to measure:",
                options: [
                    CommandOption("rate", "R", "Requests a second (default: as fast as they are answered)"),
                    CommandOption("connections", "N", "Connections (default 32)"),
                    CommandOption(
                        "seconds", "S", "Maximum duration; less if all tokens are consumed (default 10)"),
                    CommandOption("expect", "STATUS", "What every token must be answered with (default VALID_TOKEN)"),
                ]),
            BenchOutput.group,
        ])

    struct Invocation {
        let url: String
        let corpus: CorpusOptions
        let output: BenchOutput
        let expected: VerdictStatus
        var load = GateLoad.Settings()

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.count == 1, let url = given.operands.first else {
                throw UsageError("\(given.operands.count) URLs given; expected one, for example http://127.0.0.1:8080")
            }
            self.url = printable(url)
            corpus = try CorpusOptions(given)
            output = try BenchOutput(given)
            expected = try given.status("expect") ?? .validToken
            load.rate = try given.number("rate", in: 1...1_000_000).map(Double.init)
            load.connections = Int(try given.number("connections", in: 1...10_000) ?? 32)
            load.seconds = Double(try given.number("seconds", in: CorpusOptions.seconds) ?? 10)
            let place = try GateURL(url)
            (load.address, load.port, load.path) = (place.host, place.port, place.path)
            guard corpus.file != nil || corpus.namesSigningKey else {
                throw UsageError(
                    "no tokens; expected --tokens FILE, or --signing-key FILE of a key that the gate trusts")
            }
        }
    }

    static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try measure(invocation) }
    }

    private static func measure(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let corpus: TokenCorpus
        if let captured = try invocation.corpus.captured() {
            corpus = captured
        } else {
            corpus = try invocation.corpus.sign(with: invocation.corpus.key(generating: 2048), threads: 2)
        }
        _ = ServiceProcess.raiseDescriptorLimit()
        var settings = invocation.load
        settings.address = try HostAddress.look(up: invocation.load.address)
        let load: GateLoad
        do { load = try GateLoad(corpus, settings) } catch {
            throw CommandError("no file descriptors left; raise the limit (ulimit -n)")
        }
        Interruption.note()
        var progress = ProgressBar("asking", total: 100)
        let figures = load.run(
            isCancelled: { Interruption.isRequested }, progress: { progress.update(Int($0 * 100)) })
        guard figures.answers > 0 else {
            throw CommandError("\(invocation.url): no answer; is a gate listening there?")
        }
        try invocation.output.show(GateReport(figures, of: invocation, corpus: corpus))
        let isAsExpected = figures.statuses.keys.allSatisfy { $0 == invocation.expected.rawValue }
        return isAsExpected && figures.unanswered + figures.unsent == 0 ? .success : .rejected
    }
}
