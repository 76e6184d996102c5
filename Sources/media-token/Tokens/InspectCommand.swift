internal import Captures
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate

/// `media-token inspect`: shows the contents of a token of any kind, and runs the checks that the options ask for.
enum InspectCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token inspect", operands: "[TOKEN | @FILE | -]",
        summary: "Find tokens in any text or capture, show what they hold, and check what is asked.",
        details: """
            The input may be any text or file that holds tokens: a log, a curl line, a URL, JSON, a hexdump, \
            and may be packed with gzip or ZIP. Tokens, playback grants and errors of Adobe Pass are found and numbered, \
            with the way to each. A HAR file is shown as a table of its calls, with what changed between them.

            Without a key the fields are shown under UNVERIFIED: nothing about them is to be believed. With keys the \
            signature is checked. Everything else is checked only where an option asks for it; without --at, the headline says \
            how long ago the token expired, and that is no failure.

            The output holds personal data (sessionGUID). No token is consumed. --web shows the same in a browser of this \
            machine, at an address with a random path that is printed, until Ctrl-C; nothing leaves the machine.

            Exit status: 0 no check failed, 1 a check failed, 2 undecided, 64 usage.

            Examples:
              media-token inspect --keys Keys --min-rsa-bits 1024 \\
                @Tests/Vectors/media-token-2016-temppass.txt
              base64 Tests/Vectors/media-token-2016-temppass.txt | media-token inspect -
            """,
        groups: [
            KeyOptions.group, ExpectationOptions.group,
            OptionGroup(
                heading: "Device:",
                options: [
                    CommandOption("device", "FINGERPRINT", "Device that an AuthN or AuthZ token must be bound to")
                ]),
            TimeOptions.group, captureGroup, outputGroup, webGroup,
        ])

    private static let captureGroup = OptionGroup(
        heading: "Capture:", options: [CommandOption("only", "N", "Show entry N of a HAR file in full")])

    private static let outputGroup = OptionGroup(
        heading: OutputOptions.group.heading,
        options: OutputOptions.group.options + [
            CommandOption("clear", nil, "Add the token's clear text, which is personal data, to the JSON")
        ])

    private static let webGroup = OptionGroup(
        heading: "In a browser:",
        options: [
            CommandOption("web", nil, "Serve a page for tokens that are pasted or dropped, on the loopback"),
            CommandOption("port", "N", "Port of the page (default: any that is free)"),
        ])

    private struct Invocation {
        let keys: KeyOptions
        let expectation: ExpectationOptions
        let time: TimeOptions
        let output: OutputOptions
        let device: String?
        let input: TokenInput
        let showsClear: Bool
        /// The port of the page; `nil` without one.
        let webPort: UInt16?
        let given: Arguments
        /// The entry of a HAR file that is shown in full; `nil` for all, in a table.
        let entry: Int?

        init(_ given: Arguments) throws(UsageError) {
            keys = try KeyOptions(given)
            expectation = try ExpectationOptions(given)
            time = try TimeOptions(given)
            output = try OutputOptions(given)
            device = try given.one("device")
            input = try TokenInput(given.operands)
            showsClear = given.has("clear")
            let port = try given.number("port", in: 1...65_535)
            webPort = given.has("web") ? UInt16(port ?? 0) : nil
            self.given = given
            entry = try given.number("only", in: 1...Int64(Int32.max)).map(Int.init)
            guard expectation.requestors.count <= 1 else { throw UsageError("--requestor is given more than once") }
            guard !showsClear || given.has("json") else { throw UsageError("--clear is given without --json") }
            guard webPort != nil || port == nil else { throw UsageError("--port is given without --web") }
            let forWeb = Set((KeyOptions.group.options + webGroup.options).map(\.name))
            guard webPort == nil || given.operands.isEmpty && forWeb.isSuperset(of: given.values.keys) else {
                throw UsageError("--web goes with options for keys only; the page takes the token and all else")
            }
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
        return CommandError.report { () throws(CommandError) in
            guard let port = invocation.webPort else { return try inspect(invocation) }
            return try serve(invocation, port: port)
        }
    }

    private static func inspect(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let keys = invocation.keys.paths.isEmpty ? nil : try invocation.keys.load()
        let output = FindingsOutput(invocation.output, only: invocation.entry, showsClear: invocation.showsClear)
        var inspection = CaptureInspection(keys: keys, asking: try invocation.questions(), output)
        let head = try invocation.input.find { part in
            inspection.take(part)
            Console.flush()
        }
        return inspection.finish(of: head, asArgument: invocation.input.isArgument)
    }
}

extension InspectCommand {
    /// Serves the page until Ctrl-C.
    private static func serve(_ invocation: Invocation, port: UInt16) throws(CommandError) -> ExitStatus {
        // The signals are blocked before the server's thread starts.
        let process = ServiceProcess()
        if !invocation.keys.paths.isEmpty { _ = try invocation.keys.load() }
        let keys = invocation.given.values.filter { !webGroup.options.map(\.name).contains($0.key) }
        let session = try WebSession(port: port, engine(Arguments(values: keys, operands: [])))
        Console.print(session.url)
        Console.flush()
        while process.nextSignal(withinSeconds: 3600) == nil {}
        session.stop()
        return .success
    }

    /// Answers the page's questions as this command, and `keys list`, would with `given` and the page's own options.
    static func engine(_ given: Arguments) -> WebEngine {
        WebEngine(
            given: given,
            inspect: { question in
                answer(question) { (invocation) throws(CommandError) in
                    var (lines, remarks) = ([String](), [String]())
                    let output = FindingsOutput(
                        .json, only: nil, showsClear: true, remark: { remarks.append($0) }, { lines.append($0) })
                    let keys = try invocation.keys.ring(with: question.keys)
                    var inspection = CaptureInspection(keys: keys, asking: try invocation.questions(), output)
                    TokenFinder().search(question.input) { inspection.take($0) }
                    _ = inspection.finish(of: RawToken(question.input.prefix(RawToken.sizeLimit + 1)))
                    if lines.isEmpty, let remark = remarks.first { throw CommandError(remark) }
                    return lines
                }
            },
            keys: { question in
                answer(question) { (invocation) throws(CommandError) in
                    let keys = try invocation.keys.ring(with: question.keys)?.keys ?? []
                    return keys.map { JSONLine.encode(KeysListCommand.KeyObject($0)) }
                }
            })
    }

    private static func answer(
        _ question: WebQuestion, _ answer: (Invocation) throws(CommandError) -> [String]
    ) -> Result<[String], WebRefusal> {
        let invocation: Invocation
        do { invocation = try Invocation(question.arguments) } catch { return .failure(WebRefusal(error.message)) }
        do { return .success(try answer(invocation)) } catch { return .failure(WebRefusal(error.message)) }
    }
}
