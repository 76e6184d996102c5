internal import Basics
internal import TokenCrypto

/// Makes and checks Common Access Tokens (CTA-5007), grants that any CDN can check and that the gate also accepts.
public struct CommonAccessToken: Sendable {
    /// The name of the header and of the cookie that carry the token.
    public static let name = "CTA-Common-Access-Token"
    /// The maximum length of a token in bytes, which is what a cookie can hold (RFC 6265, 6.1).
    public static let sizeLimit = 4096
    /// The minimum length of a key in bytes (RFC 9053, 3.1).
    public static let shortestKey = 32

    /// The grant key that makes tokens.
    private let key: Key
    /// Every grant key that checks tokens, also ``key``.
    private let keys: [Key]

    /// Creates a maker and checker of tokens for one grant key.
    ///
    /// - Parameters:
    ///   - key: The secret key, of 32 bytes or more.
    ///   - keyID: The ID that names the key in each token. A token that names another one is rejected.
    public init(key: GrantSecret, keyID: String) throws(GrantError) {
        self.key = try Key(key, keyID)
        keys = [self.key]
    }

    /// Creates a maker and checker of tokens for several grant keys, so that a new key can replace an old one while
    /// tokens of the old one are still in use.
    ///
    /// - Parameter keys: The secret keys, of 32 bytes or more, and the IDs that name them in tokens; no two are the
    ///   same. The first key makes all tokens. Each key checks the tokens that name its ID, and no others.
    public init(keys: [(key: GrantSecret, keyID: String)]) throws(GrantError) {
        for (position, other) in keys.enumerated() {
            // Unreached: Refuses configured key IDs when the gate starts; the properties' differ.
            guard !keys[..<position].contains(where: { $0.keyID.hasSameBytes(as: other.keyID) }) else {
                throw GrantError(
                    "key-id", "has '\(printable(other.keyID))' twice; expected an ID of its own for each key")
            }
            // Unreached: Refuses configured keys when the gate starts; the properties' keys differ.
            guard !keys[..<position].contains(where: { $0.key.bytes == other.key.bytes }) else {
                throw GrantError("key", "hold one key under two IDs; expected different keys")
            }
        }
        self.keys = try keys.map { (key, keyID) throws(GrantError) in try Key(key, keyID) }
        // Unreached: Refuses an empty list of keys; the settings have one key at least.
        guard let first = self.keys.first else { throw GrantError("key", "is missing; expected at least one") }
        key = first
    }

    /// A grant key as tokens are made and checked with it.
    private struct Key: Sendable {
        let secret: GrantSecret
        let mac: HMACKey
        /// The ID that names the key in each token.
        let name: String
        /// The bytes of ``name``.
        let identifier: [UInt8]
        /// The bytes before the claims in each token. They include the ID.
        let head: [UInt8]

        init(_ secret: GrantSecret, _ keyID: String) throws(GrantError) {
            // Unreached: Refuses a configured key when the gate starts; the properties' keys have 32 bytes.
            guard secret.bytes.count >= shortestKey else {
                throw GrantError("key", "has \(secret.bytes.count) bytes; expected at least \(shortestKey)")
            }
            (self.secret, name, identifier) = (secret, keyID, Array(keyID.utf8))
            // Unreached: Refuses a configured key ID when the gate starts; the properties' are short.
            guard (1...64).contains(identifier.count) else {
                throw GrantError("key-id", "has \(identifier.count) bytes; expected 1 to 64")
            }
            (mac, head) = (try secret.mac(.sha256), COSEMac0.head(keyIdentifier: identifier))
        }
    }

    /// Makes a token of these claims, which must have an expiry.
    public func grant(_ claims: CATClaims) throws(GrantError) -> Grant {
        guard let end = claims.expires else { throw GrantError("expires", "is missing; expected an end") }
        guard claims.renewal?.isWhole ?? true else {
            throw GrantError("renew", "has parts that are not understood here; expected a kind, seconds and a deadline")
        }
        return try grant(claims.payload, try GrantPeriod(from: claims.notBefore, to: end))
    }

    /// Makes a token of these shared claims.
    ///
    /// - Parameters:
    ///   - terms: The shared claims.
    ///   - period: The validity period of this token.
    ///   - issuedAt: The issue time in seconds since 1970.
    ///   - identifier: The token's own ID; `nil` to omit it.
    public func grant(
        _ terms: CATTerms, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        let payload = terms.payload(
            expires: period.end, notBefore: period.begin, issuedAt: issuedAt, identifier: identifier)
        return try grant(payload, period)
    }

