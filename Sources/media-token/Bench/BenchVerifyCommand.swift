internal import Basics
internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import ReplayStores
internal import Settings
internal import TokenCrypto

/// `media-token bench verify`: measures verifications per second on this machine, compared with bare RSA operations.
enum BenchVerifyCommand {
    static let command = Command(syntax, Invocation.self, run: measure)

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
            """)

    struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            CorpusOptions.table.within(\.corpus),
            .group(
                "How to measure",
                [
                    .number("bits", "N", "Sign with a new key of N bits", 1024...8192, default: 2048, \.bits),
                    .number("threads", "N", "Verify with N threads", 1...1024, default: 1, \.load.threads),
                    .number("seconds", "S", "Measure for S seconds", CorpusOptions.seconds, default: 5, \.load.seconds)
                    {
                        Double($0)
                    },
                    .number("group", "N", "Verify N tokens in one call", 1...4096, default: 1, \.load.group),
                    .number(
                        "live", "N", "Put N live tokens into the replay store first", 0...100_000_000, default: 0,
                        \.live),
                    .word("expect", "CODE", "Expect this code for every token", default: .validToken, \.expected),
                ]),
            KeyOptions.table.within(\.keys), TimeOptions.table.within(\.time),
            ReplayOptions.table.within(\.replays), BenchOutput.table.within(\.output))

        var corpus = CorpusOptions()
        var keys = KeyOptions()
        var time = TimeOptions()
        var replays = ReplayOptions()
        var output = BenchOutput()
        var bits = 2048
        var live = 0
        var expected = VerdictCode.validToken
        var load = VerifyLoad.Settings()

        mutating func check(_ given: inout SettingsObject) {
            corpus.check(&given)
            keys.check(&given)
            time.check(&given)
            replays.check(&given, time)
            switch time.time {
            case .at(let moment)?: load.time = moment
            case .issued?, .line?: given.refuse("at", TimeOptions.isNoTime)
            case nil: break
            }
            guard corpus.file != nil else {
                if corpus.namesSigningKey { given.refuse(["bits"], withoutEffect: "with --signing-key") }
                return
            }
            given.refuse(["bits"], withoutEffect: "with --tokens")
            if keys.paths.isEmpty {
                given.refuse("tokens", "is given without their key; expected --keys PATH or --key FILE")
            }
        }
    }

    @Sendable private static func measure(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        try invocation.output.checkPage()
        let earlier = try invocation.output.earlier(with: VerifyMeasurement.mainFigure)
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
        let (figures, contents) = try CommandError.wrap {
            try fill(store, invocation)
            Interruption.note()
            let load = VerifyLoad(
                corpus, keys: keys, policy: invocation.time.policy(), replays: store, settings: invocation.load)
            var progress = ProgressBar("verifying", total: 100)
            let figures = try load.run(
                isCancelled: { Interruption.isRequested }, progress: { progress.update(Int($0 * 100)) })
            let contents = try store.contents()
            try store.close()
            return (figures, contents)
        }
        guard figures.verifications > 0 else { throw CommandError("interrupted before anything was measured") }
        let measured = VerifyMeasurement(
            figures: figures, invocation: invocation, corpus: corpus, keys: keys, contents: contents)
        try invocation.output.show(measured.report, beside: earlier)
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
