import MediaToken

extension Verdict {
    /// The token, if it was accepted.
    var accepted: VerifiedToken? {
        if case .accepted(let token) = self { token } else { nil }
    }

    /// The rejection, if there is one.
    var rejection: Rejection? {
        if case .rejected(let rejection) = self { rejection } else { nil }
    }
}
