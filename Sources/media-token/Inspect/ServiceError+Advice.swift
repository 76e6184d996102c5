internal import Captures
internal import MediaToken

extension ServiceError {
    /// One line that says what to do: what the action of an enhanced error means (Adobe Pass, Enhanced Error Codes), or
    /// what `verify` says of a denial; `nil` for an older error that is no denial.
    var advice: String? {
        switch action {
        case "configuration": "change the configuration of the programmer or the MVPD at Adobe Pass"
        case "application-registration": "the app must register again"
        case "authentication": "the viewer must log in again"
        case "authorization": "the app must ask for an authorization of the resource again"
        case "degradation": "apply a degradation rule, if the MVPD does not recover"
        case "retry": "try again later"
        case "retry-after": "try again after the time that the answer names"
        case _ where isDenial || code.contains("authorization_denied") || code.lowercased().contains("not authorized"):
            Rejection.denialAdvice
        case "none": "a retry will not help: compare the request with Adobe's message"
        default: nil
        }
    }
}
