internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import ReplayStores
internal import TextEncodings
internal import TokenCrypto

/// `media-token bench verify`: measures verifications per second on this machine, compared with bare RSA operations.
enum BenchVerifyCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token bench verify", operands: "",
        summary: "Measure verification in this process, beside the bare RSA operations of libcrypto.",
        details: """
            Distinct tokens are signed, or read from a file, and verified over and over; each pass counts as new tokens for \
            the replay store. In turns with that, the same threads verify bare signatures of the same key with libcrypto, so \
            that both see the same machine and their ratio means something. What tokens of a file are for is read from \
            themselves.

            Exit status: 0 done, 1 a token came to another code than expected, 2 could not measure, 64 usage.

            Examples:
              media-token bench verify --count 1000 --seconds 2 --report report.html
              media-token bench verify --seconds 1 --keys Keys --min-rsa-bits 1024 \\
                --tokens Tests/Vectors/media-token-2016-temppass.txt \\
                --at '2016-03-17 15:02:00 -0700'
            """,
        groups: [
            CorpusOptions.group,
            OptionGroup(
                heading: "How to measure:",
                options: [
                    CommandOption("bits", "N", "Length of the key to sign with, where none is named (default 2048)"),
                    CommandOption("threads", "N", "Threads that verify (default 1)"),
                    CommandOption("seconds", "S", "How long (default 5)"),
                    CommandOption("group", "N", "Tokens that are verified in one call (default 1)"),
                    CommandOption("live", "N", "Live tokens in the replay store before it begins (default 0)"),
                    CommandOption("expect", "STATUS", "What every token must come to (default VALID_TOKEN)"),
                ]),
            KeyOptions.group, TimeOptions.group, ReplayOptions.group, BenchOutput.group,
        ])

    struct Invocation {
        let corpus: CorpusOptions
        let keys: KeyOptions
        let time: TimeOptions
        let replays: ReplayOptions
        let output: BenchOutput
        let bits: Int
        let live: Int
        let expected: VerdictCode
        var load = VerifyLoad.Settings()

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.isEmpty else {
                throw UsageError("'\(given.operands[0])' is given; expected options only")
            }
            corpus = try CorpusOptions(given)
            keys = try KeyOptions(given)
            time = try TimeOptions(given)
            replays = try ReplayOptions(given, time: time)
            output = try BenchOutput(given)
            bits = Int(try given.number("bits", in: 1024...8192) ?? 2048)
            live = Int(try given.number("live", in: 0...100_000_000) ?? 0)
            expected = try given.code("expect") ?? .validToken
            load.threads = Int(try given.number("threads", in: 1...1024) ?? 1)
            load.seconds = Double(try given.number("seconds", in: CorpusOptions.seconds) ?? 5)
            load.group = Int(try given.number("group", in: 1...4096) ?? 1)
            load.time = try TimeOptions.time("at", given)
            guard corpus.file == nil || !keys.paths.isEmpty else {
                throw UsageError("--tokens is given without their key; expected --keys PATH or --key FILE")
            }
        }
    }

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try measure(invocation) }
    }

    private static func measure(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        try invocation.output.checkPage()
        let earlier = try invocation.output.earlier(with: VerifyReport.mainFigure)
        // The store is opened before the tokens are signed: tokens issued earlier would predate the store.
        let store = try invocation.replays.openToBeFilled()
        let corpus: TokenCorpus
        let keys: KeyRing
        if let captured = try invocation.corpus.captured() {
            (corpus, keys) = (captured, try invocation.keys.load())
        } else {
            let key = try invocation.corpus.key(generating: invocation.bits)
            keys = try invocation.keys.load(unsafelyTrusting: key.publicKey)
            corpus = try invocation.corpus.sign(with: key, threads: invocation.load.threads)
        }
        let needed = (invocation.load.threads - 1) * invocation.load.group + 1
        guard corpus.items.count >= needed else {
            throw CommandError(
                "\(corpus.items.count) tokens for \(invocation.load.threads) threads in groups of \(invocation.load.group); "
                    + "expected at least \(needed), so that none is idle")
        }
        let figures: VerifyFigures
        let contents: ReplayStoreContents
        do {
            try fill(store, invocation)
            Interruption.note()
            let load = VerifyLoad(
                corpus, keys: keys, policy: invocation.time.policy(), replays: store, settings: invocation.load)
            var progress = ProgressBar("verifying", total: 100)
            figures = try load.run(
                isCancelled: { Interruption.isRequested }, progress: { progress.update(Int($0 * 100)) })
            contents = try store.contents()
            try store.close()
        } catch { throw CommandError("\(error)") }
        guard figures.verifications > 0 else { throw CommandError("interrupted before anything was measured") }
        let report = VerifyReport(figures, of: invocation, corpus: corpus, keys: keys, contents: contents)
        try invocation.output.show(report, beside: earlier)
        return figures.codes.keys.allSatisfy { $0 == invocation.expected } ? .success : .rejected
    }

    private static func fill(_ store: ConfiguredReplayStore, _ invocation: Invocation) throws(ReplayStoreError) {
        guard invocation.live > 0 else { return }
        let now = Timestamp.now
        let until = Timestamp(milliseconds: now.milliseconds + 900_000)
        var progress = ProgressBar("filling the store", total: invocation.live)
        try ReplayFilling.fill(store, with: invocation.live, until: until, at: now) { progress.update($0) }
    }
}

extension Arguments {
    /// The code that an option names; `nil` if the option is not given.
    func code(_ option: String) throws(UsageError) -> VerdictCode? {
        guard let text = try one(option) else { return nil }
        guard let code = VerdictCode(rawValue: text) else {
            let names = VerdictCode.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--\(option) is '\(printable(text))'; expected one of \(names)")
        }
        return code
    }
}
