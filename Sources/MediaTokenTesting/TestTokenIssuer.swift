internal import Basics
public import MediaToken
internal import TokenCrypto

/// Issues media tokens for tests, signed by a key that is made with the issuer and kept in memory alone.
///
/// A token has the elements of Adobe's, in their order and with their escapes. It is accepted by no verifier but one
/// that has the issuer's ``keys``.
public struct TestTokenIssuer: Sendable {
    /// The public key that verifies the issuer's tokens, for `MediaTokenVerifier`.
    public let keys: KeyRing
    private let signer: TokenSigner
    /// The signer of forged tokens, whose key is in no ring.
    private let stranger: TokenSigner

    /// Creates an issuer with a new key pair of 2048 bits, which takes about a tenth of a second.
    ///
    /// - Throws: ``TestTokenError`` if libcrypto cannot make a key.
    public init() throws(TestTokenError) {
        do {
            let (key, other) = (try RSASigningKey.generate(bits: 2048), try RSASigningKey.generate(bits: 2048))
            keys = try KeyRing(loading: [], unsafelyTrusting: key.publicKey, requirements: KeyRequirements())
            (signer, stranger) = (TokenSigner(key: key), TokenSigner(key: other))
        } catch {
            throw TestTokenError(description: "no key can be made: \(error)")
        }
    }

    /// Issues a token. Two calls never return the same token, since each token has its own session GUID.
    ///
    /// - Parameters:
    ///   - requestor: the programmer that the token is for.
    ///   - resource: the resource that the token is for: an ID, or MRSS.
    ///   - mvpd: the viewer's TV provider.
    ///   - proxyMVPD: the proxy in front of the provider; `nil` if there is none.
    ///   - issued: the issue time, of which a token has whole seconds.
    ///   - ttl: the lifetime; `nil` for a token without one. Adobe's tokens have 420 seconds.
    ///   - fault: what is wrong with the token; `nil` if nothing is.
    /// - Returns: the token in clear text, as a backend gets it after the Base64 of Adobe's response is decoded.
    /// - Throws: ``TestTokenError`` if libcrypto cannot sign.
    public func token(
        requestor: String = "MML", resource: String = "TNT", mvpd: String = "TempPass", proxyMVPD: String? = nil,
        issued: Timestamp = .now, ttl: Duration? = .seconds(420), fault: TokenFault? = nil
    ) throws(TestTokenError) -> String {
        var recipe = TokenRecipe(issued: TokenDate(issued))
        recipe.sessionGUID = TokenRecipe.freshSessionGUID()
        (recipe.requestor, recipe.resource, recipe.mvpd) = (requestor, resource, mvpd)
        recipe.proxyMVPD = proxyMVPD
        if let ttl { recipe.timeToLive = Int64(ttl / .milliseconds(1)) } else { recipe.omitted = [.ttl] }
        if fault == .authorization { recipe.kind = .authorization }
        do {
            let token = try (fault == .foreignKey ? stranger : signer).sign(recipe.payload)
            return fault?.damage(token) ?? token
        } catch {
            throw TestTokenError(description: "the token cannot be signed: \(error)")
        }
    }
}

/// What can be wrong with a token.
public enum TokenFault: CaseIterable, Sendable {
    /// The end is missing, as if a log or a field of a database had cut it.
    case cut
    /// A signed field was changed after the token was signed.
    case changed
    /// A key that no verifier trusts has signed the token.
    case foreignKey
    /// A space is in the signature, as if a form had been decoded twice and a plus sign been lost.
    case decodedTwice
    /// It is an AuthZ token of Adobe's SDK, and not a media token.
    case authorization

    /// The code by which a verifier rejects such a token.
    public var code: VerdictCode {
        switch self {
        case .cut, .changed, .foreignKey: .invalidSignature
        case .decodedTwice, .authorization: .invalidTokenFormat
        }
    }

    fileprivate func damage(_ token: String) -> String {
        switch self {
        case .cut: String(token.dropLast(12))
        case .changed: token.replacing("</mvpdId>", with: "2</mvpdId>")
        case .decodedTwice: token.replacing("<signatureInfo>", with: "<signatureInfo> ", maxReplacements: 1)
        case .foreignKey, .authorization: token
        }
    }
}

/// Why a test has no token: one line.
public struct TestTokenError: Error, CustomStringConvertible {
    /// What failed, and what libcrypto says of it.
    public let description: String
}

/// A clock that stands still until a test moves it.
///
/// Pass its ``now`` to the verifier and to the issuer, and no test has to wait until a token expires.
public final class TestClock: Sendable {
    private let time: Guarded<Timestamp>

    /// Creates a clock that shows `time`.
    public init(at time: Timestamp = .now) { self.time = Guarded(time) }

    /// The time that the clock shows.
    public var now: Timestamp { time.withLock { $0 } }

    /// Moves the clock, back if the duration is negative.
    public func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}
