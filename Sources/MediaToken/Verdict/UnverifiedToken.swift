internal import ClaimsStage
internal import EnvelopeStage
package import ReplayStage

/// What identifies a media token to a replay store, read without a key, for an operator who looks a token up.
///
/// None of it is proven. A verifier makes replay claims of approved tokens only.
package struct UnverifiedToken: Sendable {
    /// The short ID of the token.
    package let id: TokenID
    /// The issue time, as the token has it.
    package let issueTime: TokenDate
    /// The claim that a verifier would make if it approved the token.
    package let claim: ReplayClaim

    /// Reads a media token; throws if the input is none.
    package init(_ token: RawToken) throws(StageError) {
        let envelope = TokenPath.open(token, for: nil)
        guard case .success(let opened) = envelope else { throw StageError(unopened: envelope) }
        let claims: MediaTokenClaims
        do { claims = try MediaTokenClaims(TokenElements(readingUnverified: opened.payload)) } catch {
            throw StageError(error)
        }
        do { claim = try ReplayClaim(unverified: claims, of: opened.payload) } catch { throw StageError(error) }
        (id, issueTime) = (TokenID(word: claim.key.words.0), claims.issueTime)
    }
}
