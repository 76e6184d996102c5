internal import Captures
internal import CommandShell
internal import MediaToken
internal import ReplayStores
internal import Settings

/// `media-token verify`: decides whether tokens open a resource, and consumes the tokens that it accepts.
enum VerifyCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token verify", operands: "[TOKEN | @FILE | -]",
        summary: "Decide whether media tokens open a resource, and say exactly why not.",
        details: """
            A token is read from the argument, from @FILE, or from standard input: one a line, or one \
            document. Clear text, percent-encoding, Base64, a REST v1 <play> and REST v1 or v2 JSON are understood. \
            With --find, tokens are found in any text, also in a HAR file, and errors of Adobe Pass are rejected.

            Each token is accepted once: within this run or, with --replays, for as long as it lives, whoever asks. A \
            store that is new cannot know the past, and rejects tokens issued before it (TOKEN_PREDATES_STORE).

            With --status, standard output is one code a token once all are decided, or ERROR_UNKNOWN alone if a key, \
            a file or the store fails; after a usage error it is empty. Reasons go to standard error. It needs \
            --replays, as each run of its own would accept a token again.

            A script passes a token on standard input. As an argument, a token that begins with '-' or '@' is an option or the \
            name of a file.

            Exit status: 0 all valid, 1 at least one rejected, 2 undecided (keys or store), 64 usage.

            Examples:
              media-token verify --keys Keys --min-rsa-bits 1024 --requestor MML \\
                --resource TNT --at '2016-03-17 15:02:00 -0700' \\
                @Tests/Vectors/media-token-2016-temppass.txt
              media-token verify --keys Keys/adobe-pass-2015-2021.pem \\
                --min-rsa-bits 1024 --requestor MML --resource TNT \\
                --replays lmdb:replays --status - \\
                < Tests/Vectors/media-token-2016-temppass.txt
                # exit status 1: it has expired
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            KeyOptions.table.within(\.keys), ExpectationOptions.table.within(\.expectation),
            TimeOptions.table.within(\.time), ReplayOptions.table.within(\.replays),
            .group(
                "Capture", [.flag("find", "Find the tokens in a HAR, log, packet capture or text of any form", \.finds)]
            ),
            OutputOptions.verdictTable.within(\.output))

        var keys = KeyOptions()
        var expectation = ExpectationOptions()
        var time = TimeOptions()
        var replays = ReplayOptions()
        var output = OutputOptions()
        var input = TokenInput()
        var finds = false

        mutating func take(_ operands: [String]) throws(UsageError) { input = try TokenInput(operands) }

        func check(_ given: inout SettingsObject) {
            keys.check(&given)
            expectation.check(&given)
            time.check(&given)
            replays.check(&given, time)
            output.check(&given)
            if output.isStatus, !given.wasTaken("replays") {
                given.refuse(
                    "status",
                    "is given without --replays; expected a store that remembers used tokens, or memory to accept "
                        + "a token in each run")
            }
            if time.time == .line, !finds { given.refuse("at", "is 'line' without --find; expected a time") }
            if keys.paths.isEmpty { given.refuse(nil, "no key given; expected --keys PATH or --key FILE") }
            if expectation.requestors.isEmpty { given.refuse(nil, "no --requestor given") }
            if !expectation.namesResource {
                given.refuse(nil, "no resource given; expected --resource ID, --resource-file FILE or --any-resource")
            }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        do throws(CommandError) {
            return try verify(invocation)
        } catch {
            if invocation.output.isStatus { Console.print(VerdictCode.errorUnknown.rawValue) }
            throw error
        }
    }

    private static func verify(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        guard let resource = try invocation.expectation.resourceRule() else {
            throw CommandError("no resource given")
        }
        let keys = try invocation.keys.load()
        // A program that asks with --status means to use the token up.
        if !invocation.output.isStatus { invocation.replays.warnOfUse() }
        let store = try invocation.replays.open(clockSkew: invocation.time.policy().clockSkew)
        let verifier = MediaTokenVerifier(
            keys: keys, policy: invocation.time.policy(allowedMVPDs: invocation.expectation.allowedMVPDs),
            replays: store)
        let expectation = Expectation(requestors: invocation.expectation.requestors, resource: resource)
        let (status, codes) = try store.closed { () throws(CommandError) in
            invocation.finds
                ? try verifyFound(invocation, keys, by: verifier, for: expectation)
                : try verify(invocation, by: verifier, for: expectation)
        }
        // Codes are printed when the store is closed, so that no program reads VALID_TOKEN of a run that fails.
        for code in codes { Console.print(code.rawValue) }
        return status
    }

    /// Verifies all tokens of the input, and returns what is printed when the store is closed.
    private static func verify(
        _ invocation: Invocation, by verifier: MediaTokenVerifier, for expectation: Expectation
    ) throws(CommandError) -> (ExitStatus, [VerdictCode]) {
        var (status, codes) = (ExitStatus.success, [VerdictCode]())
        let isArgument = invocation.input.isArgument
        try invocation.input.forEachGroup { tokens in
            for (tokens, now) in invocation.time.groups(of: tokens, for: expectation.resource) {
                let requests = tokens.map { VerificationRequest(token: $0, expectation: expectation) }
                guard invocation.output.showsChecks else {
                    for (token, outcome) in zip(tokens, verifier.verify(requests, at: now)) {
                        status = max(status, outcome.exitStatus)
                        guard invocation.output.isStatus else { continue }
                        codes.append(outcome.code)
                        if let reason = outcome.reason(of: token, asArgument: isArgument) { Console.printError(reason) }
                    }
                    continue
                }
                for (token, (outcome, examination)) in zip(tokens, verifier.verifyAndExamine(requests, at: now)) {
                    status = max(status, outcome.exitStatus)
                    invocation.output.show(
                        examination.naming(token.bytes, asArgument: isArgument), verdict: outcome.code)
                }
            }
            Console.flush()
        }
        return (status, codes)
    }

    /// Verifies all tokens that are found in the input, and rejects what Adobe Pass answered in their place. Each token
    /// counts once, however often the input mentions it; a second request of an archive that sends it is another use,
    /// if it reached the backend.
    private static func verifyFound(
        _ invocation: Invocation, _ keys: KeyRing, by verifier: MediaTokenVerifier, for expectation: Expectation
    ) throws(CommandError) -> (ExitStatus, [VerdictCode]) {
        var (status, codes) = (ExitStatus.success, [VerdictCode]())
        var (numbers, sent) = ([[UInt8]: Int](), Set<[UInt8]>())
        var inspector = FindingInspector(keys: keys)
        var shown = FindingsOutput(invocation.output, only: nil)
        let isArgument = invocation.input.isArgument
        var decided = 0
        func verify(_ found: ExaminedFinding, at time: Timestamp? = nil) {
            var found = found
            if case .token(_, let clearText) = found.result {
                // A value that a request sent gets the verdict that a gate would give it.
                let sent = found.finding.isSent == true ? found.finding.sent : nil
                let token = invocation.input.quotable(RawToken(sent ?? clearText))
                let (tokens, now) = invocation.time.groups(of: [token], for: expectation.resource)[0]
                let requests = tokens.map { VerificationRequest(token: $0, expectation: expectation) }
                let (outcome, examination) = verifier.verifyAndExamine(requests, at: time ?? now)[0]
                found.examine(
                    clearText, as: examination.naming(clearText[...], asArgument: isArgument), verdict: outcome.code)
                status = max(status, outcome.exitStatus)
                if invocation.output.isStatus, !found.finding.repairs.isEmpty {
                    Console.printError("repaired: \(found.finding.repairs.joined(separator: ", "))")
                }
                if invocation.output.isStatus, let reason = outcome.reason(of: tokens[0], asArgument: isArgument) {
                    Console.printError(reason)
                }
            } else if case .error(let error) = found.result {
                found.verdict = .invalidTokenFormat
                status = max(status, .rejected)
                if invocation.output.isStatus {
                    Console.printError("\(VerdictCode.invalidTokenFormat.rawValue): \(error.code)")
                }
            } else {
                return
            }
            decided += 1
            if invocation.output.isStatus, let code = found.verdict { codes.append(code) }
            shown.show(found, at: time)
        }
        let head = try invocation.input.find(with: inspector.finder) { part in
            if case .unread(let reason) = part {
                Console.printError(reason)
                status = max(status, .undecided)
            }
            var inPart: Set<[UInt8]> = []
            for finding in part.findings {
                let known = finding.clearText.flatMap { numbers[$0] }
                var questions = TokenInspector.Questions()
                questions.policy = invocation.time.policy()
                if invocation.time.time == .line { questions.time = part.time(of: finding).map { .at($0) } }
                guard let found = inspector.examine(finding, asking: questions, knownAs: known) else { continue }
                if let clearText = finding.clearText {
                    numbers[clearText] = found.number
                    let isUse = finding.isSent == true && part.isDecided && inPart.insert(clearText).inserted
                    let isSentAgain = isUse && !sent.insert(clearText).inserted
                    guard known == nil || isSentAgain || found.damage != nil else {
                        // A token that stands again is no second use, but may be too old there.
                        let isLate = found.examination?.firstFailure?.check == .window
                        if isLate { status = max(status, .rejected) }
                        if isLate || finding.isSent == nil, !invocation.output.isJSON { shown.showAgain(found) }
                        continue
                    }
                }
                guard invocation.time.time == .line else {
                    verify(found)
                    continue
                }
                if let time = part.time(of: finding) ?? (finding.clearText == nil ? .now : nil) {
                    verify(found, at: time)
                } else {
                    Console.printError(finding.missingTime)
                    (status, decided) = (max(status, .undecided), decided + 1)
                }
            }
        }
        // A grant alone is no token, and nothing is decided about it.
        if decided == 0 { verify(inspector.examine(unrecognized: head, asking: TokenInspector.Questions())) }
        shown.finish()
        return (status, codes)
    }
}

extension Result where Success == Verdict, Failure == VerificationError {
    fileprivate var code: VerdictCode {
        switch self {
        case .success(let verdict): verdict.code
        case .failure: .errorUnknown
        }
    }

    /// Why the token is not accepted, or what an input is that is none; `nil` if the token is accepted.
    fileprivate func reason(of token: RawToken, asArgument: Bool) -> String? {
        switch self {
        case .success(.accepted): return nil
        case .success(.rejected(let rejection)):
            let known = rejection.id == nil ? UnrecognizedInput(token.bytes, asArgument: asArgument) : nil
            return known.map { "\(rejection.code.rawValue): \($0.detail)" } ?? "\(rejection)"
        case .failure(let error): return "\(VerdictCode.errorUnknown.rawValue): \(error)"
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
