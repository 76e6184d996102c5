internal import TextEncodings
internal import TokenCrypto

extension CloudFrontGrant {
    /// Checks the query of a signed URL, or signed cookies, as CloudFront would. URLs are compared as written, without
    /// decoding.
    ///
    /// - Parameters:
    ///   - query: The fields of the grant as a query, or as cookies.
    ///   - question: The request that the grant is checked for. Its URL is the one that was signed, without the fields
    ///     that signing added.
    public func check(_ query: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let fields = QueryFields(query)
        func field(_ name: String) -> String? { fields[name] ?? fields["CloudFront-" + name] }
        guard let signature = field("Signature"), let pair = field("Key-Pair-Id"),
            let digest = Self.digest(field("Hash-Algorithm")),
            let (policy, end) = try policy(field("Policy"), expires: field("Expires"), question)
        else {
            return [
                GrantCheck(
                    .format, false,
                    "expected Expires or Policy, Signature and Key-Pair-Id, and maybe Hash-Algorithm, each once")
            ]
        }
        guard let policy else {
            return [
                GrantCheck(.format, true, "a canned policy, which is not in it"),
                GrantCheck(.key, nil, "unknown: give the URL that it is for"),
            ] + [end.map { question.end($0, isInclusive: false) }].compactMap(\.self)
        }
        let isOurs = pair.hasSameBytes(as: keyPairID)
        let isSigned = try verifies(signature, over: policy, digest)
        let signer =
            "\(scheme) with \(digest.rawValue), key pair \(printable(pair))" + (isOurs ? "" : "; expected \(keyPairID)")
        return [
            GrantCheck(.format, true, "policy \(printable(policy, limit: 1024))"),
            GrantCheck(
                .key, isOurs && isSigned,
                signer + (isSigned ? "" : "; signed with another key or digest, or for another policy or URL")),
        ] + Self.conditions(of: policy, question)
    }

    /// The digest with this name, SHA-1 if there is no name; `nil` if CloudFront does not know the name.
    static func digest(_ name: String?) -> Digest? {
        guard let name else { return .sha1 }
        return [("SHA256", Digest.sha256), ("SHA1", .sha1)].first { $0.0.hasSameBytes(as: name) }?.1
    }

    /// The policy in the grant, or the canned policy for the grant's expiry and the question's URL. Its text is `nil`
    /// if the canned policy is needed but the URL is not known. The result is `nil` if the policy is invalid
    /// or, in a grant without a policy, the expiry is.
    private func policy(
        _ letters: String?, expires: String?, _ question: GrantQuestion
    ) throws(GrantError) -> (text: String?, end: Int64?)? {
        if let letters {
            let bytes = try? Base64.decode(Array(letters.utf8)[...], alphabet: .cloudFront, padding: .required)
            return bytes.flatMap { String(validating: $0, as: UTF8.self) }.map { ($0, nil) }
        }
        guard let end = expires.flatMap(\.plainNumber) else { return nil }
        guard let url = question.url else { return (nil, end) }
        guard let period = try? GrantPeriod(to: end) else { return nil }
        // CloudFront builds the canned policy from the request, and that policy contains no address.
        var canned = self
        canned.ip = nil
        return (try canned.policy(for: url, period), end)
    }

    /// Checks a policy's times, address and resource. A policy in another form fails.
    static func conditions(of policy: String, _ question: GrantQuestion) -> [GrantCheck] {
        guard let policy = CloudFrontPolicy(policy) else {
            return [
                GrantCheck(
                    .scope, false,
                    "its policy is in another form; expected one Statement of Resource and Condition, with DateLessThan, and "
                        + "DateGreaterThan and IpAddress at the most")
            ]
        }
        let isPattern = policy.resource.utf8.contains { "*?".utf8.contains($0) }
        let isSame = question.url.map { url in
            isPattern ? Wildcards.match(url, policy.resource) : url.hasSameBytes(as: policy.resource)
        }
        return [
            question.begin(policy.begin), question.end(policy.end, isInclusive: false), question.ip(policy.ip),
            GrantCheck(.scope, isSame, "for \(printable(policy.resource))"),
        ].compactMap(\.self)
    }
}
