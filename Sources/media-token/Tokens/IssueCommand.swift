internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenTesting
internal import Settings
internal import TokenCrypto

/// `media-token issue`: signs tokens for tests and load.
enum IssueCommand {
    static let command = Command(syntax, Invocation.self, run: issue)

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
            """)

    private static let fieldNames = MediaTokenField.allCases.map { "\($0.name)" }

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            .group(
                "What to sign",
                [
                    .text("signing-key", "FILE", "Sign with this PEM private key", \.signingKey).required,
                    .text("requestor", "ID", "Issue them for this requestor (service provider)", \.requestor),
                    .text("resource", "ID", "Issue them for this resource", \.resource),
                    .text(
                        "resource-file", "FILE", "Read the resource from FILE, without its last line break",
                        \.resourceFile),
                    .text("mvpd", "ID", "MVPD", default: "TempPass", \.mvpd),
                    .text("proxy-mvpd", "ID", "Proxy MVPD (default none)", \.recipe.proxyMVPD),
                    Setting("ttl", "MS", .text(), "TTL in milliseconds, or none (default 420000)") {
                        given, name, values in
                        values.setTTL(&given, name)
                    },
                    Setting(
                        "issued-at", "TIME", .text(), "Issue time, in the forms of verify's --at (default now)"
                    ) { given, name, values in values.setIssueTime(&given, name) },
                    .word("kind", "KIND", "The kind of token", default: .media, \.recipe.kind),
                    Setting(
                        "root", "NAME", .word(TokenKind.media.roots), "Root element of a media token",
                        default: "authToken"
                    ) { given, name, values in
                        values.recipe.root = given.word(name, TokenKind.media.roots) ?? values.recipe.root
                    },
                    .text("device", "FINGERPRINT", "Device that an authn or authz token is bound to", \.device),
                    fields("omit", "Leave a media token's field out: \(fieldNames.joined(separator: ", "))", \.omitted),
                    fields("empty", "Make a media token's field an empty element", \.emptied),
                ]),
            .group(
                "Output",
                [
                    .number("count", "N", "Sign N distinct tokens", 1...100_000_000, default: 1, \.count),
                    .word("format", "FORM", "Encoding of the tokens", default: .clear, \.wrapping),
                ]))

        var signingKey: String?
        var requestor: String?
        var resource: String?
        var resourceFile: String?
        var mvpd: String?
        var device: String?
        var count = 1
        var wrapping = TokenWrapping.clear
        var recipe = TokenRecipe(issued: TokenDate(.now))

        private static func fields(
            _ name: String, _ help: String,
            _ path: any WritableKeyPath<TokenRecipe, Set<MediaTokenField>> & Sendable
        ) -> Setting<Invocation> {
            Setting(name, "FIELD", .texts(), help) { given, name, values in
                let named = given.values(name, fieldNames.joined(separator: ", ")) { text in
                    MediaTokenField.allCases.first { "\($0.name)" == text }
                }
                values.recipe[keyPath: path].formUnion(named ?? [])
            }
        }

        private mutating func setTTL(_ given: inout SettingsObject, _ name: String) {
            let range: ClosedRange<Int64> = 1...31_536_000_000
            guard let text = given.text(name) else { return }
            if text == "none" {
                recipe.omitted.insert(.ttl)
            } else if let number = Int64(text), range.contains(number) {
                recipe.timeToLive = number
            } else {
                given.refuse(
                    name,
                    "is '\(printable(text))'; expected a whole number from \(range.lowerBound) to \(range.upperBound), or none"
                )
            }
        }

        /// Reads the issue time. A time that is given with an offset is written with that offset.
        private mutating func setIssueTime(_ given: inout SettingsObject, _ name: String) {
            if case .text(let text)? = given.untaken[JSONName(name)], let date = TokenDate(text) {
                given.take(name)
                recipe.issued = date
            } else if let time = given.time(name) {
                recipe.issued = TokenDate(time)
            }
        }

        mutating func check(_ given: inout SettingsObject) {
            (recipe.requestor, recipe.resource) = (requestor ?? "", resource ?? "")
            (recipe.mvpd, recipe.device) = (mvpd ?? recipe.mvpd, device ?? recipe.device)
            if (resource == nil) == (resourceFile == nil) {
                given.refuse(nil, "expected one of --resource and --resource-file")
            }
            if !recipe.omitted.isDisjoint(with: recipe.emptied) {
                given.refuse(nil, "--omit and --empty name the same field; expected one of them")
            }
            let replaced = recipe.omitted.union(recipe.emptied)
            if recipe.requestor.isEmpty, !replaced.contains(.requestorID) {
                given.refuse(nil, "no --requestor given")
            }
            if count > 1, replaced.contains(.sessionGUID) {
                given.refuse(
                    "count", "is given, and tokens without a session GUID would not differ; expected one")
            }
            if recipe.kind == .media {
                given.refuse(["device"], withoutEffect: "for a media token; expected --kind authn or authz")
            } else {
                given.refuse(["root", "proxy-mvpd"], withoutEffect: "for a token of another kind than media")
                if !replaced.isEmpty {
                    given.refuse(
                        nil, "--omit, --empty and --ttl none are for media tokens; expected --kind media, the default")
                }
            }
        }
    }

    @Sendable private static func issue(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        var (recipe, signingKey) = (invocation.recipe, invocation.signingKey ?? "")
        if let file = invocation.resourceFile { recipe.resource = try ResourceFile.read(file) }
        var progress = ProgressBar("signing", total: invocation.count)
        do {
            let pem = try FileBytes.read(signingKey, limit: KeyFile.sizeLimit)
            let signer = TokenSigner(key: try RSASigningKey(pem: pem))
            for number in 1...invocation.count {
                recipe.sessionGUID = TokenRecipe.freshSessionGUID()
                Console.print(invocation.wrapping.wrap(try signer.sign(recipe.payload), recipe))
                progress.update(number)
            }
        } catch let error as KeyFileError {
            throw CommandError("\(signingKey): \(error)")
        } catch let error as FileError {
            throw CommandError("\(signingKey): \(error)")
        } catch {
            throw CommandError("\(error)")
        }
        return .success
    }
}
