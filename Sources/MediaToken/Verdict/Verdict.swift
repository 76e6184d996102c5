public import Timestamps

/// The outcome of verifying one token.
public enum Verdict: Sendable {
    /// Every check passed, and this was the token's one use: serve the stream.
    case accepted(VerifiedToken)
    /// Refuse, and say why.
    case rejected(Rejection)

    /// The status, for programs.
    public var status: VerdictStatus {
        switch self {
        case .accepted: .validToken
        case .rejected(let rejection): rejection.code
        }
    }
}

/// A media token that passed every check and was claimed. Nobody but a verifier can make one: having it is the proof.
public struct VerifiedToken: Sendable {
    private let signed: SignedClaims

    /// What it says, all of it signed.
    public var claims: MediaTokenClaims { signed.claims }
    /// Name of the key that verified it.
    public var key: String { signed.key.name }
    /// Its identity in the replay store.
    public var replayKey: ReplayKey { ReplayKey(signed.digest) }
    /// When it was used: now, or where whoever used it asks again, when they asked first.
    public let firstUse: Timestamp
    /// Whether whoever used it asks again.
    public let isRepeated: Bool

    fileprivate init(_ approved: ApprovedToken, firstUse: Timestamp, isRepeated: Bool) {
        (signed, self.firstUse, self.isRepeated) = (approved.signed, firstUse, isRepeated)
    }
}

/// No verdict: it could not be told. The caller must refuse (`ERROR_UNKNOWN`); asking again may help.
public enum CannotTell: Error, Sendable, CustomStringConvertible {
    /// The replay store did not answer, or not usably.
    case replayStore(ReplayCacheError)
    /// libcrypto or libxml2 could not work, in practice for want of memory.
    case outOfResources(String)

    /// One line.
    public var description: String {
        switch self {
        case .replayStore(let error): "\(error)"
        case .outOfResources(let what): what
        }
    }
}

/// A group that has passed every check but the last. What was stopped before stays stopped.
struct UndecidedGroup: Sendable {
    /// What is to be claimed, in order.
    let claims: [ReplayClaim]
    private let members: [Step<ApprovedToken>]
    private let requests: [VerificationRequest]
    private let now: Timestamp

    /// - Parameter requests: what each member was asked by.
    init(_ members: [Step<ApprovedToken>], of requests: [VerificationRequest], at now: Timestamp) {
        (self.requests, self.now) = (requests, now)
        var (claims, members) = ([ReplayClaim](), members)
        claims.reserveCapacity(members.count)
        for (index, request) in requests.enumerated() {
            switch members[index].flatMap({ $0.replayClaim(repeatable: request.repetition) }) {
            case .success(let claim): claims.append(claim)
            case .failure(let stop): members[index] = .failure(stop)
            }
        }
        (self.claims, self.members) = (claims, members)
    }

    /// Turns approved tokens into verified ones, where this is their first use.
    func verdicts(for answers: [Result<ReplayAnswer, ReplayCacheError>]) -> [Result<Verdict, CannotTell>] {
        let miscount: ReplayCacheError? =
            answers.count == claims.count
            ? nil : .unavailable("it gave \(answers.count) answers to \(claims.count) claims")
        var claimed = 0
        return members.indices.map { index in
            switch members[index] {
            case .failure(let stop): return stop.outcome
            case .success(let approved):
                defer { claimed += 1 }
                let answer = miscount.map { .failure($0) } ?? answers[claimed]
                return approved.verdict(for: answer, repeatable: requests[index].repetition, at: now)
            }
        }
    }
}

extension ApprovedToken {
    fileprivate func verdict(
        for answer: Result<ReplayAnswer, ReplayCacheError>, repeatable repetition: Repetition?, at now: Timestamp
    ) -> Result<Verdict, CannotTell> {
        switch answer {
        case .success(.first):
            .success(.accepted(VerifiedToken(self, firstUse: now, isRepeated: false)))
        case .success(.repeated(let since)) where repetition?.isOpen(since, at: now) ?? false:
            .success(.accepted(VerifiedToken(self, firstUse: since, isRepeated: true)))
        case .success(.alreadyUsed), .success(.repeated):
            .success(.rejected(Rejection(.alreadyUsed)))
        case .success(.predatesStore(let since)):
            .success(.rejected(Rejection(.predatesStore(issued: signed.claims.issueTime, since: since))))
        case .failure(let error):
            .failure(.replayStore(error))
        }
    }
}
