internal import MediaTokenGate

/// One option of `grant`, and the kinds that it is for. One that says what a grant opens must not be let pass where its kind
/// cannot say that: the grant would open more than was asked for.
struct GrantOption {
    let name: String
    let kinds: [GrantKind]
    let isRepeatable: Bool
    /// Whether `check` takes it for any kind, as what is asked of the grant.
    let isQuestion: Bool
    private let value: String?
    private let help: String

    private init(
        _ name: String, _ value: String?, _ help: String, for kinds: [GrantKind] = GrantKind.allCases,
        isRepeatable: Bool = false, isQuestion: Bool = false
    ) {
        (self.name, self.value, self.help, self.kinds) = (name, value, help, kinds)
        (self.isRepeatable, self.isQuestion) = (isRepeatable, isQuestion)
    }

    private static let sections: [(heading: String, options: [GrantOption])] = [
        (
            "Key:",
            [
                GrantOption("key-file", "FILE", "File with the key"),
                GrantOption("key-env", "NAME", "Environment variable with the key"),
                GrantOption(
                    "key-id", "ID", "tells whoever checks it which key that is (default media-token)", for: [.cat]),
                GrantOption("key-pair-id", "ID", "ID of the public key there", for: [.cloudfront]),
                GrantOption("salt-file", "FILE", "file with the salt", for: [.akamai]),
            ]
        ),
        (
            "What it opens:",
            [
                GrantOption(
                    "url", "URL", "one URL; cloudfront: * in it for anything", for: [.akamai, .cloudfront],
                    isQuestion: true),
                GrantOption(
                    "acl", "PATH", "path, with * for anything (repeatable)", for: [.akamai], isRepeatable: true),
                GrantOption(
                    "path", "PATH", "nginx' $uri; cat: exactly this path", for: [.secureLink, .cat], isQuestion: true),
                GrantOption("path-prefix", "PATH", "paths that begin with this", for: [.cat]),
                GrantOption("scheme", "NAME", "exactly this scheme", for: [.cat]),
                GrantOption("host", "NAME", "exactly this host", for: [.cat]),
                GrantOption("method", "NAME", "with this method (repeatable)", for: [.cat], isRepeatable: true),
                GrantOption(
                    "ip", "ADDRESS", "from this address alone", for: [.akamai, .cloudfront, .secureLink]),
            ]
        ),
        (
            "When:",
            [
                GrantOption("validity", "S", "Seconds from now on (default 3600)"),
                GrantOption("expires", "TIME", "Instead: until then"),
                GrantOption(
                    "starts", "TIME", "not before (default: at once)", for: [.akamai, .cloudfront, .cat]),
                GrantOption("at", "TIME", "Make or check as of TIME (default now)"),
            ]
        ),
        (
            "In which form:",
            [
                GrantOption("name", "NAME", "of the parameter, cookie or header (default hdnts)", for: [.akamai]),
                GrantOption(
                    "digest", "NAME", "sha256, sha1, and akamai: md5 (default sha256)", for: [.akamai, .cloudfront]),
                GrantOption("escape-early", nil, "percent-encode what is signed", for: [.akamai]),
                GrantOption("id", "TEXT", "session ID", for: [.akamai]),
                GrantOption("data", "TEXT", "payload", for: [.akamai]),
                GrantOption(
                    "expression", "TEXT",
                    "as in secure_link_md5, with $secret in it (default $secure_link_expires$uri $secret)",
                    for: [.secureLink]),
                GrantOption("issuer", "ID", "who makes it", for: [.cat]),
                GrantOption("cti", "HEX", "the token's own ID", for: [.cat]),
                GrantOption("renew", "KIND:S[:S]", "renewal as cookie, header, redirect or automatic", for: [.cat]),
            ]
        ),
        (
            "Output:",
            [
                GrantOption("form", "FORM", "query, url, cookie or header (default query)"),
                GrantOption("cookie-path", "PATH", "Path of cookies (default /)"),
                GrantOption("json", nil, "Print one JSON object"),
            ]
        ),
    ]

    static let all = sections.flatMap(\.options)

    /// As `--help` shows them: behind the kinds that an option is for, unless those are all.
    static let groups = sections.map { section in
        OptionGroup(
            heading: section.heading,
            options: section.options.map { option in
                let kinds = option.kinds.map(\.rawValue).joined(separator: ", ")
                let isForAll = option.kinds.count == GrantKind.allCases.count
                return CommandOption(option.name, option.value, isForAll ? option.help : "\(kinds): \(option.help)")
            })
    }
}
