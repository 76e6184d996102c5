public import Basics
internal import ClaimsStage
internal import EnvelopeStage
internal import PolicyStage
public import SignatureStage

/// Why a token was rejected: a code for programs, and a line for the person who has to find the cause.
///
/// Its texts never contain the token, the signature or the viewer's session GUID.
public struct Rejection: Sendable, CustomStringConvertible {
    /// The enum is indirect, so that a verdict is no larger than a reference: most tokens are accepted.
    indirect enum Reason: Sendable {
        case envelope(EnvelopeError)
        case signature(SignatureError)
        case claims(ClaimsError)
        case policy(PolicyFailure, of: MediaTokenClaims?)
        case alreadyUsed(MediaTokenClaims)
        case predatesStore(MediaTokenClaims, since: Timestamp)
    }

    let reason: Reason
    /// The short ID of the token; `nil` if it could not be split into a signature and signed bytes. The bytes are
    /// whatever the client sent, unless the signature was verified.
    public internal(set) var id: TokenID?

    init(_ reason: Reason, of id: TokenID? = nil) {
        (self.reason, self.id) = (reason, id)
    }

    /// The code that a program sees.
    public var code: VerdictCode {
        switch reason {
        case .envelope, .claims: .invalidTokenFormat
        case .signature: .invalidSignature
        case .policy(let failure, _): failure.code
        case .alreadyUsed: .tokenAlreadyUsed
        case .predatesStore: .tokenPredatesStore
        }
    }

    /// The check that the token failed.
    public var check: Check { code.check ?? .format }

    /// One line that names the values that differ.
    public var message: String {
        switch reason {
        case .envelope(let error): error.message
        case .signature(let error): error.message
        case .claims(let error): error.message
        case .policy(let failure, _): failure.message
        case .alreadyUsed: "this token was used before; a media token opens one play"
        case .predatesStore(let claims, let since):
            "issued \(claims.issueTime), but the replay store has complete records only for tokens issued after "
                + "\(since.text(offset: claims.issueTime.offset)), so an earlier use cannot be ruled out"
        }
    }

    /// The claims, if the signature was verified. They are proven, but open nothing.
    package var authenticClaims: MediaTokenClaims? {
        switch reason {
        case .policy(_, let claims): claims
        case .alreadyUsed(let claims), .predatesStore(let claims, _): claims
        case .envelope, .signature, .claims: nil
        }
    }

    /// The time up to which the replay store rejects every token; `nil` unless the code is `TOKEN_PREDATES_STORE`.
    public var storeFence: Timestamp? {
        if case .predatesStore(_, let since) = reason { since } else { nil }
    }

    /// What to do with a token of another kind, or an answer of Adobe Pass that has none.
    package static let mediaTokenAdvice =
        "take the media token from decisions/authorize (REST v2), tokens/media (REST v1) or getAuthorization (SDK)"

    /// What to do if Adobe Pass denied authorization.
    package static let denialAdvice = "the viewer is not authorized: show Adobe's message, do not retry"

    /// One line that says what to do.
    public var advice: String {
        switch reason {
        case .envelope(.denied): Self.denialAdvice
        case .claims(.otherKind): Self.mediaTokenAdvice
        case .claims(let error) where error.lacksRequestor:
            "ask Adobe Pass for a new token; if a new one has no requestorID either, report it to Adobe"
        case .envelope, .claims: "pass the token on exactly as Adobe Pass returned it"
        case .signature(.keyOutsideValidity):
            "load the key that Adobe Pass signs with now; if the certificate should be valid, check this machine's clock"
        case .signature:
            "load the key of the environment that issued it (production and staging differ), and check that nothing "
                + "altered the token on its way"
        case .policy(let failure, _): failure.advice
        case .alreadyUsed: "fetch a new token for each play, and never cache one"
        case .predatesStore:
            "fetch a new token after that time; a new store accepts no token from before its beginning, clock skew included"
        }
    }

    /// The code and the message in one line.
    public var description: String { "\(code.rawValue): \(message)" }
}
