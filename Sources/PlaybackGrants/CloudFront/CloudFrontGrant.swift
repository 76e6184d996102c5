package import Basics
internal import Settings
internal import TokenCrypto

/// Makes and checks Amazon CloudFront's signed URLs and signed cookies (Amazon CloudFront Developer Guide, "Serve
/// private content").
public struct CloudFrontGrant: Sendable {
    /// The digest algorithm of the signature.
    public enum Digest: String, Sendable, CaseIterable {
        /// SHA-256, which the grant names as `Hash-Algorithm=SHA256`; the default.
        case sha256
        /// SHA-1, which CloudFront assumes if the grant names no algorithm.
        case sha1
    }

    /// Signers refuse a later time (aws-cloudfront-sign and others, "due to the limits of UNIX time").
    static let timeLimit = TimeLimit(last: 2_147_483_647, owner: "CloudFront")

    private let key: SignatureKey
    let keyPairID: String
    /// The digest algorithm of the signature.
    public var digest = Digest.sha256
    /// The only client addresses that may use the grant, such as `192.0.2.0/24`. If set, the policy is a custom one.
    public var ip: String?

    /// Creates a maker and checker of grants for one key pair.
    ///
    /// - Parameters:
    ///   - pem: A private key in PEM, without a password: RSA, or ECDSA on the curve P-256. A public key, which
    ///     CloudFront has, suffices to check grants, and makes none.
    ///   - keyPairID: The ID that CloudFront gave to the public key.
    /// - Throws: ``GrantError`` for the field `key` or `key-pair-id`.
    public init(key pem: [UInt8], keyPairID: String) throws(GrantError) {
        do {
            key = try SignatureKey(pem: pem, orPublic: true)
        } catch {
            throw GrantError("key", "\(error)")
        }
        guard !keyPairID.isEmpty, keyPairID.utf8.allSatisfy(\.isLetterOrDigit) else {
            throw GrantError("key-pair-id", "is '\(printable(keyPairID))'; expected letters and digits")
        }
        self.keyPairID = keyPairID
    }

    /// Signs access to one URL, or to several if the URL contains a `*`.
    ///
    /// The policy is a canned one if it only limits one URL to an expiry. CloudFront rebuilds that policy from the
    /// request. Any other policy is a custom one, which is part of the grant.
    ///
    /// - Throws: ``GrantError`` for a field that cannot be part of a policy.
    public func grant(url: String, _ period: GrantPeriod) throws(GrantError) -> Grant {
        let policy = try policy(for: url, period)
        let signature = try sign(policy, digest)
        let isCustom = period.begin != nil || ip != nil || url.utf8.contains(UInt8(ascii: "*"))
        let first =
            isCustom
            ? ("Policy", Base64.encode(Array(policy.utf8), alphabet: .cloudFront)) : ("Expires", String(period.end))
        var parts = [first, ("Signature", signature), ("Key-Pair-Id", keyPairID)]
        // CloudFront assumes SHA-1 if the field is missing.
        if digest == .sha256 { parts.append(("Hash-Algorithm", "SHA256")) }
        return Grant(
            parts.map { Grant.Field(parameter: $0, cookie: "CloudFront-" + $0, value: $1) }, expires: period.expires)
    }

    /// The policy to sign, as JSON without spaces.
    public func policy(for url: String, _ period: GrantPeriod) throws(GrantError) -> String {
        try period.demand(Self.timeLimit)
        try demandAddress()
        return try Self.policy(for: url, from: period.begin, to: period.end, ip: ip)
    }

    static func policy(
        for url: String, from begin: Int64?, to end: Int64, ip: String?
    ) throws(GrantError) -> String {
        try demandSignable(url)
        var conditions: [String] = []
        // Amazon's guide has a single address with /32 too.
        let range = ip.map { $0.utf8.contains(UInt8(ascii: "/")) ? $0 : $0 + "/32" }
        if let range { conditions.append("\"IpAddress\":{\"AWS:SourceIp\":\"\(range)\"}") }
        conditions.append("\"DateLessThan\":{\"AWS:EpochTime\":\(end)}")
        if let begin { conditions.append("\"DateGreaterThan\":{\"AWS:EpochTime\":\(begin)}") }
        let condition = conditions.joined(separator: ",")
        return "{\"Statement\":[{\"Resource\":\"\(url)\",\"Condition\":{\(condition)}}]}"
    }

    private static let schemes: [StaticString] = ["https://", "http://", "http*://"]

