package import MediaToken
package import MediaTokenTesting

/// A behaviour of the sandbox that a client chooses by the name of an MVPD or of a resource, without any other call, so
/// that jobs that share a sandbox do not disturb each other.
///
/// An ID that is the card's name, or ends with a colon and that name, chooses it: the MVPD `Sandbox:other-key`, the
/// resource `TNT:denied`. A resource's card takes precedence over that of the MVPD. The ID itself travels unchanged
/// into the token.
package struct TestCard: Sendable {
    /// What a card changes.
    package enum Effect: Sendable {
        /// The decision on the resource is a denial.
        case deny(EnhancedError)
        /// The whole call is refused, with the error's status.
        case refuse(EnhancedError)
        /// The answer to the call is damaged or late.
        case disturb(Disturbance)
        /// The media token has other fields than it should.
        case token(@Sendable (inout TokenRecipe) -> Void)
        /// Another key signs the media token.
        case key(SandboxKey)
        /// The token is changed after it was signed.
        case forge(@Sendable (String) -> String)
    }

    package enum Disturbance: Sendable, Equatable {
        /// The answer is late by ``slowMilliseconds``.
        case slow
        /// The answer is 503.
        case unavailable
        /// The answer is 429, as Adobe's throttle gives it.
        case throttled
        /// The body ends in its middle.
        case truncated
    }

    /// The key that signs a media token.
    package enum SandboxKey: Sendable {
        /// A key that the sandbox does not publish.
        case unpublished
        /// The first key of the sandbox in even minutes of its clock, the second in odd ones. Both are published.
        case rotating
    }

    package static let slowMilliseconds = 5000

    package let name: String
    /// What the client sees, as a sentence.
    package let summary: String
    package let effect: Effect
    /// The verdict on the media token; `nil` if the client gets none.
    ///
    /// It is that of a gate that trusts the published keys, has the default clock skew, no MVPD allow-list and a replay
    /// store that is older than the token, and expects what the client asked for: an MRSS resource for the cards about
    /// MRSS. The sandbox has its default TTL.
    package let verdict: VerdictCode?

    /// The card for a decision: that of the resource, or else that of the MVPD.
    package static func chosen(for resource: String, mvpd: String) -> TestCard? {
        chosen(by: resource) ?? chosen(by: mvpd)
    }

    /// The error of a card that makes the whole call fail.
    var failure: EnhancedError? { if case .refuse(let error) = effect { error } else { nil } }
    /// What a card does to the answer.
    var disturbance: Disturbance? { if case .disturb(let how) = effect { how } else { nil } }

    /// The card that `id` chooses.
    package static func chosen(by id: String) -> TestCard? {
        guard let name = id.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last else {
            return nil
        }
        return byName[String(Substring(name))]
    }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