    private func grant(_ payload: [UInt8], _ period: GrantPeriod) throws(GrantError) -> Grant {
        let message = try COSEMac0.bytes(head: key.head, payload: payload, key: key.mac)
        let size = (message.count * 4 + 2) / 3
        // Unreached: Makes no grant that is too long; what was read from one that is not fits into another.
        guard size <= Self.sizeLimit else {
            throw GrantError("claims", "make a token of \(size) bytes; expected at most \(Self.sizeLimit)")
        }
        return Grant(Self.name, Base64.encode(message, alphabet: .urlSafe, isPadded: false), expires: period.expires)
    }

    /// The claims of a token that a holder of the key that it names has made. The claims themselves are not checked, so
    /// the token may have expired.
    ///
    /// - Throws: ``CATError`` if no holder of that key has made the token, if the key is none of those given, or if the
    ///   token has a claim that is not understood.
    public func authenticClaims(of token: String) throws(CATError) -> CATClaims { try authentic(token).claims }

    /// The claims of a token, as ``authenticClaims(of:)`` returns them, and the ID of the key that has made it.
    package func authentic(_ token: String) throws(CATError) -> (claims: CATClaims, keyID: String) {
        guard token.utf8.count <= Self.sizeLimit else { throw .malformed("it is longer than \(Self.sizeLimit) bytes") }
        guard let bytes = try? Base64.decode(Array(token.utf8)[...], alphabet: .urlSafe, padding: .forbidden) else {
            throw .malformed("it is not valid Base64 for URLs without padding")
        }
        let message = try COSEMac0(bytes)
        guard let key = keys.first(where: { $0.identifier == message.keyIdentifier }) else {
            throw .unknownKey(String(decoding: message.keyIdentifier, as: UTF8.self))
        }
        try message.demand(head: key.head, in: bytes)
        do {
            guard try message.isAuthentic(key.mac) else { throw CATError.otherKey }
        } catch let refusal as CATError {
            throw refusal
        } catch {
            // Unreached: libcrypto fails to compute an HMAC.
            throw .cannotTell("\(error)")
        }
        let value: CBORValue
        do throws(CBORError) { value = try CBORReader.value(of: message.payload) } catch {
            throw .malformed("its claims have \(error), which is not read here")
        }
        return (try CATClaims(value), key.name)
    }

    // Unreached: Compares the keys of a reload; the properties load them once.
    /// The IDs of the keys whose tokens `other` rejects, since it has no key of that ID, or another one.
    package func keyIDs(rejectedBy other: CommonAccessToken) -> [String] {
        keys.filter { key in
            !other.keys.contains { $0.identifier == key.identifier && $0.secret.bytes == key.secret.bytes }
        }.map(\.name)
    }
}

/// The reason why a Common Access Token is rejected.
public enum CATError: Error, Equatable, Sendable {
    /// The text is not a Common Access Token in the form that is understood here.
    case malformed(String)
    /// The MAC does not match: the token was made with another key than the one that it names, or was changed.
    case otherKey
    /// The token names a key with this ID, which is none of the given ones.
    case unknownKey(String)
    /// The claim with this label is not understood, or not in its form, so it may be a restriction that would be
    /// ignored.
    case unknownClaim(Int64)
    /// The token has no `exp`.
    case noEnd
    /// The token has expired. Both times are in seconds since 1970.
    case expired(at: Int64, now: Int64)
    /// The token's start is in the future. Both times are in seconds since 1970.
    case notYetValid(from: Int64, now: Int64)
    /// The token names this issuer, or none, instead of the expected one.
    case otherIssuer(String?)
    /// The token does not cover the method or the URL.
    case outOfScope(String)
    /// No decision is possible, because libcrypto failed. The token is rejected.
    case cannotTell(String)
}

extension CATError: CustomStringConvertible {
    /// One line that never contains a token or a key.
    public var description: String {
        switch self {
        case .malformed(let reason): "not a Common Access Token: \(reason)"
        case .otherKey: "the MAC is not that of the key which the token names; compare the key with the maker's"
        case .unknownKey(let name): "names the key '\(printable(name))'; no configured key has this ID"
        case .unknownClaim(let label):
            CATLabel.names[label].map { "claim \(label) (\($0)) is not understood in this form; it may restrict more" }
                ?? "claim \(label) is not understood here; it may restrict more"
        case .noEnd: "it has no exp; expected an end"
        case .expired(let end, let now): "expired at \(end), and it is \(now) now (seconds since 1970)"
        case .notYetValid(let begin, let now): "holds from \(begin) on, and it is \(now) now (seconds since 1970)"
        case .otherIssuer(let issuer):
            "issued by \(issuer.map { "'\(printable($0))'" } ?? "nobody"); expected the configured issuer"
        case .outOfScope(let what): what
        // Unreached: libcrypto fails to compute an HMAC.
        case .cannotTell(let why): "undecided: \(why)"
        }
    }
}