    /// Throws if the URL cannot be part of a policy.
    static func demandSignable(_ url: String) throws(GrantError) {
        // Iterating over an array is several times as fast as iterating over a string.
        let bytes = Array(url.utf8)[...]
        guard schemes.contains(where: bytes.begins) else {
            throw GrantError("url", "is '\(printable(url))'; expected an absolute URL, from https:// or http:// on")
        }
        let odd = bytes.firstIndex {
            !(0x21...0x7E).contains($0) || "\"\\#".utf8.contains($0)
        }
        if let odd {
            let character = url.unicodeScalars[url.utf8.index(url.startIndex, offsetBy: odd)].shown
            throw GrantError("url", "is '\(printable(url))', with \(character); expected a URL, percent-encoded")
        }
    }

    /// Throws if the address cannot be part of a policy.
    private func demandAddress() throws(GrantError) {
        if let ip {
            guard IPNetwork(ip)?.isShort == true else {
                throw GrantError("ip", "is '\(printable(ip))'; expected an IPv4 address, or several as 192.0.2.0/24")
            }
        }
    }

    private func sign(_ policy: String, _ digest: Digest) throws(GrantError) -> String {
        guard key.isPrivate else {
            throw GrantError("key", "is a public key, which checks grants; expected the private key, which makes them")
        }
        do {
            return Base64.encode(try key.sign(Array(policy.utf8), digest.algorithm), alphabet: .cloudFront)
        } catch {
            throw GrantError("key", "cannot sign (\(error))")
        }
    }

    /// Whether a signature, in CloudFront's Base64, is one of the key over a policy.
    func verifies(_ signature: String, over policy: String, _ digest: Digest) throws(GrantError) -> Bool {
        let bytes = try? Base64.decode(Array(signature.utf8)[...], alphabet: .cloudFront, padding: .required)
        guard let bytes else { return false }
        do { return try key.verifies(bytes, over: Array(policy.utf8), digest.algorithm) } catch {
            throw GrantError("key", "cannot verify (\(error))")
        }
    }

    /// The key's scheme, for people.
    var scheme: String { key.scheme == .rsa ? "RSA" : "ECDSA" }
}

extension CloudFrontGrant.Digest {
    fileprivate var algorithm: DigestAlgorithm { self == .sha1 ? .sha1 : .sha256 }
}

extension CloudFrontGrant: GrantScheme {
    package static let kind = GrantKind(
        "cloudfront", "signed URL or cookies; --url, --key-pair-id, and a PEM private key", settings,
        needsOrigins: true,
        contents: contents
    ) { (values) throws(GrantError) in try CloudFrontGrant(values) }

    private static let settings: [GrantSetting] = [
        .text("key-pair-id", "ID", .key, "ID of the public key there", example: "K2JCJMDEHXQW5F").required,
        .text("url", "URL", .scope, "one URL; * in it for anything").only(in: .option),
        .ip,
        .starts,
        .word("digest", .form, "sha256 (default) or sha1", Digest.allCases.map(\.rawValue)),
    ]

    init(_ values: GrantValues) throws(GrantError) {
        let keyPairID = try values.required("key-pair-id", "the ID that CloudFront gave to the public key")
        try self.init(key: values.key, keyPairID: keyPairID)
        digest = values["digest"].flatMap(Digest.init) ?? digest
        ip = values["ip"]
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        try grant(url: values.required("url", "--url for cloudfront"), period)
    }
}

extension CloudFrontGrant {
    private static func contents(of grant: String) -> GrantContents? {
        // The shortest signature is one of ECDSA, in DER.
        guard let fields = try? CloudFrontFields(grant), !fields.pair.isEmpty,
            fields.pair.utf8.allSatisfy(\.isLetterOrDigit),
            let signature = try? Base64.decode(
                Array(fields.signature.utf8)[...], alphabet: .cloudFront, padding: .required), signature.count >= 64
        else { return nil }
        let rest =
            [(name: "Signature", text: fields.signature), (name: "Key-Pair-Id", text: fields.pair)]
            + (fields.algorithm.map { [(name: "Hash-Algorithm", text: $0)] } ?? [])
        let checks: @Sendable (GrantQuestion) -> [GrantCheck] = { question in
            let form = fields.form("", question)
            return (form.isPassed == true ? [] : [form]) + fields.conditions(question)
        }
        switch fields.limits {
        case .custom(let policy):
            let document = try? StrictJSON.readObject(Array(policy.utf8)[...])
            guard document?.members["Statement"] != nil else { return nil }
            let known = try? CloudFrontPolicy(policy)
            return GrantContents(
                "CloudFront signed URL or cookies, with a custom policy", [(name: "Policy", text: policy)] + rest,
                begin: known?.begin, end: known?.end, checks: checks)
        case .canned(let end):
            return GrantContents(
                "CloudFront signed URL or cookies, with a canned policy",
                [(name: "Expires", text: end.secondsWithDate)] + rest, end: end, checks: checks)
        }
    }
}
