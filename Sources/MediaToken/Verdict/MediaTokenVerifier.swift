/// Decides whether a media token opens a resource, and accepts each token once.
///
/// Create one verifier at start and share it: any number of threads can use it at once.
public final class MediaTokenVerifier: Sendable {
    /// The keys that tokens may be signed with.
    public let keys: KeyRing
    /// The checks that a token must pass beyond its signature.
    public let policy: VerificationPolicy

    let replays: any ReplayStore
    private let paths: PathPool

    /// Creates a verifier. It reads no file and asks no store until the first token comes.
    ///
    /// - Parameters:
    ///   - keys: the keys that tokens may be signed with.
    ///   - policy: the checks that a token must pass beyond its signature.
    ///   - replays: the replay store, which remembers used tokens; verifiers that guard the same streams must share
    ///     one.
    public init(keys: KeyRing, policy: VerificationPolicy = VerificationPolicy(), replays: any ReplayStore) {
        self.keys = keys
        self.policy = policy
        self.replays = replays
        paths = PathPool(keys: keys, policy: policy)
    }

    /// A verifier that shares the keys and paths of `other` and uses another replay store.
    package init(_ other: MediaTokenVerifier, replays: any ReplayStore) {
        (keys, policy, paths) = (other.keys, other.policy, other.paths)
        self.replays = replays
    }

    /// Verifies one token, and consumes it if it is accepted.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - expectation: what the token must have been issued for.
    ///   - retries: within which time, and by which secret, the caller may have the same token accepted again.
    ///   - now: the time of the check. A key verifies nothing if its certificate is not valid at that time.
    /// - Throws: ``VerificationError`` if there is no verdict; the caller must then reject the token. A rejection is
    ///   not an error but a verdict.
    public func verify(
        _ token: RawToken, for expectation: Expectation, retries: RetryWindow? = nil, at now: Timestamp = .now
    ) throws(VerificationError) -> Verdict {
        let request = VerificationRequest(token: token, expectation: expectation, retries: retries)
        return try verify([request], at: now)[0].get()
    }

    /// Verifies one token, and consumes it if it is accepted. The caller is suspended while the replay store decides;
    /// its thread is not blocked.
    ///
    /// If the caller's task is cancelled, the token is verified all the same, and may be consumed.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - expectation: what the token must have been issued for.
    ///   - retries: within which time, and by which secret, the caller may have the same token accepted again.
    ///   - now: the time of the check. A key verifies nothing if its certificate is not valid at that time.
    /// - Throws: ``VerificationError`` if there is no verdict; the caller must then reject the token. A rejection is
    ///   not an error but a verdict.
    public func verify(
        _ token: RawToken, for expectation: Expectation, retries: RetryWindow? = nil, at now: Timestamp = .now
    ) async throws(VerificationError) -> Verdict {
        let request = VerificationRequest(token: token, expectation: expectation, retries: retries)
        return try await verify([request], at: now)[0].get()
    }

    /// Verifies a group of tokens, in order, and returns a result for each.
    ///
    /// Each verdict depends on its own token only, with one exception: a token that occurs twice is accepted the first
    /// time only, unless both requests have the same ``RetryWindow`` secret.
    public func verify(
        _ group: [VerificationRequest], at now: Timestamp = .now
    ) -> [Result<Verdict, VerificationError>] {
        pending(group, at: now).verdicts(by: replays)
    }

    /// Verifies a group of tokens, in order, and returns a result for each. The caller is suspended while the replay
    /// store decides; its thread is not blocked.
    ///
    /// The signatures of a group are verified together, eight in the time of one where the processor can, and the store
    /// is asked once. Each verdict depends on its own token only, with one exception: a token that occurs twice is
    /// accepted the first time only, unless both requests have the same ``RetryWindow`` secret.
    public func verify(
        _ group: [VerificationRequest], at now: Timestamp = .now
    ) async -> [Result<Verdict, VerificationError>] {
        let pending = pending(group, at: now)
        guard !pending.claims.isEmpty else { return pending.verdicts(for: []) }
        return pending.verdicts(for: await replays.claimWithoutBlocking(pending.claims, at: now))
    }

    /// Verifies a group of tokens on an event loop's thread.
    ///
    /// - Parameters:
    ///   - claim: asks the replay store for the loop, in place of the verifier's own store.
    ///   - completion: called once, with a result for each request, and the short ID of each token that has one: when
    ///     the store has answered or, if no token of the group gets as far as the store, before this method returns.
    package func verify(
        _ group: [VerificationRequest], at now: Timestamp, claimingBy claim: ReplayClaimer,
        _ completion: @escaping ([Result<Verdict, VerificationError>], [TokenID?]) -> Void
    ) {
        let pending = pending(group, at: now)
        guard !pending.claims.isEmpty else { return completion(pending.verdicts(for: []), pending.ids) }
        claim(pending.claims, now) { completion(pending.verdicts(for: $0), pending.ids) }
    }

    /// Takes every step of a group up to the replay store.
    func steps(of group: [VerificationRequest], at now: Timestamp) -> GroupSteps {
        do {
            return try paths.withPath { $0.steps(of: group, at: now) }
        } catch {
            // Without contexts no signature can be verified. An examination still shows what the envelopes hold.
            return GroupSteps(
                envelopes: group.map { TokenPath.open($0.token, for: $0.expectation.resource) },
                payloads: group.map { _ in .failure(.outOfResources("\(error)")) },
                members: group.map {
                    PendingGroup.Member(retries: $0.retries, id: nil, approved: .failure(.undecided(error)))
                })
        }
    }

    private func pending(_ group: [VerificationRequest], at now: Timestamp) -> PendingGroup {
        PendingGroup(steps(of: group, at: now).members, at: now)
    }

    /// Calls `body` with a path for this thread, for a caller that takes the path's steps one by one.
    package func withPath<Value>(_ body: (TokenPath) -> Value) throws(VerificationError) -> Value {
        try paths.withPath(body)
    }

    /// Asks the replay store about the approved tokens of a caller that has taken the path's steps one by one.
    package func conclude(
        _ approved: [StageResult<ApprovedToken>], of group: [VerificationRequest], at now: Timestamp
    ) -> [Result<Verdict, VerificationError>] {
        let members = zip(group, approved).map { PendingGroup.Member(retries: $0.retries, id: nil, approved: $1) }
        return PendingGroup(members, at: now).verdicts(by: replays)
    }
}

/// A token, and the requestors and the resource that it must have been issued for.
public struct VerificationRequest: Sendable {
    /// The token as it arrived.
    public let token: RawToken
    /// What the token must have been issued for.
    public let expectation: Expectation
    /// Lets the same client retry and get the same acceptance; `nil` for strictly single use.
    public let retries: RetryWindow?

    /// A request to verify that `token` was issued for `expectation`.
    public init(token: RawToken, expectation: Expectation, retries: RetryWindow? = nil) {
        (self.token, self.expectation, self.retries) = (token, expectation, retries)
    }
}
