internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores

/// `media-token replays lookup`: says whether tokens are used, and uses nothing up.
struct ReplayLookup {
    private let location: ReplayStoreLocation
    private let input: TokenInput

    /// - Parameter operands: the URL of the store, and the token.
    init(_ operands: [String]) throws(UsageError) {
        guard let url = operands.first else { throw UsageError("expected lookup URL TOKEN") }
        location = try ReplayOptions.existing(url)
        input = try TokenInput(Array(operands.dropFirst()))
    }

    func run(asJSON isJSON: Bool) throws(CommandError) -> ExitStatus {
        let store = try CommandError.wrap { try ConfiguredReplayStore(lookingAt: location) }
        return try store.closed { () throws(CommandError) in
            var status = ExitStatus.success
            try input.forEachGroup { tokens in
                for token in tokens { status = max(status, look(for: token, in: store, asJSON: isJSON)) }
                Console.flush()
            }
            return status
        }
    }

    private func look(
        for token: RawToken, in store: ConfiguredReplayStore, asJSON isJSON: Bool
    ) -> ExitStatus {
        let found: FoundToken
        do throws(StageError) {
            let token = try UnverifiedToken(token)
            do throws(ReplayStoreError) { found = FoundToken(token, try store.find(token.question, at: .now)) } catch {
                Console.printError("\(token.id): \(error)")
                return .undecided
            }
        } catch {
            Console.printError("not looked up: \(error.message)")
            return .undecided
        }
        if isJSON { Console.print(found.document.line) } else { found.print() }
        switch found.finding.use {
        case .unused: return .success
        case .used, .predatesStore: return .rejected
        case .forgotten: return .undecided
        }
    }
}

/// A token, and what the store knows of it.
private struct FoundToken {
    let token: UnverifiedToken
    let finding: ReplayLookupResult

    init(_ token: UnverifiedToken, _ finding: ReplayLookupResult) { (self.token, self.finding) = (token, finding) }

    /// Prints the finding for people.
    func print() {
        Console.print("token       \(token.id)")
        Console.print("issued      \(token.issueTime), as the token says")
        switch finding.use {
        case .unused: Console.print("used        no")
        case .used(let since):
            let unknown = "not known: a store keeps the time only if the first caller may retry"
            Console.print("used        yes")
            Console.print("first use   \(since.map { TokenDate($0).description } ?? unknown)", hanging: 12)
            Console.print("kept until  \(TokenDate(finding.keptUntil))")
        case .predatesStore(let since):
            Console.print(
                "used        not known, and rejected: the store has complete records only for tokens issued after "
                    + since.text(offset: 0), hanging: 12)
        case .forgotten:
            Console.print(
                "used        no longer known: the token has expired, and the store kept its record until "
                    + "\(TokenDate(finding.keptUntil)); look in the gate's log", hanging: 12)
        }
    }

    var document: JSONValue {
        let common = JSONValue([
            "token": token.id.description, "issuedMilliseconds": token.issueTime.timestamp.milliseconds,
        ])
        let keptUntil = finding.keptUntil.milliseconds
        return switch finding.use {
        case .unused: common.with(JSONValue(["result": "unused"]))
        case .used(let since):
            common.with(
                JSONValue([
                    "result": "used", "firstUseMilliseconds": since?.milliseconds, "keptUntilMilliseconds": keptUntil,
                ]))
        case .predatesStore(let since):
            common.with(JSONValue(["result": "predates", "fenceMilliseconds": since.milliseconds]))
        case .forgotten: common.with(JSONValue(["result": "forgotten", "keptUntilMilliseconds": keptUntil]))
        }
    }
}
