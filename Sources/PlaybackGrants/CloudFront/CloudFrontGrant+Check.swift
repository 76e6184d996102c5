internal import Basics
internal import StreamPaths
internal import TokenCrypto

extension CloudFrontGrant {
    /// Checks the query of a signed URL, or signed cookies, as CloudFront would. URLs are compared as written, without
    /// decoding.
    ///
    /// - Parameters:
    ///   - query: The fields of the grant as a query, or as cookies with `; ` between them.
    ///   - question: The request that the grant is checked for. Its URL is the one that was signed, without the fields
    ///     that signing added.
    public func check(_ query: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let fields: CloudFrontFields
        do throws(GrantError) { fields = try CloudFrontFields(query) } catch {
            return [GrantCheck(.format, false, error.reason)]
        }
        let policy: String
        switch (fields.limits, question.clearURL) {
        case (.custom(let text), _): policy = text
        // CloudFront builds the canned policy from the request, and that policy contains no address.
        case (.canned(let end), let url?): policy = try Self.policy(for: url, from: nil, to: end, ip: nil)
        case (.canned, nil):
            return [fields.form("a canned policy, which is not in it", question), question.unknownKey]
                + fields.conditions(question)
        }
        let isOurs = fields.pair.hasSameBytes(as: keyPairID)
        let isSigned = try verifies(fields.signature, over: policy, fields.digest)
        let signer =
            "\(scheme) with \(fields.digest.rawValue), key pair \(printable(fields.pair))"
            + (isOurs ? "" : "; expected \(keyPairID)")
        return [
            fields.form("policy \(printable(policy, limit: 1024))", question),
            GrantCheck(
                .key, isOurs && isSigned,
                signer + (isSigned ? "" : "; " + (try difference(of: fields, policy)))),
        ] + Self.conditions(of: policy, question)
    }

    /// Why the signature is not one of the key over the policy.
    private func difference(of fields: CloudFrontFields, _ policy: String) throws(GrantError) -> String {
        for other in Digest.allCases where try verifies(fields.signature, over: policy, other) {
            return "signed with \(other.rawValue), and Hash-Algorithm is \(fields.algorithm ?? "missing")"
        }
        return
            "its signature is not one of this key over \(printable(policy, limit: 1024)); compare the key with the pair's"
    }

    /// Checks a policy's times, address and resource. A policy in another form fails.
    static func conditions(of policy: String, _ question: GrantQuestion) -> [GrantCheck] {
        let read: CloudFrontPolicy
        do throws(GrantError) { read = try CloudFrontPolicy(policy) } catch {
            return [GrantCheck(.scope, false, "its policy \(error.reason)")]
        }
        let isPattern = read.resource.utf8.contains { "*?".utf8.contains($0) }
        let scope = question.scope(
            "for \(printable(read.resource))", unknown: "with characters that a client escapes before it sends them"
        ) { url in
            // Unreached: A URL of the command line beyond ASCII; the tests of checks have it.
            guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
            return isPattern ? Wildcards.match(url, read.resource) : url.hasSameBytes(as: read.resource)
        }
        return [
            question.begin(read.begin), question.end(read.end, isInclusive: false, timeLimit),
            question.ip(within: read.ip), scope,
        ].compactMap(\.self)
    }
}

/// The fields of a signed URL or of signed cookies.
struct CloudFrontFields: Sendable {
    /// What limits the grant: the expiry in seconds since 1970, or a policy of the grant itself.
    enum Limits: Sendable {
        case canned(end: Int64)
        case custom(String)
    }

    let signature, pair: String
    /// The name of the digest in the grant; `nil` if the grant has none.
    let algorithm: String?
    let digest: CloudFrontGrant.Digest
    let limits: Limits
    private let isEscapedAgain: Bool
    private let fields: QueryFields
    private let names: [String]

