public import Basics

/// The outcome of verifying one token.
public enum Verdict: Sendable {
    /// Every check passed, and the token is consumed: serve the stream.
    case accepted(VerifiedToken)
    /// The token failed a check: do not serve the stream.
    case rejected(Rejection)

    /// The code that a program sees.
    public var code: VerdictCode {
        switch self {
        case .accepted: .validToken
        case .rejected(let rejection): rejection.code
        }
    }
}

/// A media token that passed every check and was consumed. Only a verifier can make one, so its existence is the proof.
public struct VerifiedToken: Sendable {
    private let signed: SignedClaims

    /// The token's claims, all of them signed.
    public var claims: MediaTokenClaims { signed.claims }
    /// The requestor that the token was issued to, without a copy of the other claims.
    package var requestor: RequestorID { signed.claims.requestor }
    /// The name of the key that verified the signature.
    public var key: String { signed.key.name }
    /// The short ID of the token.
    public var id: TokenID { TokenID(signed.digest) }
    /// The token's identity in the replay store.
    public var replayKey: ReplayKey { ReplayKey(signed.digest) }
    /// The token's expiry, without clock skew: issue time plus the TTL that the policy gives it.
    public let expires: Timestamp
    /// The time of the token's first use: this call, or the original call if this one is a permitted retry.
    public let firstUse: Timestamp
    /// Whether this call is a permitted retry by the client that consumed the token.
    public let isRetry: Bool

    fileprivate init(_ approved: ApprovedToken, firstUse: Timestamp, isRetry: Bool) {
        (signed, expires) = (approved.signed, approved.expiry)
        (self.firstUse, self.isRetry) = (firstUse, isRetry)
    }
}

/// A verification that reached no verdict. The caller must reject the token (`ERROR_UNKNOWN`), which may count as used:
/// the app fetches a new one.
public enum VerificationError: Error, Sendable, CustomStringConvertible {
    /// The replay store did not answer, or its answer was not usable.
    case replayStore(ReplayStoreError)
    /// libcrypto or libxml2 failed, in practice because memory ran out.
    case outOfResources(String)

    init(_ error: ReplayStoreError) {
        if case .outOfResources(let what) = error { self = .outOfResources(what) } else { self = .replayStore(error) }
    }

    /// The code that stands for any verification without a verdict.
    public var code: VerdictCode { .errorUnknown }

    /// The reason in one line.
    public var description: String {
        switch self {
        case .replayStore(let error): "\(error)"
        case .outOfResources(let what): what
        }
    }
}

/// A group that waits for the replay store's answers: its members have passed every other check, or have failed.
struct PendingGroup: Sendable {
    /// A token of the group.
    struct Member: Sendable {
        /// Lets the caller that consumed the token retry; `nil` for strictly single use.
        let retries: RetryWindow?
        /// The short ID of the token; `nil` if it has no envelope.
        let id: TokenID?
        /// The approved token, or why it gets no further.
        var approved: StageResult<ApprovedToken>
    }

    /// The replay claims of the members that have not failed, in order.
    let claims: [ReplayClaim]
    /// The short ID of each member; `nil` for a token that has no envelope.
    var ids: [TokenID?] { members.map(\.id) }
    private let members: [Member]
    private let now: Timestamp

    init(_ members: [Member], at now: Timestamp) {
        var (claims, members) = ([ReplayClaim](), members)
        claims.reserveCapacity(members.count)
        for index in members.indices {
            guard case .success(let approved) = members[index].approved else { continue }
            do {
                claims.append(try ReplayClaim(of: approved, retries: members[index].retries))
            } catch {
                members[index].approved = .failure(StageError(error))
            }
        }
        (self.claims, self.members, self.now) = (claims, members, now)
    }

    /// Accepts the approved tokens for which this is the first use or a permitted retry.
    func verdicts(for answers: [Result<ReplayAnswer, ReplayStoreError>]) -> [Result<Verdict, VerificationError>] {
        let miscount: ReplayStoreError? =
            answers.count == claims.count
            ? nil : .unavailable("it gave \(answers.count) answers to \(claims.count) claims")
        var claimed = 0
        return members.map { member in
            switch member.approved {
            case .failure(let failure): return failure.outcome(of: member.id)
            case .success(let approved):
                defer { claimed += 1 }
                let answer = miscount.map { .failure($0) } ?? answers[claimed]
                return approved.verdict(for: answer, retries: member.retries, at: now)
            }
        }
    }

    /// The verdicts by the answers of a store, which is asked only if there are claims.
    func verdicts(by store: any ReplayStore) -> [Result<Verdict, VerificationError>] {
        verdicts(for: claims.isEmpty ? [] : store.claim(claims, at: now))
    }
}

extension ApprovedToken {
    fileprivate func verdict(
        for answer: Result<ReplayAnswer, ReplayStoreError>, retries: RetryWindow?, at now: Timestamp
    ) -> Result<Verdict, VerificationError> {
        switch answer {
        case .success(.first):
            .success(.accepted(VerifiedToken(self, firstUse: now, isRetry: false)))
        case .success(.repeated(let since)) where retries?.isOpen(since, at: now) ?? false:
            .success(.accepted(VerifiedToken(self, firstUse: since, isRetry: true)))
        case .success(.alreadyUsed), .success(.repeated):
            .success(.rejected(Rejection(.alreadyUsed(signed.claims), of: TokenID(signed.digest))))
        case .success(.predatesStore(let since)):
            .success(
                .rejected(
                    Rejection(
                        .predatesStore(signed.claims, since: since), of: TokenID(signed.digest))))
        case .failure(let error):
            .failure(VerificationError(error))
        }
    }
}
