internal import Basics
internal import CommandShell
internal import Glibc
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants

/// `media-token grant`: creates or checks a playback grant for a CDN.
enum GrantCommand {
    private static let kinds = GrantKind.all.map { kind in
        "  " + kind.name + String(repeating: " ", count: max(1, 13 - kind.name.utf8.count)) + kind.summary
    }.joined(separator: "\n")

    static let command = Command(syntax, GrantOptions.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token grant", operands: (GrantKind.all.map(\.name) + ["check KIND GRANT"]).joined(separator: "|"),
        summary: "Create or check a playback grant: a signed URL, signed cookie or access token for a CDN.",
        details: """
            KIND is \(GrantKind.names).
            \(kinds)
            'check' verifies GRANT (or @FILE, or - for standard input) as the CDN would, for --url or --path; give it the \
            options that the grant was made with, and --method once. Without a key it shows the grant's fields under \
            UNVERIFIED, and checks its times and what it is for; nothing about it is to be believed. GRANT is a query, a URL that ends in one, or a Cookie, Set-Cookie or other header.

            A key is read from a file or the environment, never from the command line: hexadecimal for akamai and cat, \
            a text for secure-link, PEM for cloudfront. To check a grant of cloudfront, its public key is enough. One line break at the end does not count.

            Exit status: 0 made, opens, or without a key no check failed; 1 does not open, or is undecided; 2 cannot be made or looked at; 64 usage.

            Examples:
              openssl rand -hex 32 > grant.key
              media-token grant akamai --key-file grant.key --acl '/live/tnt/*' \\
                > grant.txt
              media-token grant check akamai @grant.txt --key-file grant.key \\
                --url /live/tnt/1.ts
              media-token grant check akamai @grant.txt
              media-token grant cat --key-file grant.key --issuer gate \\
                --path-prefix /live/tnt/ --form cookie
            """)

    @Sendable private static func run(_ options: GrantOptions) throws(CommandError) -> ExitStatus {
        let grant = try options.grant.map { (operand) throws(CommandError) in
            String(decoding: try TokenInput(grant: operand).whole(limit: 65_536), as: UTF8.self)
        }
        let unverified = grant.flatMap { UnverifiedGrant(recognizing: $0, named: options.values["name"]) }
        if grant != nil, !options.hasKey { return explain(unverified, options) }
        do throws(GrantError) {
            let scheme = try options.settings.load()
            guard let grant else {
                return try show(try scheme.grant(options.values, options.period(), at: options.now), options)
            }
            let captured = CapturedGrant(grant)
            let field = captured.grant(of: options.kind, named: options.values["name"])
            let name = options.kind.check(field, of: captured, named: options.values["name"])
            let checks = try scheme.check(field.value, options.question)
            let withName =
                name.map { [$0] + checks.drop { $0.subject == .format && $0.isPassed == true } } ?? checks
            return show(withName, unverified, options)
        } catch {
            throw CommandError("\(error)")
        }
    }

    private static func show(_ grant: Grant, _ options: GrantOptions) throws(GrantError) -> ExitStatus {
        let cookies = Result { () throws(GrantError) in
            try grant.cookies(path: options.cookiePath, at: options.now)
        }
        if options.isJSON {
            let isQuery = (try? grant.demandQuery()) != nil
            Console.print(
                JSONValue([
                    // What the grant can travel in, and its expiry in seconds since 1970.
                    "query": isQuery ? grant.query : nil,
                    "url": isQuery ? options.stream.map { grant.appended(to: $0) } : nil,
                    "cookies": try? cookies.get(), "expires": grant.expires.wholeSeconds,
                ]).line)
            return .success
        }
        switch options.form {
        case .query, .url:
            try grant.demandQuery()
            Console.print(options.form == .query ? grant.query : grant.appended(to: options.stream ?? ""))
        case .cookie: for cookie in try cookies.get() { Console.print("Set-Cookie: \(cookie)") }
        case .header:
            try grant.demandHeader()
            for field in grant.fields { Console.print("\(field.cookie): \(field.value)") }
        }
        return .success
    }

    /// Shows what a grant says, and the results of the checks that need no key.
    ///
    /// - Parameter found: what the text was recognised as; `nil` for a text that is no grant of any kind.
    private static func explain(_ found: UnverifiedGrant?, _ options: GrantOptions) -> ExitStatus {
        let isExpected = found?.kind == options.kind.name
        let checks =
            found.flatMap { isExpected ? $0.checks(options.question) : nil }
            ?? [GrantCheck(.format, false, "it does not have the form of a grant of kind \(options.kind.name)")]
        let isFaultless = checks.allSatisfy { $0.isPassed != false }
        if options.isJSON {
            Console.print(document(checks, found).line)
        } else {
            let title = isFaultless ? "UNVERIFIED" : "UNVERIFIED, and opens nothing"
            Console.print(
                Style.strong(Style.bad(title)) + "  no key was given, so anybody may have made it", hanging: 2)
            printChecks(checks, found, options)
            if let found, isExpected { CheckList.printFields(found.fields, under: "Grant") }
        }
        return isFaultless ? .success : .rejected
    }

    /// Prints checks, and what the grant is if it is of another kind.
    private static func printChecks(_ checks: [GrantCheck], _ found: UnverifiedGrant?, _ options: GrantOptions) {
        for check in checks {
            CheckList.printLine(check.isPassed, check.subject.rawValue, check.detail)
        }
        guard let found, found.kind != options.kind.name, checks.first?.isPassed == false else { return }
        let isKind = GrantKind.named(found.kind) != nil
        CheckList.printAdvice(
            "recognised as \(found.title)"
                + (isKind
                    ? ": ask with 'media-token grant check \(found.kind)'"
                    : ", which is not a kind that this command checks"))
    }

    private static func show(
        _ checks: [GrantCheck], _ unverified: UnverifiedGrant?, _ options: GrantOptions
    ) -> ExitStatus {
        if options.isJSON {
            Console.print(document(checks, nil).line)
        } else {
            let unknown = checks.filter { $0.isPassed == nil }.map(\.subject.rawValue).joined(separator: ", ")
            let opens = unknown.isEmpty ? "OPENS" : "OPENS, as far as it was checked (not checked: \(unknown))"
            let isFaultless = checks.allSatisfy { $0.isPassed != false }
            let opensNot = isFaultless ? "UNDECIDED (not checked: \(unknown))" : "OPENS NOTHING"
            Console.print(Style.strong(checks.opens ? Style.good(opens) : Style.bad(opensNot)))
            printChecks(checks, unverified, options)
        }
        return checks.opens ? .success : .rejected
    }

    /// - Parameter unverified: What the grant was recognised as; `nil` if a key was given, which says more.
    private static func document(_ checks: [GrantCheck], _ unverified: UnverifiedGrant?) -> JSONValue {
        JSONValue([
            "opens": checks.opens, "kind": unverified?.kind,
            "checks": checks.map { check in
                let outcome = check.isPassed.map { $0 ? CheckReport.Outcome.passed : .failed } ?? .notChecked
                return JSONValue([
                    "name": check.subject.rawValue, "result": outcome.name, "detail": check.detail,
                ])
            },
            "unverifiedFields": unverified?.fields.map { ["name": $0.name, "text": $0.text] },
        ])
    }
}
