internal import FoundationEssentials
internal import MediaToken
internal import TokenCrypto

extension CloudFrontGrant {
    /// Looks at the query of a signed URL, or at signed cookies, as CloudFront would.
    ///
    /// - Parameter question: its URL is the one that was signed, without what signing has added.
    public func check(_ query: String, _ question: GrantQuestion) throws(GrantProblem) -> [GrantCheck] {
        let fields = QueryFields(query)
        func field(_ name: String) -> String? { fields[name] ?? fields["CloudFront-" + name] }
        guard let signature = field("Signature"), let pair = field("Key-Pair-Id"),
            let (policy, end) = try policy(field("Policy"), field("Expires"), question)
        else {
            return [GrantCheck(.format, false, "expected Expires or Policy, Signature and Key-Pair-Id, each once")]
        }
        guard let policy else {
            return [
                GrantCheck(.format, true, "a canned policy, which is not in it"),
                GrantCheck(.key, nil, "not told: give the URL that it is for"),
            ] + [end.map { question.end($0, isInclusive: false) }].compactMap(\.self)
        }
        let digest: Digest = field("Hash-Algorithm").map { $0.hasSameBytes(as: "SHA256") } == true ? .sha256 : .sha1
        let isOurs = pair.hasSameBytes(as: keyPairID)
        // There is one signature of a policy (RFC 8017, 8.2).
        let isSigned = Array(try sign(policy, digest).utf8).isSame(inConstantTime: Array(signature.utf8))
        let signer =
            "RSA with \(digest.rawValue), key pair \(printable(pair))" + (isOurs ? "" : "; expected \(keyPairID)")
        return [
            GrantCheck(.format, true, "policy \(printable(policy, limit: 1024))"),
            GrantCheck(
                .key, isOurs && isSigned,
                signer + (isSigned ? "" : "; signed with another key or digest, or for another policy or URL")),
        ] + Self.conditions(of: policy, question)
    }

    /// The policy that is in it, or that its end and the URL make; `nil` within where the URL is not known, and without where
    /// there is neither.
    private func policy(
        _ letters: String?, _ expires: String?, _ question: GrantQuestion
    ) throws(GrantProblem) -> (text: String?, end: Int64?)? {
        if let letters {
            let text = Base64Spelling.cloudFront.bytes(of: letters).flatMap { String(validating: $0, as: UTF8.self) }
            return text.map { ($0, nil) }
        }
        guard let end = expires.flatMap(\.plainNumber) else { return nil }
        guard let url = question.url else { return (nil, end) }
        guard let period = try? GrantPeriod(to: end) else { return nil }
        return (try policy(for: url, period), end)
    }

    /// What a policy says of time and place, as far as it is in the form of ours.
    private static func conditions(of policy: String, _ question: GrantQuestion) -> [GrantCheck] {
        guard let document = try? JSONDecoder().decode(PolicyDocument.self, from: Data(policy.utf8)),
            document.statements.count == 1
        else {
            return [
                GrantCheck(
                    .scope, false, "its policy is in another form; expected one Statement with Resource and an end")
            ]
        }
        let statement = document.statements[0]
        let isPattern = statement.resource.utf8.contains { "*?".utf8.contains($0) }
        let isSame = question.url.map { url in
            isPattern ? Wildcards.match(url, statement.resource) : url.hasSameBytes(as: statement.resource)
        }
        return [
            question.begin(statement.condition.begin?.seconds),
            question.end(statement.condition.end.seconds, isInclusive: false),
            question.ip(statement.condition.ip?.address),
            GrantCheck(.scope, isSame, "for \(printable(statement.resource))"),
        ].compactMap(\.self)
    }
}

private struct PolicyDocument: Decodable {
    struct Statement: Decodable {
        let resource: String
        let condition: Condition

        enum CodingKeys: String, CodingKey {
            case resource = "Resource"
            case condition = "Condition"
        }
    }

    struct Condition: Decodable {
        let begin: Moment?
        let end: Moment
        let ip: Address?

        enum CodingKeys: String, CodingKey {
            case begin = "DateGreaterThan"
            case end = "DateLessThan"
            case ip = "IpAddress"
        }
    }

    struct Moment: Decodable {
        let seconds: Int64

        enum CodingKeys: String, CodingKey { case seconds = "AWS:EpochTime" }
    }

    struct Address: Decodable {
        let address: String

        enum CodingKeys: String, CodingKey { case address = "AWS:SourceIp" }
    }

    let statements: [Statement]

    enum CodingKeys: String, CodingKey { case statements = "Statement" }
}
