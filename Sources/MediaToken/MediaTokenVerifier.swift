public import Timestamps

/// Decides whether a media token opens a resource, once.
///
/// Make one at start and share it: it is safe to call from any number of threads at once.
public final class MediaTokenVerifier: Sendable {
    /// The keys that tokens may be signed with.
    public let keys: KeyRing
    /// What is demanded of a token beyond its signature.
    public let policy: VerificationPolicy

    private let replays: any ReplayCache
    private let workspaces: WorkspacePool

    /// - Parameters:
    ///   - keys: the keys that tokens may be signed with.
    ///   - policy: what is demanded of a token beyond its signature.
    ///   - replays: what remembers used tokens; share one between verifiers that guard the same streams.
    public init(keys: KeyRing, policy: VerificationPolicy = VerificationPolicy(), replays: any ReplayCache) {
        self.keys = keys
        self.policy = policy
        self.replays = replays
        workspaces = WorkspacePool(keys: keys.keys)
    }

    /// The same verifier with another replay store: it shares keys and contexts.
    package init(_ other: MediaTokenVerifier, replays: any ReplayCache) {
        (keys, policy, workspaces) = (other.keys, other.policy, other.workspaces)
        self.replays = replays
    }

    /// Verifies one token, and uses it up where it is accepted.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - expectation: what it must have been issued for.
    ///   - now: the time of the check, normally ``Timestamp/now``. A key whose certificate is not valid then verifies nothing.
    /// - Throws: ``CannotTell``, and then the caller must refuse. A no is not an error but a verdict.
    public func verify(
        _ token: RawToken, for expectation: Expectation, at now: Timestamp
    ) throws(CannotTell) -> Verdict {
        try verify([VerificationRequest(token: token, expectation: expectation)], at: now)[0].get()
    }

    /// Verifies a group of tokens, in order, and gives a result for each.
    ///
    /// Each verdict depends on its own token alone, except that a token that comes twice is accepted once, the first; twice only under one ``Repetition``.
    /// The whole way of a token is here; nothing in it goes back, and no step can be left out, since each takes what only
    /// the step before it makes.
    public func verify(_ group: [VerificationRequest], at now: Timestamp) -> [Result<Verdict, CannotTell>] {
        var nobody = NobodyWatching()
        return verify(group, at: now, watch: &nobody)
    }

    /// The same, and adds up how long each stage took.
    package func verify(
        _ group: [VerificationRequest], at now: Timestamp, timing times: inout StageTimes
    ) -> [Result<Verdict, CannotTell>] {
        verify(group, at: now, watch: &times)
    }

    private func verify(
        _ group: [VerificationRequest], at now: Timestamp, watch: inout some StageWatch
    ) -> [Result<Verdict, CannotTell>] {
        let undecided = approve(group, at: now, watch: &watch)
        guard !undecided.claims.isEmpty else { return undecided.verdicts(for: []) }
        return undecided.verdicts(for: watch.during(.replay) { replays.claim(undecided.claims, at: now) })
    }

    /// The same with a store that answers later.
    ///
    /// - Parameters:
    ///   - pipeline: the store.
    ///   - completion: called once, with a result for each; where nothing is left to be claimed, before this returns.
    package func verify(
        _ group: [VerificationRequest], at now: Timestamp, claimingIn pipeline: any PipelinedReplayCache,
        _ completion: @escaping ([Result<Verdict, CannotTell>]) -> Void
    ) {
        var nobody = NobodyWatching()
        let undecided = approve(group, at: now, watch: &nobody)
        guard !undecided.claims.isEmpty else { return completion(undecided.verdicts(for: [])) }
        pipeline.claim(undecided.claims, at: now) { completion(undecided.verdicts(for: $0)) }
    }

    /// The way up to the replay store.
    private func approve(
        _ group: [VerificationRequest], at now: Timestamp, watch: inout some StageWatch
    ) -> UndecidedGroup {
        do {
            let approved: [Step<ApprovedToken>] = try workspaces.withWorkspace { workspace in
                let digested = group.indices.map { index in
                    let text = watch.during(.unwrap) { group[index].clearText() }
                    let envelope = watch.during(.envelope) { text.flatMap { TokenEnvelope.split($0) } }
                    return watch.during(.digest) {
                        envelope.flatMap { DigestedEnvelope.make(of: $0, with: workspace.hasher) }
                    }
                }
                let authentic = watch.during(.signature) { keys.authenticate(digested, at: now, with: workspace) }
                return group.indices.map { index in
                    let signed = watch.during(.claims) {
                        authentic[index].flatMap { SignedClaims.read(from: $0, with: workspace.reader) }
                    }
                    return watch.during(.policy) {
                        signed.flatMap { policy.approve($0, for: group[index].expectation, at: now) }
                    }
                }
            }
            return UndecidedGroup(approved, of: group, at: now)
        } catch {
            let failures = group.map { _ in Step<ApprovedToken>.failure(.cannotTell(.outOfResources("\(error)"))) }
            return UndecidedGroup(failures, of: group, at: now)
        }
    }
}

/// A token, and what it must be for.
public struct VerificationRequest: Sendable {
    /// The token as it arrived.
    public let token: RawToken
    /// What it must have been issued for.
    public let expectation: Expectation
    /// Whether the same asker may ask again and is told yes again; `nil` for a token that is good for one question.
    public let repetition: Repetition?

    /// Asks whether `token` is for `expectation`.
    public init(token: RawToken, expectation: Expectation, repetition: Repetition? = nil) {
        (self.token, self.expectation, self.repetition) = (token, expectation, repetition)
    }

    fileprivate func clearText() -> Step<ClearText> {
        token.clearText(choosing: expectation.resource)
    }
}
