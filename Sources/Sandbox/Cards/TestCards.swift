internal import MediaToken
internal import MediaTokenTesting

extension TestCard {
    /// All cards. `media-token-sandbox cards` prints this table.
    package static let all = denials + refusals + disturbances + tokens

    private static let denials = [
        denial("denied", "authorization_denied_by_mvpd", .none, "the MVPD denies it"),
        denial(
            "denied-hostile", "authorization_denied_by_mvpd", .none,
            "the MVPD denies it, in words that clients must not trust",
            details: "<script>alert('sandbox')</script> \u{202E}\u{FFFD}\u{1F4FA} \"Live\" & 100 %s"),
        denial(
            "denied-parental", "authorization_denied_by_parental_controls", .none,
            "the parental controls deny it"),
        denial("denied-degraded", "authorization_denied_by_degradation_rule", .none, "a degradation rule denies it"),
        denial(
            "denied-hba", "authorization_denied_by_hba_policies", .authentication,
            "the device is not at home, where its viewer logged in"),
        denial(
            "denied-session", "authorization_denied_by_session_invalidated", .authentication,
            "the MVPD has ended the session"),
        denial(
            "denied-identity", "identity_not_recognized_by_mvpd", .authentication, "the MVPD does not know the viewer"),
        denial("temp-pass-over", .temporaryDuration),
        denial("temp-pass-full", .temporaryResources),
        denial("mvpd-broken", "network_received_error", .retry, "the MVPD's answer cannot be read"),
        denial("mvpd-silent", "network_connection_timeout", .retry, "the MVPD does not answer"),
        denial("mvpd-late", "maximum_execution_time_exceeded", .retry, "the MVPD takes too long"),
    ]

    private static let refusals = [
        refusal(
            "no-integration", "invalid_integration", 400, .none, "the service provider has no contract with the MVPD"),
        refusal("too-many", .tooManyResources),
        refusal("profile-expired", "authenticated_profile_expired", 403, .authentication, "the login has expired"),
        refusal(
            "profile-invalidated", "authenticated_profile_invalidated", 403, .authentication,
            "the login was invalidated"),
        refusal(
            "unregistered", "invalid_access_token_service_provider", 401, .applicationRegistration,
            "the bearer token belongs to another service provider"),
        refusal("internal-error", "internal_server_error", 500, .none, "the service fails"),
    ]

    private static let disturbances = [
        TestCard(
            name: "slow", summary: "the answer comes after five seconds",
            effect: .disturb(.slow), verdict: .validToken),
        TestCard(
            name: "unavailable", summary: "the service answers 503", effect: .disturb(.unavailable), verdict: nil),
        TestCard(
            name: "throttled", summary: "the service answers 429 with an HTML body", effect: .disturb(.throttled),
            verdict: nil),
        TestCard(
            name: "truncated", summary: "the JSON of the answer ends in its middle", effect: .disturb(.truncated),
            verdict: nil),
    ]

    private static let tokens = [
        altered("expired", "the token was issued an hour ago, and has expired", .tokenExpired) {
            $0.issued = $0.issued.moved(bySeconds: -3600)
        },
        altered("clock-behind", "the clock of the service is two minutes slow", .validToken) {
            $0.issued = $0.issued.moved(bySeconds: -120)
        },
        altered("clock-ahead", "the clock of the service is two minutes fast", .tokenNotYetValid) {
            $0.issued = $0.issued.moved(bySeconds: 120)
        },
        altered("no-ttl", "the token has no TTL; the default of five minutes applies", .validToken) {
            $0.omitted.insert(.ttl)
        },
        altered("zero-ttl", "the TTL of the token is 0", .invalidTokenFormat) { $0.timeToLive = 0 },
        altered("wrong-requestor", "the token is another requestor's", .invalidRequestorID) {
            $0.requestor = "SandboxOther"
        },
        altered("no-requestor", "the token names no requestor, as some of REST v2 in 2025", .invalidTokenFormat) {
            $0.omitted.insert(.requestorID)
        },
        altered("wrong-resource", "the token is for another resource", .invalidResourceID) {
            $0.resource = "SandboxOther"
        },
        altered("proxied", "the token names a proxy MVPD too", .validToken) { $0.proxyMVPD = "SandboxProxy" },
        altered("exchanged", "MVPD and proxy MVPD are exchanged, as in REST v2 in 2025", .validToken) {
            ($0.mvpd, $0.proxyMVPD) = ("SandboxProxy", $0.mvpd)
        },
        altered("empty-proxy", "the token has an empty proxyMvpdId, which counts as none", .validToken) {
            $0.emptied.insert(.proxyMVPDID)
        },
        altered("short-root", "the root element is shortAuthorizationToken, as in Adobe's documents", .validToken) {
            $0.root = "shortAuthorizationToken"
        },
        altered("mrss-quotes", "an MRSS resource comes back with single quotes for double ones", .invalidResourceID) {
            $0.resource = $0.resource.replacing("\"", with: "'")
        },
        altered("mrss-cdata", "the title of an MRSS resource comes back in a CDATA section", .invalidResourceID) {
            $0.resource = $0.resource.replacing("<title>", with: "<title><![CDATA[").replacing(
                "</title>", with: "]]></title>")
        },
        altered("authz-token", "an AuthZ token comes in place of a media token", .invalidTokenFormat) {
            $0.kind = .authorization
        },
        TestCard(
            name: "other-key", summary: "a key that the sandbox does not publish signs the token",
            effect: .key(.unpublished), verdict: .invalidSignature),
        TestCard(
            name: "rotating-key", summary: "the key changes with each minute; both keys are published",
            effect: .key(.rotating), verdict: .validToken),
        TestCard(
            name: "cut-token", summary: "the last twenty letters of the token are missing",
            effect: .forge { String($0.dropLast(20)) }, verdict: .invalidSignature),
        TestCard(
            name: "forged", summary: "one letter was added to the token after it was signed",
            effect: .forge { $0.replacing("</sessionGUID>", with: "f</sessionGUID>", maxReplacements: 1) },
            verdict: .invalidSignature),
    ]

    private static func denial(
        _ name: String, _ code: String, _ action: EnhancedError.Action, _ message: String, details: String? = nil
    ) -> TestCard {
        denial(name, EnhancedError(code, 403, action, message, details: details))
    }

    private static func denial(_ name: String, _ error: EnhancedError) -> TestCard {
        TestCard(name: name, summary: "denied: \(error.message)", effect: .deny(error), verdict: nil)
    }

    private static func refusal(
        _ name: String, _ code: String, _ status: Int, _ action: EnhancedError.Action, _ message: String
    ) -> TestCard {
        refusal(name, EnhancedError(code, status, action, message))
    }

    private static func refusal(_ name: String, _ error: EnhancedError) -> TestCard {
        TestCard(name: name, summary: "\(error.status): \(error.message)", effect: .refuse(error), verdict: nil)
    }

    private static func altered(
        _ name: String, _ summary: String, _ verdict: VerdictCode,
        _ change: @escaping @Sendable (inout TokenRecipe) -> Void
    ) -> TestCard {
        TestCard(name: name, summary: summary, effect: .token(change), verdict: verdict)
    }
}

extension TokenDate {
    fileprivate func moved(bySeconds seconds: Int64) -> TokenDate {
        TokenDate(timestamp.advanced(byMilliseconds: seconds * 1000), offset: offset)
    }
}
