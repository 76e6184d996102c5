package import MediaToken

/// What the gate has to do for a request.
package enum GateTask: Sendable {
    /// Send this answer; no token needs to be verified.
    case settled(GateReply)
    /// Verify a token, and answer.
    case verify(VerificationTask)
    /// Examine a token without consuming it, and answer with every check.
    case explain(VerificationRequest)
}

/// A token to verify, and how to answer.
package struct VerificationTask: Sendable {
    package let request: VerificationRequest
    package let format: AnswerFormat
    /// The grant to make if the token is accepted; `nil` if none is asked for.
    package let order: GrantOrder?

    init(_ request: VerificationRequest, _ format: AnswerFormat, order: GrantOrder? = nil) {
        (self.request, self.format, self.order) = (request, format, order)
    }
}
