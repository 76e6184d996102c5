package import HTTPMessages

/// An answer of the gate, and the status under which the log and the metrics count it.
package struct GateReply: Sendable {
    package var answer: HTTPAnswer
    /// The status of a verdict, a ``GateStatus``, or `EXPLAINED`.
    package let status: String

    package init(_ answer: HTTPAnswer, status: String) {
        (self.answer, self.status) = (answer, status)
    }
}

/// The status of an answer without a verdict, because the gate needed no token or had none to verify. No verdict uses
/// one of these statuses.
package enum GateStatus: String, Sendable {
    /// The media is unprotected, so the request is allowed.
    case tokenNotRequired = "TOKEN_NOT_REQUIRED"
    /// The request has a playback grant that opens the stream, so it needs no token.
    case grantValid = "GRANT_VALID"
    /// The request has no token, and its playback grants do not open the stream.
    case grantRefused = "GRANT_REFUSED"
    /// The media is protected, and the request has no token.
    case tokenMissing = "TOKEN_MISSING"
    /// The request has several tokens that differ, or a query too long to be read in full.
    case tokenAmbiguous = "TOKEN_AMBIGUOUS"
    /// No route names the path, the path could be read in two ways, or the proxy's request is malformed.
    case routeUnknown = "ROUTE_UNKNOWN"
    /// The gate does not understand the request.
    case requestInvalid = "REQUEST_INVALID"
}
