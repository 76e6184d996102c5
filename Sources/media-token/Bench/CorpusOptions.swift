internal import MediaToken
internal import Files
internal import Glibc
internal import LoadTest
internal import TextEncodings
internal import TokenCrypto
internal import TokenIssuer

/// The options that select the tokens of a load test.
struct CorpusOptions {
    static let group = OptionGroup(
        heading: "Tokens:",
        options: [
            CommandOption("tokens", "FILE", "Captured tokens, as verify reads them; - for standard input"),
            CommandOption("count", "N", "How many distinct tokens to sign, where none are given (default 20000)"),
            CommandOption("signing-key", "FILE", "PEM private key to sign them with"),
            CommandOption("requestor", "ID", "Requestor that they are signed for (default MML)"),
            CommandOption("resource-file", "F", "Resource that they are signed for (default an MRSS item)"),
        ])

    private static let defaultCount: Int64 = 20_000
    /// How many seconds a load test may take; the tokens that are signed for it live for fifteen minutes.
    static let seconds: ClosedRange<Int64> = 1...600

    let file: String?
    private let count: Int
    private let signingKey: String?
    private let requestor: String?
    private let resourceFile: String?

    init(_ given: Arguments) throws(UsageError) {
        file = try given.one("tokens")
        signingKey = try given.one("signing-key")
        requestor = try given.one("requestor")
        resourceFile = try given.one("resource-file")
        let count = try given.number("count", in: 1...1_000_000)
        self.count = Int(count ?? Self.defaultCount)
        for (option, isGiven) in [
            ("count", count != nil), ("signing-key", signingKey != nil), ("requestor", requestor != nil),
            ("resource-file", resourceFile != nil),
        ] where file != nil && isGiven {
            throw UsageError("--\(option) cannot be used with --tokens")
        }
    }

    var namesSigningKey: Bool { signingKey != nil }

    /// The key to sign with: the one that the options name, or else a new one.
    func key(generating bits: Int) throws(CommandError) -> RSASigningKey {
        do {
            guard let signingKey else { return try RSASigningKey.generate(bits: bits) }
            return try RSASigningKey(pem: FileBytes.read(signingKey, limit: KeyFile.sizeLimit))
        } catch {
            throw CommandError("\(signingKey.map { $0 + ": " } ?? "")\(error)")
        }
    }

    /// The captured tokens; `nil` if no file is named.
    func captured() throws(CommandError) -> TokenCorpus? {
        guard let file else { return nil }
        var tokens: [RawToken] = []
        try TokenInput(file: file == "-" ? nil : file).forEachGroup { tokens += $0 }
        guard tokens.contains(where: { !$0.bytes.isEmpty }) else {
            throw CommandError("\(file == "-" ? "standard input" : printable(file)): no tokens in it")
        }
        return TokenCorpus(captured: tokens)
    }

    /// Signs tokens with `key`. They are issued in the next second, after the fence of a store created just before.
    func sign(with key: RSASigningKey, threads: Int) throws(CommandError) -> TokenCorpus {
        let second = Timestamp.now.milliseconds / 1000 + 1
        var recipe = TokenRecipe(issued: TokenDate(Timestamp(milliseconds: second * 1000)))
        recipe.timeToLive = 900_000
        recipe.requestor = requestor ?? recipe.requestor
        recipe.resource = TokenCorpus.resource
        if let resourceFile { recipe.resource = try ResourceFile.read(resourceFile) }
        var progress = ProgressBar("signing", total: count)
        do {
            let corpus = try TokenCorpus(
                signing: count, of: recipe, with: key, threads: threads, progress: { progress.update($0) })
            // Waits for the issue time, so that no clock skew has to be allowed for.
            while Timestamp.now.milliseconds < second * 1000 { usleep(10_000) }
            return corpus
        } catch { throw CommandError("\(error)") }
    }
}
