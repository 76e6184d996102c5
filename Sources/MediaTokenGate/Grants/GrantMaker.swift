package import PlaybackGrants

/// Makes grants of one kind.
package enum GrantMaker: Sendable {
    case akamai(AkamaiToken)
    case cloudFront(CloudFrontGrant)
    case secureLink(SecureLink)
    case cat(CommonAccessToken)

    /// Reads the key.
    package init(_ settings: GrantSettings) throws(GrantProblem) {
        let key = try settings.key()
        switch settings.kind {
        case .akamai:
            let secret = try GrantSecret(hexadecimal: String(decoding: key, as: UTF8.self))
            var maker = try AkamaiToken(key: secret, digest: .init(rawValue: settings.digest) ?? .sha256)
            maker.name = settings.name ?? maker.name
            maker.salt = try settings.salt()
            (maker.ip, maker.id, maker.data) = (settings.ip, settings.id, settings.data)
            maker.escapesEarly = settings.escapesEarly
            self = .akamai(maker)
        case .cloudfront:
            guard let keyPairID = settings.keyPairID else {
                throw GrantProblem("key-pair-id", "is missing; expected the ID that CloudFront gave to the public key")
            }
            var maker = try CloudFrontGrant(key: key, keyPairID: keyPairID)
            maker.digest = CloudFrontGrant.Digest(rawValue: settings.digest) ?? maker.digest
            maker.ip = settings.ip
            self = .cloudFront(maker)
        case .secureLink:
            let expression = settings.expression ?? SecureLink.usualExpression
            var maker = try SecureLink(secret: GrantSecret(key), expression: expression)
            maker.ip = settings.ip
            self = .secureLink(maker)
        case .cat:
            let secret = try GrantSecret(hexadecimal: String(decoding: key, as: UTF8.self))
            self = .cat(try CommonAccessToken(key: secret, keyID: settings.keyID ?? "media-token"))
        }
    }
}