    /// - Throws: ``GrantError`` for the field `format`, with what is wrong.
    init(_ query: String) throws(GrantError) {
        let fields = QueryFields(query)
        var isEscapedAgain = false
        // CloudFront reads the names of its cookies in no query, and those of a query in no cookie.
        let prefix = fields.areCookies ? "CloudFront-" : ""
        self.fields = fields
        names = ["Signature", "Key-Pair-Id", "Hash-Algorithm", "Policy", "Expires"].map { prefix + $0 }
        func value(_ name: String) throws(GrantError) -> String {
            let sent = try fields.required(prefix + name)
            // Clients escape the tilde, with which signatures and policies may be written.
            let made = sent.unescaped() ?? sent
            isEscapedAgain = isEscapedAgain || made.utf8.count != sent.utf8.count
            return made
        }
        func has(_ name: String) -> Bool { fields.has(prefix + name) }
        (signature, pair) = (try value("Signature"), try value("Key-Pair-Id"))
        algorithm = has("Hash-Algorithm") ? try value("Hash-Algorithm") : nil
        digest = try Self.digest(algorithm)
        if has("Policy") {
            let letters = try value("Policy")
            let bytes = try? Base64.decode(Array(letters.utf8)[...], alphabet: .cloudFront, padding: .required)
            guard let policy = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                throw GrantError("format", "has a Policy that is no text in CloudFront's Base64 (- _ ~ for + = /)")
            }
            limits = .custom(policy)
        } else {
            guard has("Expires") else { throw GrantError("format", "has neither \(prefix)Expires nor \(prefix)Policy") }
            let text = try value("Expires")
            guard let end = text.plainNumber else {
                throw GrantError("format", "has Expires=\(printable(text, limit: 40)); expected seconds since 1970")
            }
            limits = .canned(end: end)
        }
        self.isEscapedAgain = isEscapedAgain
    }

    /// The digest with this name, SHA-1 if there is no name.
    private static func digest(_ name: String?) throws(GrantError) -> CloudFrontGrant.Digest {
        guard let name else { return .sha1 }
        let known = [("SHA256", CloudFrontGrant.Digest.sha256), ("SHA1", .sha1)]
        guard let digest = known.first(where: { $0.0.hasSameBytes(as: name) })?.1 else {
            throw GrantError(
                "format", "has Hash-Algorithm=\(printable(name, limit: 40)); expected SHA256, SHA1 or none")
        }
        return digest
    }

    /// The check of the form. Nobody knows whether CloudFront decodes the escapes of a signature.
    func form(_ detail: String, _ question: GrantQuestion) -> GrantCheck {
        let escaped = isEscapedAgain ? "was escaped again (%7E for ~), which CloudFront may decode or not" : nil
        let doubt = fields.doubt(about: names, in: question.url) ?? escaped
        return GrantCheck(.format, decided: doubt == nil ? true : nil, detail + (doubt.map { "; " + $0 } ?? ""))
    }

    /// The checks that need no key.
    func conditions(_ question: GrantQuestion) -> [GrantCheck] {
        switch limits {
        case .custom(let policy): CloudFrontGrant.conditions(of: policy, question)
        case .canned(let end): [question.end(end, isInclusive: false, CloudFrontGrant.timeLimit)]
        }
    }
}

extension CloudFrontGrant {
    /// Makes a route's signed URLs, or signed cookies for everything below its prefix. They are costly: a signature
    /// takes about as long as thirty verifications.
    package func maker(for route: GrantTarget, _ values: GrantValues) throws(GrantError) -> RouteGrantMaker {
        RouteGrantMaker(
            opensPrefix: route.delivery == .cookie, isCostly: true,
            subject: { (url) throws(GrantError) in
                let signed = try Self.signedURL(url, on: route)
                try Self.demandSignable(signed)
                return signed
            }
        ) { (url, period, _, _) throws(GrantError) in try grant(url: Self.signedURL(url, on: route), period) }
    }

    /// The URL itself, or, for cookies, a pattern for all URLs below the prefix.
    private static func signedURL(_ url: StreamURL, on route: GrantTarget) throws(GrantError) -> String {
        // Unreached: CloudFront's routes must have origins, and a URL on none of them is refused before.
        guard let origin = url.origin else {
            throw GrantError("url", "is '\(printable(url.text))'; expected an absolute URL, which CloudFront signs")
        }
        // Unreached: A configured delivery by cookies; CloudFront's route of the properties has the query.
        guard route.delivery == .query else {
            var pattern = ByteWriter(capacity: 256)
            origin.write(to: &pattern)
            pattern.write(text: route.prefix)
            pattern.write("*")
            return pattern.text
        }
        // In a policy, `?` matches any character, so the grant would also open other files, including those of other
        // routes.
        guard !url.hasQuery else {
            throw GrantError("url", "is '\(printable(url.text))'; expected one without a query, for CloudFront")
        }
        return url.text
    }
}
