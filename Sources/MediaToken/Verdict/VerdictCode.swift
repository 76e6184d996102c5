/// The code of a verdict: those of Adobe's Java library, and the ones that it lacks.
///
/// Names and numbers are stable: new ones may be added, but none is renamed or renumbered.
public enum VerdictCode: String, Sendable, CaseIterable {
    /// Every check passed, and this was the token's single use.
    case validToken = "VALID_TOKEN"
    /// The input is not a media token; that includes AuthN and AuthZ tokens.
    case invalidTokenFormat = "INVALID_TOKEN_FORMAT"
    /// No loaded key verifies the signature.
    case invalidSignature = "INVALID_SIGNATURE"
    /// The token was issued in the future, beyond the clock skew allowed.
    case tokenNotYetValid = "TOKEN_NOT_YET_VALID"
    /// The token has expired, and the clock skew allowed has passed too.
    case tokenExpired = "TOKEN_EXPIRED"
    /// The token was signed for another requestor.
    case invalidRequestorID = "INVALID_REQUESTOR_ID"
    /// The token was signed for another resource.
    case invalidResourceID = "INVALID_RESOURCE_ID"
    /// The token's MVPD or proxy MVPD is not on the requestor's allow-list.
    case invalidMVPDID = "INVALID_MVPD_ID"
    /// The token was used before.
    case tokenAlreadyUsed = "TOKEN_ALREADY_USED"
    /// The token was issued before the replay store's records begin, so an earlier use cannot be ruled out.
    case tokenPredatesStore = "TOKEN_PREDATES_STORE"
    /// No verdict was possible: the token must be rejected.
    case errorUnknown = "ERROR_UNKNOWN"

    /// The stable number.
    public var number: Int {
        switch self {
        case .validToken: 0
        case .invalidTokenFormat: 1
        case .invalidSignature: 2
        case .tokenNotYetValid: 3
        case .tokenExpired: 4
        case .invalidRequestorID: 5
        case .invalidResourceID: 6
        case .invalidMVPDID: 7
        case .tokenAlreadyUsed: 8
        case .tokenPredatesStore: 9
        case .errorUnknown: 10
        }
    }
}

/// The checks of a token, in the order in which they are made. A media token must pass all but `device`, which only an
/// inspection makes.
public enum Check: String, Sendable, CaseIterable {
    /// The envelope and the signed XML are those of a media token.
    case format
    /// A loaded verification key verifies the signature.
    case signature
    /// The time of the check lies within the token's time window, give or take the clock skew.
    case window
    /// The token was issued to an expected requestor.
    case requestor
    /// The token was issued for an expected resource.
    case resource
    /// The token's MVPD, and its proxy MVPD if it has one, are on the requestor's allow-list.
    case mvpd
    /// The replay store has no earlier use of the token.
    case replay
    /// An AuthN or AuthZ token is bound to the expected device. A media token names no device.
    case device
}
