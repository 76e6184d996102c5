internal import Basics

/// An error of Adobe Pass, as its clients read it: a code from a closed list, and the action that may repair it.
///
/// Actions, statuses and codes are those of Adobe's document on enhanced error codes, list "REST API v2". The messages
/// are the sandbox's own. An error is the whole body of an answer with a status of 4xx or 5xx, or a member of one
/// decision of a 200.
package struct EnhancedError: Error {
    package enum Action: String, Sendable {
        case none, configuration, authentication, authorization, retry
        case applicationRegistration = "application-registration"
    }

    package let action: Action
    package let status: Int
    package let code: String
    package let message: String
    /// The words of the MVPD, which clients must treat as hostile text.
    package var details: String?

    init(_ code: String, _ status: Int, _ action: Action, _ message: String, details: String? = nil) {
        (self.code, self.status, self.action, self.message, self.details) = (code, status, action, message, details)
    }

    /// The error as a JSON object.
    ///
    /// - Parameter trace: The identifier of the answer, which a client quotes when it asks for support.
    func json(trace: String) -> JSONValue {
        var members: [JSONName: JSONValue] = [
            "action": .text(action.rawValue), "status": .number(Double(status)), "code": .text(code),
            "message": .text("Sandbox: \(message)"), "helpUrl": .text(Self.help), "trace": .text(trace),
        ]
        if let details { members["details"] = .text(details) }
        return .object(members)
    }

    private static let help =
        "https://experienceleague.adobe.com/docs/pass/authentication/auth-features/error-reportn/enhanced-error-codes.html"
}

extension EnhancedError {
    static let serviceProvider = Self(
        "invalid_parameter_service_provider", 400, .none, "the path names no service provider")
    static let mvpd = Self("invalid_parameter_mvpd", 400, .none, "the path names no MVPD")
    static let code = Self("invalid_parameter_code", 400, .none, "no session has this code")
    static let redirectURL = Self(
        "invalid_parameter_redirect_url", 400, .none, "the redirect URL is not an absolute URL in visible ASCII")
    static let resources = Self(
        "invalid_parameter_resources", 400, .none, "the body is no JSON object with an array of strings 'resources'")
    static let device = Self(
        "invalid_header_device_identifier", 400, .none, "AP-Device-Identifier is not 'fingerprint' and Base64")
    static let temporaryIdentity = Self(
        "invalid_header_identity_for_temporary_access", 400, .none, "AP-TempPass-Identity is missing or no Base64")
    static let accessToken = Self(
        "invalid_access_token_client_application", 401, .applicationRegistration,
        "the bearer token is missing, unknown or expired")
    static let profileMissing = Self(
        "authenticated_profile_missing", 403, .authentication, "nobody has logged in with this MVPD on this device")
    static let profileExpired = Self(
        "authenticated_profile_expired", 403, .authentication, "the login with this MVPD has expired")
    static let temporaryDuration = Self(
        "temporary_access_duration_limit_exceeded", 403, .authentication, "the time of the TempPass has run out")
    static let temporaryResources = Self(
        "temporary_access_resources_limit_exceeded", 403, .authentication, "the resources of the TempPass have run out")
    static let tooManyResources = Self(
        "too_many_resources", 403, .configuration, "more resources than one call may ask for")
    static let undecodable = Self("bad_request", 400, .none, "the path or a parameter cannot be decoded")
    static let unknown = Self("not_found", 404, .none, "REST API v2 has no such call")
    static let method = Self("method_not_allowed", 405, .none, "the call has no such method")
    static let signing = Self("internal_server_error", 500, .none, "a token could not be signed")
}
