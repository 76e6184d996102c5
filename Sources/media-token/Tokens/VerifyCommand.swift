internal import MediaToken
internal import ReplayStores

/// `media-token verify`: decides whether tokens open a resource, and consumes the tokens that it accepts.
enum VerifyCommand {
    private static let syntax = CommandSyntax(
        name: "media-token verify", operands: "[TOKEN | @FILE | -]",
        summary: "Decide whether media tokens open a resource, and say exactly why not.",
        details: """
            A token is read from the argument, from a file behind '@', or from standard input: one a line, or one \
            document. Clear text, percent-encoding, Base64, a REST v1 <play> and REST v1 or v2 JSON are understood.

            Each token is accepted once: within this run or, with --replays, for as long as it lives, whoever asks. A \
            store that is new cannot know the past, and refuses tokens issued before it (TOKEN_PREDATES_STORE).

            Exit status: 0 all valid, 1 at least one rejected, 2 undecided (keys or store), 64 usage.

            Examples:
              media-token verify --keys adobe.pem --requestor MML --resource TNT @token.txt
              media-token verify --key pub.pem --requestor MML --resource TNT \\
                --at '2016-03-17 15:02:00 -0700' --json - < tokens.txt
            """,
        groups: [
            KeyOptions.group, ExpectationOptions.group, TimeOptions.group, ReplayOptions.group, OutputOptions.group,
        ])

    private struct Invocation {
        let keys: KeyOptions
        let expectation: ExpectationOptions
        let time: TimeOptions
        let replays: ReplayOptions
        let output: OutputOptions
        let input: TokenInput

        init(_ given: Arguments) throws(UsageError) {
            keys = try KeyOptions(given)
            expectation = try ExpectationOptions(given)
            time = try TimeOptions(given)
            replays = try ReplayOptions(given, time: time)
            output = try OutputOptions(given)
            input = try TokenInput(given.operands)
            guard !keys.paths.isEmpty else { throw UsageError("no key given; expected --keys DIR or --key FILE") }
            guard !expectation.requestors.isEmpty else { throw UsageError("no --requestor given") }
            guard expectation.namesResource else {
                throw UsageError("no resource given; expected --resource ID, --resource-file F or --any-resource")
            }
        }
    }

    static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try verify(invocation) }
    }

    private static func verify(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        guard let resource = try invocation.expectation.resourceRule() else {
            throw CommandError("no resource given")
        }
        let keys = try invocation.keys.load()
        let store = try invocation.replays.open(clockSkew: invocation.time.policy().clockSkew)
        let verifier = MediaTokenVerifier(
            keys: keys, policy: invocation.time.policy(allowedMVPDs: invocation.expectation.allowedMVPDs),
            replays: store)
        let expectation = Expectation(requestors: invocation.expectation.requestors, resource: resource)
        var status = ExitStatus.success
        try invocation.input.forEachGroup { tokens in
            let now = invocation.time.time ?? .now
            let requests = tokens.map { VerificationRequest(token: $0, expectation: expectation) }
            guard !invocation.output.isQuiet else {
                for outcome in verifier.verify(requests, at: now) { status = max(status, outcome.exitStatus) }
                return
            }
            for (outcome, examination) in verifier.verifyAndExamine(requests, at: now) {
                status = max(status, outcome.exitStatus)
                invocation.output.show(examination, verdict: outcome.code)
            }
            Console.flush()
        }
        do { try store.close() } catch { throw CommandError("\(error)") }
        return status
    }
}

extension Result where Success == Verdict, Failure == VerificationError {
    fileprivate var code: VerdictCode {
        switch self {
        case .success(let verdict): verdict.code
        case .failure: .errorUnknown
        }
    }

    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .success(.accepted): .success
        case .success(.rejected): .rejected
        case .failure: .undecided
        }
    }
}
