internal import MediaToken

/// `media-token inspect`: shows the contents of a token of any kind, and runs the checks that the options ask for.
enum InspectCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token inspect", operands: "[TOKEN | @FILE | -]",
        summary: "Show what a media, AuthN or AuthZ token holds, and check what is asked.",
        details: """
            Without a key the fields are shown under UNVERIFIED: nothing about them is to be believed. With keys the \
            signature is checked. Everything else is checked only where an option asks for it; without --at, the output says \
            how long ago the token expired, and that is no failure.

            The output holds personal data (sessionGUID). No token is consumed.

            Exit status: 0 no check failed, 1 a check failed, 2 undecided, 64 usage.

            Example:
              media-token inspect --keys Keys --min-rsa-bits 1024 \\
                @Tests/Vectors/media-token-2016-temppass.txt
            """,
        groups: [
            KeyOptions.group, ExpectationOptions.group,
            OptionGroup(
                heading: "Device:",
                options: [
                    CommandOption("device", "FINGERPRINT", "Device that an AuthN or AuthZ token must be bound to")
                ]),
            TimeOptions.group, OutputOptions.group,
        ])

    private struct Invocation {
        let keys: KeyOptions
        let expectation: ExpectationOptions
        let time: TimeOptions
        let output: OutputOptions
        let device: String?
        let input: TokenInput

        init(_ given: Arguments) throws(UsageError) {
            keys = try KeyOptions(given)
            expectation = try ExpectationOptions(given)
            time = try TimeOptions(given)
            output = try OutputOptions(given)
            device = try given.one("device")
            input = try TokenInput(given.operands)
            guard expectation.requestors.count <= 1 else { throw UsageError("--requestor is given more than once") }
        }

        func questions() throws(CommandError) -> TokenInspector.Questions {
            var questions = TokenInspector.Questions()
            questions.requestor = expectation.requestors.first
            questions.resource = try expectation.resourceRule()
            questions.mvpds = expectation.mvpds
            questions.device = device
            questions.time = time.time
            questions.policy = time.policy()
            return questions
        }
    }

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try inspect(invocation) }
    }

    private static func inspect(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let keys = invocation.keys.paths.isEmpty ? nil : try invocation.keys.load()
        let inspector = TokenInspector(keys: keys)
        var questions = try invocation.questions()
        var status = ExitStatus.success
        try invocation.input.forEachGroup { tokens in
            questions.now = .now
            for token in tokens {
                let examination = inspector.inspect(token, asking: questions)
                if let failure = examination.firstFailure {
                    status = max(status, failure.code == .errorUnknown ? .undecided : .rejected)
                }
                invocation.output.show(examination, showsFields: true)
            }
            Console.flush()
        }
        return status
    }
}
