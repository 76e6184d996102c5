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

    /// Verifies one token, and uses it up where it is accepted.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - expectation: what it must have been issued for.
    ///   - now: the time of the check, normally ``Timestamp/now``.
    /// - Throws: ``CannotTell``, and then the caller must refuse. A no is not an error but a verdict.
    public func verify(
        _ token: RawToken, for expectation: Expectation, at now: Timestamp
    ) throws(CannotTell) -> Verdict {
        try verify([VerificationRequest(token: token, expectation: expectation)], at: now)[0].get()
    }

    /// Verifies a group of tokens, in order, and gives a result for each.
    ///
    /// Each verdict depends on its own token alone, except that a token that comes twice is accepted once, the first.
    /// The whole way of a token is here; nothing in it goes back, and no step can be left out, since each takes what only
    /// the step before it makes.
    public func verify(_ group: [VerificationRequest], at now: Timestamp) -> [Result<Verdict, CannotTell>] {
        let undecided = approve(group, at: now)
        return undecided.verdicts(for: undecided.claims.isEmpty ? [] : replays.claim(undecided.claims, at: now))
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
        let undecided = approve(group, at: now)
        guard !undecided.claims.isEmpty else { return completion(undecided.verdicts(for: [])) }
        pipeline.claim(undecided.claims, at: now) { completion(undecided.verdicts(for: $0)) }
    }

    /// The way up to the replay store.
    private func approve(_ group: [VerificationRequest], at now: Timestamp) -> UndecidedGroup {
        do {
            let approved: [Step<ApprovedToken>] = try workspaces.withWorkspace { workspace in
                let envelopes = group.map { $0.openEnvelope() }
                let authentic = keys.authenticate(envelopes, with: workspace)
                let signed = authentic.map { $0.flatMap { SignedClaims.read(from: $0, with: workspace.reader) } }
                return zip(signed, group).map { signed, request in
                    signed.flatMap { policy.approve($0, for: request.expectation, at: now) }
                }
            }
            return UndecidedGroup(approved)
        } catch {
            return UndecidedGroup(group.map { _ in .failure(.cannotTell(.outOfResources("\(error)"))) })
        }
    }
}

/// A token, and what it must be for.
public struct VerificationRequest: Sendable {
    /// The token as it arrived.
    public let token: RawToken
    /// What it must have been issued for.
    public let expectation: Expectation

    /// Asks whether `token` is for `expectation`.
    public init(token: RawToken, expectation: Expectation) {
        self.token = token
        self.expectation = expectation
    }

    fileprivate func openEnvelope() -> Step<TokenEnvelope> {
        token.openEnvelope(choosing: expectation.resource)
    }
}

extension RawToken {
    /// Un-wraps and splits.
    ///
    /// - Parameter resource: which decision to take from a REST v2 answer that holds several.
    func openEnvelope(choosing resource: ResourceRule?) -> Step<TokenEnvelope> {
        do {
            return .success(try TokenEnvelope(splitting: clearText(choosing: resource)))
        } catch {
            return .failure(Stop(error))
        }
    }
}
