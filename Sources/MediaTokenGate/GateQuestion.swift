package import HTTPServer
package import MediaToken

/// What a request comes down to.
package enum GateQuestion: Sendable {
    /// No token need be looked at.
    case settled(GateReply)
    /// Verify this, and answer in that form.
    case verify(VerificationRequest, GateForm)
    /// Look at this, claim nothing, and show every check.
    case explain(VerificationRequest)
}

/// An answer, and what is told of it in the log and the metrics.
package struct GateReply: Sendable {
    package let answer: HTTPAnswer
    /// A verdict's status, or one of ``GateStatus``.
    package let status: String

    init(_ answer: HTTPAnswer, status: String) {
        (self.answer, self.status) = (answer, status)
    }
}

/// What the gate says of a request in which it need not, or cannot, look at a token. In the place of a verdict's status, and
/// never one of those.
package enum GateStatus: String, Sendable {
    /// Unprotected media: let through.
    case tokenNotRequired = "TOKEN_NOT_REQUIRED"
    /// A grant came with the request, in the place of a token, and opens it.
    case grantValid = "GRANT_VALID"
    /// Only a grant came with the request, and does not open it.
    case grantRefused = "GRANT_REFUSED"
    /// Protected media, and no token came with the request.
    case tokenMissing = "TOKEN_MISSING"
    /// Tokens came with the request, and differ.
    case tokenAmbiguous = "TOKEN_AMBIGUOUS"
    /// No route names the path, or it could be read in two ways.
    case routeUnknown = "ROUTE_UNKNOWN"
    /// Not a request that is understood here.
    case requestInvalid = "REQUEST_INVALID"
}

/// How a verdict is told.
package enum GateForm: Sendable {
    /// By a body that says all: for a backend.
    case document
    /// By status and headers alone: for a proxy.
    case subrequest
    /// As a document, and a yes with what a CDN takes for one.
    case play(GrantOrder)
}
