package import Basics
internal import ClaimsStage
internal import EnvelopeStage
package import PolicyStage
package import ReplayStage

/// What identifies a media token to a replay store, read without a key, for an operator who looks a token up.
///
/// None of it is proven. A verifier makes replay claims of approved tokens only.
package struct UnverifiedToken: Sendable {
    /// The short ID of the token.
    package let id: TokenID
    /// The issue time, as the token has it.
    package let issueTime: TokenDate
    /// What a replay store is asked about the token.
    package let question: ReplayQuestion

    /// Reads a media token; throws if the input is none.
    package init(_ token: RawToken) throws(StageError) {
        let envelope = TokenPath.open(token, for: nil)
        guard case .success(let opened) = envelope else { throw StageError(unopened: envelope) }
        let claims: MediaTokenClaims
        do { claims = try MediaTokenClaims(TokenElements(readingUnverified: opened.payload)) } catch {
            throw StageError(error)
        }
        do { question = try ReplayQuestion(on: claims, of: opened.payload) } catch { throw StageError(error) }
        (id, issueTime) = (TokenID(word: question.key.words.0), claims.issueTime)
    }

    /// The issue time that a token of any signature has; `nil` if it is no media token.
    ///
    /// - Parameter resource: the expected resource, which chooses among several decisions of a REST v2 answer.
    package static func issueTime(of token: RawToken, for resource: ResourceRule?) -> Timestamp? {
        guard case .success(let opened) = TokenPath.open(token, for: resource),
            let elements = try? TokenElements(readingUnverified: opened.payload)
        else { return nil }
        return (try? MediaTokenClaims(elements))?.issueTime.timestamp
    }
}
