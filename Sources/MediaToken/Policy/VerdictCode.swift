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
    public var number: Int { row.number }
    /// Whether a token with this verdict is used up.
    public var consumed: Consumption { row.consumed }
    /// What has to be done so that the stream plays; `nil` if the token was accepted.
    public var action: Action? { row.action }
    /// The check that a token with this verdict failed; `nil` if it failed none, or if there is no verdict.
    package var check: Check? { row.check }
    /// The HTTP status of the gate's answer, the same for backends and proxies.
    package var httpStatus: Int { row.status }
    /// The code in words.
    package var title: String { row.title }

    private typealias Row = (
        number: Int, check: Check?, status: Int, consumed: Consumption, action: Action?, title: String
    )

    /// All that a code says, in one place.
    private var row: Row {
        switch self {
        case .validToken: (0, nil, 200, .yes, nil, "Valid token")
        case .invalidTokenFormat: (1, .format, 401, .no, .fixRequest, "Not a media token")
        case .invalidSignature: (2, .signature, 401, .no, .operator, "No loaded key verifies the signature")
        case .tokenNotYetValid: (3, .window, 401, .no, .operator, "Issued in the future")
        case .tokenExpired: (4, .window, 401, .no, .newToken, "Expired")
        case .invalidRequestorID: (5, .requestor, 403, .no, .fixRequest, "Signed for another requestor")
        case .invalidResourceID: (6, .resource, 403, .no, .fixRequest, "Signed for another resource")
        // Unreached: The properties bring about no such verdict; tests do.
        case .invalidMVPDID: (7, .mvpd, 403, .no, .operator, "From an MVPD that is not allowed")
        // Unreached: The properties bring about no such verdict; tests do.
        case .tokenAlreadyUsed: (8, .replay, 403, .yes, .newToken, "Used before")
        // Unreached: The properties bring about no such verdict; tests do.
        case .tokenPredatesStore:
            (9, .replay, 403, .no, .wait, "Issued before the replay store began to remember")
        // Unreached: The properties bring about no such verdict; tests do.
        case .errorUnknown: (10, nil, 503, .unknown, .wait, "No decision possible")
        }
    }
}

/// Whether a token is used up, so that no later call accepts it.
public enum Consumption: String, Sendable {
    /// The token is used up, by this call or by an earlier one.
    case yes
    /// The token can still be accepted, for another request or at another time.
    case no
    /// The replay store may have recorded the token before it failed.
    case unknown
}

/// What has to be done after a refusal so that the stream plays, and by whom.
public enum Action: String, Sendable, CaseIterable {
    /// The app asks Adobe Pass for a new media token, and plays with that.
    case newToken = "new-token"
    /// The viewer logs in again.
    case newLogin = "new-login"
    /// The developer of the app or of the back end repairs what is sent.
    case fixRequest = "fix-request"
    /// The app waits, for as long as `Retry-After` says if that is there, and asks Adobe Pass for a new media token.
    case wait
    /// The operator of the verifier looks at its settings, keys and clock.
    case `operator`
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
