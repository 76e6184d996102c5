internal import CommandShell
internal import Files
internal import MediaToken
internal import TokenCrypto
internal import TokenIssuer

/// `media-token issue`: signs tokens for tests and load.
enum IssueCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token issue", operands: "",
        summary: "Sign tokens for tests and load, in the shape of those that Adobe Pass issues.",
        details: """
            Tokens go to standard output, one a line. With --count each has a session GUID of its own, so all differ.

            Exit status: 0 done, 2 the key cannot be used, 64 usage.

            Example:
              media-token keys generate --to dev
              media-token issue --signing-key dev/development.key --requestor MML \\
                --resource TNT | \\
                media-token verify --keys dev --requestor MML --resource TNT
            """,
        groups: [
            OptionGroup(
                heading: "What to sign:",
                options: [
                    CommandOption("signing-key", "FILE", "PEM private key to sign with"),
                    CommandOption("requestor", "ID", "Requestor (service provider)"),
                    CommandOption("resource", "ID", "Resource"),
                    CommandOption("resource-file", "F", "The same from a file, without its last line break"),
                    CommandOption("mvpd", "ID", "MVPD (default TempPass)"),
                    CommandOption("proxy-mvpd", "ID", "Proxy MVPD (default none)"),
                    CommandOption("ttl", "MS", "Life in milliseconds, or none (default 420000)"),
                    CommandOption("issued-at", "TIME", "Issue time, in the forms of verify's --at (default now)"),
                    CommandOption("kind", "media|authn|authz", "The kind of token (default media)"),
                    CommandOption("root", "NAME", "authToken or shortAuthorizationToken (default authToken)"),
                    CommandOption("device", "FINGERPRINT", "Device that an authn or authz token is bound to"),
                    CommandOption(
                        "omit", "FIELD",
                        "Leave a media token's field out: \(fieldNames.joined(separator: ", ")) (repeatable)"),
                    CommandOption("empty", "FIELD", "Make a media token's field an empty element (repeatable)"),
                ]),
            OptionGroup(
                heading: "Output:",
                options: [
                    CommandOption("count", "N", "How many distinct tokens (default 1)"),
                    CommandOption(
                        "format", "FORM",
                        "\(TokenWrapping.allCases.map(\.rawValue).joined(separator: ", ")) (default clear)"),
                ]),
        ])

    private static let fieldNames = MediaTokenField.allCases.map { "\($0.name)" }

    private struct Invocation {
        let signingKey: String
        let resourceFile: String?
        let count: Int
        let wrapping: TokenWrapping
        var recipe: TokenRecipe

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.isEmpty else {
                throw UsageError("'\(given.operands[0])' is given; expected options only")
            }
            guard let key = try given.one("signing-key") else { throw UsageError("no --signing-key given") }
            let requestor = try given.one("requestor") ?? ""
            let resource = try given.one("resource")
            resourceFile = try given.one("resource-file")
            guard (resource == nil) != (resourceFile == nil) else {
                throw UsageError("expected one of --resource and --resource-file")
            }
            signingKey = key
            count = Int(try given.number("count", in: 1...100_000_000) ?? 1)
            wrapping = try given.choice("format", TokenWrapping.init, TokenWrapping.allCases.map(\.rawValue)) ?? .clear
            recipe = TokenRecipe(issued: try Self.issued(given))
            recipe.requestor = requestor
            recipe.resource = resource ?? ""
            recipe.mvpd = try given.one("mvpd") ?? recipe.mvpd
            recipe.proxyMVPD = try given.one("proxy-mvpd")
            recipe.omitted = try Self.fields("omit", given)
            recipe.emptied = try Self.fields("empty", given)
            if given.all("ttl") == ["none"] {
                recipe.omitted.insert(.ttl)
            } else if given.has("ttl") {
                do throws(UsageError) {
                    recipe.timeToLive = try given.number("ttl", in: 1...31_536_000_000) ?? recipe.timeToLive
                } catch {
                    throw UsageError("\(error.message), or none")
                }
            }
            recipe.device = try given.one("device") ?? recipe.device
            recipe.kind = try given.choice("kind", TokenKind.init, TokenKind.allCases.map(\.rawValue)) ?? .media
            recipe.root =
                try given.choice("root", { TokenKind.media.roots.contains($0) ? $0 : nil }, TokenKind.media.roots)
                ?? recipe.root
            guard recipe.omitted.isDisjoint(with: recipe.emptied) else {
                throw UsageError("--omit and --empty name the same field; expected one of them")
            }
            let replaced = recipe.omitted.union(recipe.emptied)
            guard !requestor.isEmpty || replaced.contains(.requestorID) else {
                throw UsageError("no --requestor given")
            }
            guard count == 1 || !replaced.contains(.sessionGUID) else {
                throw UsageError("--count is given, and tokens without a session GUID would not differ; expected one")
            }
            guard recipe.kind == .media || (recipe.omitted.isEmpty && recipe.emptied.isEmpty) else {
                throw UsageError("--omit, --empty and --ttl none are for media tokens; expected no --kind, or media")
            }
        }

        private static func fields(_ option: String, _ given: Arguments) throws(UsageError) -> Set<MediaTokenField> {
            var fields: Set<MediaTokenField> = []
            for name in given.all(option) {
                guard let field = MediaTokenField.allCases.first(where: { "\($0.name)" == name }) else {
                    throw UsageError("--\(option) is '\(name)'; expected \(fieldNames.joined(separator: ", "))")
                }
                fields.insert(field)
            }
            return fields
        }

        /// Reads the issue time. A time that is given with an offset is written with that offset.
        private static func issued(_ given: Arguments) throws(UsageError) -> TokenDate {
            if let date = try given.one("issued-at").flatMap({ TokenDate($0) }) { return date }
            return TokenDate(try TimeOptions.time("issued-at", given) ?? .now)
        }
    }

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in try issue(invocation) }
    }

    private static func issue(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        var recipe = invocation.recipe
        if let file = invocation.resourceFile { recipe.resource = try ResourceFile.read(file) }
        var progress = ProgressBar("signing", total: invocation.count)
        do {
            let pem = try FileBytes.read(invocation.signingKey, limit: KeyFile.sizeLimit)
            let signer = TokenSigner(key: try RSASigningKey(pem: pem))
            for number in 1...invocation.count {
                recipe.sessionGUID = TokenRecipe.freshSessionGUID()
                Console.print(invocation.wrapping.wrap(try signer.sign(recipe.payload), recipe))
                progress.update(number)
            }
        } catch let error as KeyFileError {
            throw CommandError("\(invocation.signingKey): \(error)")
        } catch let error as FileError {
            throw CommandError("\(invocation.signingKey): \(error)")
        } catch {
            throw CommandError("\(error)")
        }
        return .success
    }
}
