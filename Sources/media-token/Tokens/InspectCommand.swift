internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import Settings

/// `media-token inspect`: shows the contents of a token of any kind, and runs the checks that the options ask for.
enum InspectCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token inspect", operands: "[TOKEN | @FILE | -]",
        summary: "Find tokens in any text or capture, show what they hold, and check what is asked.",
        details: """
            The input may be any text or file that holds tokens: a log, a curl line, a URL, JSON, \
            and may be packed with gzip or ZIP. Tokens, playback grants and errors of Adobe Pass are found and numbered, \
            with the way to each. Calls, as a HAR file, curl -v or a capture of packets has them, are shown as a table, with what changed between them, any other \
            capture with several findings as a table of these. A token is checked as of the time of its call or, if that has \
            a zone, of its line.

            Without a key the fields are shown under UNVERIFIED: nothing about them is to be believed. With keys the \
            signature is checked. Everything else is checked only where an option asks for it; without a time, the headline says \
            how long ago the token expired, and that is no failure.

            The output holds personal data (sessionGUID). No token is consumed. --web shows the same in a browser of this \
            machine, at an address with a random path that is printed, until Ctrl-C; nothing leaves the machine.

            Exit status: 0 no check failed, 1 a check failed, 2 undecided, 64 usage.

            Examples:
              media-token inspect --keys Keys --min-rsa-bits 1024 \\
                @Tests/Vectors/media-token-2016-temppass.txt
              base64 Tests/Vectors/media-token-2016-temppass.txt | media-token inspect -
            """)

    struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            KeyOptions.table.within(\.keys), ExpectationOptions.table.within(\.expectation),
            .group(
                "Device",
                [
                    .text(
                        "device", "FINGERPRINT", "Require that an AuthN or AuthZ token is bound to this device",
                        \.device)
                ]),
            TimeOptions.table.within(\.time),
            .group(
                "Capture",
                [
                    .number(
                        "only", "N", "Show row N of a table in full: a call or a finding",
                        1...Int(Int32.max), \.entry
                    ) { $0 }
                ]),
            OutputOptions.table.within(\.output),
            .group(
                "Output",
                [.flag("clear", "Add the token's clear text, which is personal data, to the JSON", \.showsClear)]),
            webTable)

        /// The options of the page.
        private static let webTable = SettingsTable<Invocation>.group(
            "In a browser",
            [
                .flag("web", "Serve a page for tokens that are pasted or dropped, on the loopback", \.isWeb),
                .number("port", "N", "Port of the page (default any that is free)", 1...65_535, \.port) { UInt16($0) },
            ])

        var keys = KeyOptions()
        var expectation = ExpectationOptions()
        var time = TimeOptions()
        var output = OutputOptions()
        var device: String?
        var input = TokenInput()
        private var hasToken = false
        var showsClear = false
        var isWeb = false
        /// Whether the page asks, which may bring keys of its own.
        var isOfPage = false
        var port: UInt16 = 0
        /// The number of the row that is shown in full; `nil` for all, in a table.
        var entry: Int?

        mutating func take(_ operands: [String]) throws(UsageError) {
            hasToken = !operands.isEmpty
            input = try TokenInput(operands)
        }

        func check(_ given: inout SettingsObject) {
            keys.check(&given)
            if !isOfPage { keys.checkThatKeysAreNamed(&given) }
            expectation.check(&given)
            time.check(&given)
            output.check(&given)
            if expectation.requestors.count > 1 { given.refuse("requestor", "is given more than once") }
            if !output.isJSON { given.refuse(["clear"], withoutEffect: "without --json") }
            if !isWeb { given.refuse(["port"], withoutEffect: "without --web") }
            guard isWeb else { return }
            if hasToken { given.refuse("web", "is given with a token; the page takes that") }
            let forPage = KeyOptions.table.names + Self.webTable.names
            let others = Self.table.names.filter { !forPage.contains($0) }
            given.refuse(others, withoutEffect: "with --web, which goes with options for keys only")
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

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        invocation.isWeb ? try serve(invocation) : try inspect(invocation)
    }

    private static func inspect(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let keys = invocation.keys.paths.isEmpty ? nil : try invocation.keys.load()
        let output = FindingsOutput(invocation.output, only: invocation.entry, showsClear: invocation.showsClear)
        var inspection = CaptureInspection(keys: keys, asking: try invocation.questions(), output)
        let head = try invocation.input.find(with: inspection.finder) { part in
            inspection.take(part)
            Console.flush()
        }
        return inspection.finish(of: head, asArgument: invocation.input.isArgument)
    }
}

extension InspectCommand {
    /// Serves the page until Ctrl-C.
    private static func serve(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        // The signals are blocked before the server's thread starts.
        let process = ServiceProcess()
        if !invocation.keys.paths.isEmpty { _ = try invocation.keys.load() }
        let session = try WebSession(
            port: invocation.port, shortestKey: invocation.keys.shortestKey, engine(invocation.keys))
        Console.print(session.url)
        Console.flush()
        while process.nextSignal(withinSeconds: 3600) == nil {}
        session.stop()
        return .success
    }

    /// Answers the page's questions as this command, and `keys list`, would with these keys and the page's own options.
    static func engine(_ keys: KeyOptions) -> WebEngine {
        WebEngine(
            inspect: { question in
                answer(question, keys) { (invocation) throws(CommandError) in
                    var (lines, remarks) = ([String](), [String]())
                    let output = FindingsOutput(
                        .json, only: nil, showsClear: true, remark: { remarks.append($0) }, { lines.append($0) })
                    let keys = try invocation.keys.ring(with: question.keys)
                    var inspection = CaptureInspection(keys: keys, asking: try invocation.questions(), output)
                    inspection.finder.search(question.input) { inspection.take($0) }
                    _ = inspection.finish(of: RawToken(question.input.prefix(RawToken.sizeLimit + 1)))
                    if lines.isEmpty, let remark = remarks.first { throw CommandError(remark) }
                    return lines
                }
            },
            keys: { question in
                answer(question, keys) { (invocation) throws(CommandError) in
                    let keys = try invocation.keys.ring(with: question.keys)?.keys ?? []
                    return keys.map { KeysListCommand.document($0).line }
                }
            })
    }

    private static func answer(
        _ question: WebQuestion, _ keys: KeyOptions, _ answer: (Invocation) throws(CommandError) -> [String]
    ) -> Result<[String], WebRefusal> {
        var invocation = Invocation()
        (invocation.keys, invocation.isOfPage) = (keys, true)
        let problems = invocation.read(question.options)
        guard problems.isEmpty else { return .failure(WebRefusal(problems.joined(separator: "; "))) }
        do { return .success(try answer(invocation)) } catch { return .failure(WebRefusal(error.message)) }
    }
}
