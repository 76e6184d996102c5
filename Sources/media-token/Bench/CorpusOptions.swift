internal import Basics
internal import CommandShell
internal import Glibc
internal import LoadTest
internal import MediaToken
internal import MediaTokenTesting
internal import Settings
internal import TokenCrypto

/// The options that select the tokens of a load test.
struct CorpusOptions {
    static let table = SettingsTable<CorpusOptions>.group(
        "Tokens",
        [
            .text("tokens", "FILE", "Use captured tokens, as verify reads them; - for standard input", \.file),
            .number(
                "count", "N",
                "Sign N distinct tokens before the load begins, if none are given (default 20000; gate with --rate: as many as the run needs)",
                1...TokenQueue.capacityLimit, \.givenCount
            ) { $0 },
            .text("signing-key", "FILE", "Sign them with this PEM private key", \.signingKey),
            .text("requestor", "ID", "Sign them for this requestor (default MML)", \.requestor),
            .text("resource", "ID", "Sign them for this resource (default an MRSS item)", \.resource),
            .text("resource-file", "FILE", "Read the resource from FILE, without its last line break", \.resourceFile),
        ])

    private static let defaultCount = 20_000
    /// How many seconds a load test may take.
    static let seconds = 1...7200

    private(set) var file: String?
    /// The number of tokens to sign; `nil` if it is not given.
    private var givenCount: Int?
    private var signingKey: String?
    private var requestor: String?
    private var resource: String?
    private var resourceFile: String?

    func check(_ given: inout SettingsObject) {
        if file != nil { given.refuse(Self.signing, withoutEffect: "with --tokens") }
        given.refuseSecond(of: ["resource", "resource-file"])
    }

    private static let signing = ["count", "signing-key", "requestor", "resource", "resource-file"]

    /// Refuses all options of this group, because the load test sends no tokens.
    static func refuseAll(with other: String, _ given: inout SettingsObject) {
        given.refuse(["tokens"] + signing, withoutEffect: "with \(other)")
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

    /// The fields of tokens to be signed.
    func recipe(issued: Timestamp) throws(CommandError) -> TokenRecipe {
        var recipe = TokenRecipe(issued: TokenDate(issued))
        recipe.timeToLive = 900_000
        recipe.requestor = requestor ?? recipe.requestor
        recipe.resource = resource ?? TokenCorpus.resource
        if let resourceFile { recipe.resource = try ResourceFile.read(resourceFile) }
        return recipe
    }

    /// The tokens to sign for a run of `seconds`, at `rate` requests per second or flat out, all of them ahead of it on
    /// demand.
    func plan(rate: Double?, seconds: Double, signsAhead: Bool) -> TokenQueue.Plan {
        let total = rate.map { Int(($0 * seconds).rounded(.up)) }
        return TokenQueue.Plan(
            ahead: (signsAhead ? total : nil) ?? givenCount ?? (rate == nil ? Self.defaultCount : 0), total: total,
            seconds: seconds)
    }

    /// Signs tokens with `key`. They are issued in the next second, after the fence of a store created just before.
    func sign(with key: RSASigningKey, threads: Int) throws(CommandError) -> TokenCorpus {
        let issued = Timestamp(milliseconds: (Timestamp.now.milliseconds / 1000 + 1) * 1000)
        let (recipe, count) = (try recipe(issued: issued), givenCount ?? Self.defaultCount)
        var progress = ProgressBar("signing", total: count)
        let corpus = try CommandError.wrap {
            try TokenCorpus(
                signing: count, of: recipe, with: key, threads: threads, progress: { progress.update($0) })
        }
        // Waits for the issue time, so that no clock skew has to be allowed for.
        while Timestamp.now < issued { usleep(10_000) }
        return corpus
    }
}
