package import Basics
package import ClaimsStage

/// A check of the policy: what it compares, and what it tells a person.
///
/// A check is one value, added to ``inOrder``. Verdicts, examinations and inspections are all made from that.
package struct PolicyCheck: Sendable {
    /// A look at a token's claims, under a policy, for an expectation, at a time.
    package typealias Look<Found> =
        @Sendable (
            _ policy: VerificationPolicy, _ claims: MediaTokenClaims, _ expectation: Expectation, _ now: Timestamp
        ) -> Found

    package let name: Check
    /// Why a token fails the check; `nil` if it passes.
    package let failure: Look<PolicyFailure?>
    /// What the token says, as the check compares it.
    package let signed: Look<String>
    /// Why nothing is compared, so that every token passes; `nil` if something is.
    package let exemption: Look<String?>
    /// What a person should know of a token that passes, besides what it says; `nil` if that is all.
    package let note: Look<String?>

    init(
        _ name: Check, failure: @escaping Look<PolicyFailure?>, signed: @escaping Look<String>,
        exemption: @escaping Look<String?> = { _, _, _, _ in nil },
        note: @escaping Look<String?> = { _, _, _, _ in nil }
    ) {
        (self.name, self.failure, self.signed) = (name, failure, signed)
        (self.exemption, self.note) = (exemption, note)
    }
}
