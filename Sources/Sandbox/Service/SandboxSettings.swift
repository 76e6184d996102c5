internal import Basics

/// What a sandbox can be told about its behaviour. Times are those of Adobe's service where its documents name one.
package struct SandboxSettings: Sendable {
    /// Seconds for which a bearer token is valid.
    package var bearerSeconds: Int64 = 86_400
    /// Seconds for which the code of a session is valid.
    package var sessionSeconds: Int64 = 1800
    /// Seconds for which a login is valid.
    package var profileSeconds: Int64 = 2_592_000
    /// Seconds for which an authorization is valid.
    package var decisionSeconds: Int64 = 86_400
    /// The TTL of media tokens, in milliseconds.
    package var tokenMilliseconds: Int64 = 420_000
    /// Seconds for which a TempPass permits, from the first decision on.
    package var temporarySeconds: Int64 = 600
    /// The most resources that a promotional TempPass permits.
    package var temporaryResources = 3
    /// The most resources that one call may ask for.
    package var resourceLimit = 5
    /// Milliseconds by which answers are late, chosen evenly.
    package var latencyMilliseconds = 0...0
    /// Milliseconds by which the clock of the sandbox is ahead of that of the machine.
    package var clockMilliseconds: Int64 = 0
    /// Whether one client address gets one call per second only, and ten more at first, as Adobe's service allows.
    package var throttles = false
    /// Whether clients come in TLS.
    package var isSecure = false
    /// What codes and identifiers are chosen by; `nil` for the system's random source.
    package var seed: UInt64?

    package init() {}

    /// The login of a viewer, which begins now.
    func profile(of viewer: String, from now: Timestamp) -> SandboxState.Profile {
        SandboxState.Profile(viewer: viewer, start: now, end: now.advanced(byMilliseconds: profileSeconds * 1000))
    }
}
