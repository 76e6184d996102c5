package import HTTPServer

/// An answer, and the status under which log and metrics count it.
package struct GateReply: Sendable {
    package let answer: HTTPAnswer
    /// A verdict's status, or one of ``GateStatus``.
    package let status: String

    package init(_ answer: HTTPAnswer, status: String) {
        (self.answer, self.status) = (answer, status)
    }
}

/// The status of an answer without a verdict: the gate did not need a token, or there was none to verify. No verdict has one of
/// these statuses.
package enum GateStatus: String, Sendable {
    /// Unprotected media: allowed.
    case tokenNotRequired = "TOKEN_NOT_REQUIRED"
    /// A grant came with the request in place of a token, and opens the stream.
    case grantValid = "GRANT_VALID"
    /// Only a grant came with the request, and it does not open the stream.
    case grantRefused = "GRANT_REFUSED"
    /// Protected media, and no token came with the request.
    case tokenMissing = "TOKEN_MISSING"
    /// Several tokens came with the request, and they differ.
    case tokenAmbiguous = "TOKEN_AMBIGUOUS"
    /// No route names the path, or the path could be read in two ways.
    case routeUnknown = "ROUTE_UNKNOWN"
    /// The request is not understood.
    case requestInvalid = "REQUEST_INVALID"
}
