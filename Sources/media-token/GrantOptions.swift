internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants

/// How a grant is printed.
enum GrantForm: String, CaseIterable {
    case query, url, cookie, header
}

/// What `media-token grant` was told.
struct GrantOptions {
    static let groups = [
        OptionGroup(
            heading: "Key:",
            options: [
                CommandOption("key-file", "FILE", "File with the key"),
                CommandOption("key-env", "NAME", "Environment variable with the key"),
                CommandOption("key-id", "ID", "cat: tells whoever checks it which key that is"),
                CommandOption("key-pair-id", "ID", "cloudfront: ID of the public key there"),
                CommandOption("salt-file", "FILE", "akamai: file with the salt"),
            ]),
        OptionGroup(
            heading: "What it opens:",
            options: [
                CommandOption("url", "URL", "akamai, cloudfront: one URL; cloudfront: * in it for anything"),
                CommandOption("acl", "PATH", "akamai: path, with * for anything (repeatable)"),
                CommandOption("path", "PATH", "secure-link: nginx' $uri; cat: exactly this path"),
                CommandOption("path-prefix", "PATH", "cat: paths that begin with this"),
                CommandOption("scheme", "NAME", "cat: exactly this scheme"),
                CommandOption("host", "NAME", "cat: exactly this host"),
                CommandOption("method", "NAME", "cat: with this method (repeatable)"),
                CommandOption("ip", "ADDRESS", "akamai, cloudfront, secure-link: from this address alone"),
            ]),
        OptionGroup(
            heading: "When:",
            options: [
                CommandOption("validity", "S", "Seconds from now on (default 3600)"),
                CommandOption("expires", "TIME", "Instead: until then"),
                CommandOption("starts", "TIME", "Not before (default: at once)"),
                CommandOption("at", "TIME", "Make or check as of TIME (default now)"),
            ]),
        OptionGroup(
            heading: "In which form:",
            options: [
                CommandOption("name", "NAME", "akamai: of the parameter, cookie or header (default hdnts)"),
                CommandOption("digest", "NAME", "akamai: sha256, sha1, md5; cloudfront: sha256, sha1 (default sha256)"),
                CommandOption("escape-early", nil, "akamai: percent-encode what is signed"),
                CommandOption("id", "TEXT", "akamai: session ID"),
                CommandOption("data", "TEXT", "akamai: payload"),
                CommandOption("expression", "TEXT", "secure-link: as in secure_link_md5, with $secret in it"),
                CommandOption("issuer", "ID", "cat: who makes it"),
                CommandOption("cti", "HEX", "cat: the token's own ID"),
                CommandOption("renew", "KIND:S[:S]", "cat: renewal as cookie, header, redirect or automatic"),
            ]),
        OptionGroup(
            heading: "Output:",
            options: [
                CommandOption("form", "FORM", "query, url, cookie or header (default query)"),
                CommandOption("cookie-path", "PATH", "Path of cookies (default /)"),
                CommandOption("json", nil, "Print one JSON object"),
            ]),
    ]

    let kind: GrantKind
    /// What is to be looked at; `nil` where one is to be made.
    let grant: String?
    let now: Timestamp
    let starts: Timestamp?
    let expires: Timestamp?
    let validity: Int64
    let form: GrantForm
    let digest: String
    private let given: Arguments
    private let single: [String: String]

    init(_ given: Arguments) throws(UsageError) {
        var operands = given.operands[...]
        let isCheck = operands.first == "check"
        if isCheck { operands = operands.dropFirst() }
        let kinds = GrantKind.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = operands.popFirst(), let kind = GrantKind(rawValue: name) else {
            throw UsageError("no kind of grant given; expected \(kinds)")
        }
        guard operands.count == (isCheck ? 1 : 0) else {
            throw UsageError(isCheck ? "expected one grant, @FILE or -" : "expected options only behind \(name)")
        }
        var single: [String: String] = [:]
        for option in Self.groups.flatMap(\.options) where !["acl", "method"].contains(option.name) {
            single[option.name] = try given.one(option.name)
        }
        guard (single["key-file"] == nil) != (single["key-env"] == nil) else {
            throw UsageError("expected one of --key-file and --key-env")
        }
        (self.kind, grant, self.given, self.single) = (kind, operands.first, given, single)
        now = try TimeOptions.time("at", given) ?? .now
        (starts, expires) = (try TimeOptions.time("starts", given), try TimeOptions.time("expires", given))
        guard expires == nil || single["validity"] == nil else {
            throw UsageError("--expires and --validity are given; expected one of them")
        }
        validity = try given.number("validity", in: 1...GrantPeriod.longestSeconds) ?? 3600
        form = try Self.word("form", single["form"] ?? "query", GrantForm.allCases)
        let digests = GrantSettings.digests(kind)
        digest = single["digest"] ?? "sha256"
        guard digests.contains(digest) else {
            throw UsageError("--digest is '\(digest)'; expected \(digests.joined(separator: ", "))")
        }
    }

    private static func word<Value: RawRepresentable>(
        _ option: String, _ text: String, _ all: [Value]
    ) throws(UsageError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw UsageError("--\(option) is '\(text)'; expected \(all.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// The value of an option that is given once.
    subscript(option: String) -> String? { single[option] }

    func all(_ option: String) -> [String] { given.all(option) }

    func has(_ option: String) -> Bool { given.has(option) }

    func period() throws(GrantProblem) -> GrantPeriod {
        let begin = starts.map { $0.milliseconds / 1000 }
        if let expires { return try GrantPeriod(from: begin, to: expires.milliseconds / 1000) }
        return try GrantPeriod(from: begin, to: GrantPeriod(from: starts ?? now, seconds: validity).end)
    }
}
