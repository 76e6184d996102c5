/// What was decided, in the vocabulary that integrators know from Adobe's Java library, with what it lacked added.
///
/// Names and numbers are stable: new ones are added, none is renamed or renumbered.
public enum VerdictStatus: String, Sendable, CaseIterable {
    /// Every check passed, and this was the token's one use.
    case validToken = "VALID_TOKEN"
    /// Not a media token; AuthN and AuthZ tokens included.
    case invalidTokenFormat = "INVALID_TOKEN_FORMAT"
    /// No loaded key verifies it.
    case invalidSignature = "INVALID_SIGNATURE"
    /// Issued in the future, beyond the skew.
    case tokenNotYetValid = "TOKEN_NOT_YET_VALID"
    /// Its life, and the skew, have passed.
    case tokenExpired = "TOKEN_EXPIRED"
    /// Signed for another requestor.
    case invalidRequestorID = "INVALID_REQUESTOR_ID"
    /// Signed for another resource.
    case invalidResourceID = "INVALID_RESOURCE_ID"
    /// MVPD or proxy MVPD not on the requestor's allow-list.
    case invalidMVPDID = "INVALID_MVPD_ID"
    /// Claimed before.
    case tokenAlreadyUsed = "TOKEN_ALREADY_USED"
    /// Issued before the replay store began to remember, so it cannot be shown unused.
    case tokenPredatesStore = "TOKEN_PREDATES_STORE"
    /// It could not be told. Refuse.
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

/// The checks that a media token must pass, in the order in which they are made; `device` is one that an inspection of
/// the other kinds can be asked for.
public enum Check: String, Sendable, CaseIterable {
    case format, signature, window, requestor, resource, mvpd, replay, device
}
