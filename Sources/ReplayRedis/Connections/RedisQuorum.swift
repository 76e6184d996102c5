package import EventLoops
package import MediaToken

/// The clients of a store's members, as an event loop uses them: one, or one for each server of a quorum.
///
/// It belongs to the loop's thread.
package final class RedisQuorum {
    /// A group that the servers are voting on.
    private final class Ballot {
        var vote: QuorumVote
        var answered: Set<Int> = []
        /// `nil` once the caller has its answers.
        var completion: (([QuorumVote.Answer]) -> Void)?

        init(_ vote: QuorumVote, _ completion: @escaping ([QuorumVote.Answer]) -> Void) {
            (self.vote, self.completion) = (vote, completion)
        }
    }

    let clients: [RedisReplayClient]
    /// Why servers belong to other quorums, by their positions. While one does, its answer is waited for, and nothing
    /// is accepted.
    private var conflicts: [Int: ReplayStoreError] = [:]

    package init(_ configuration: RedisConfiguration, on loop: EventLoop) {
        clients = configuration.members.map { RedisReplayClient($0, on: loop) }
    }

    /// Decides the claims of a group, in order; see `ReplayStore`. Calls `completion` once, with an answer for each,
    /// within the deadline of the configuration; it may be before this returns.
    package func claim(_ group: [ReplayClaim], at now: Timestamp, _ completion: @escaping ([QuorumVote.Answer]) -> Void)
    {
        guard clients.count > 1 else { return clients[0].claim(group, at: now, completion) }
        let ballot = Ballot(QuorumVote(claims: group.count, servers: clients.count), completion)
        for (position, client) in clients.enumerated() {
            client.claim(group, at: now) { [weak self] in self?.count($0, from: position, in: ballot) }
        }
    }

    private func count(_ answers: [QuorumVote.Answer], from position: Int, in ballot: Ballot) {
        let conflict = answers.lazy.compactMap(\.conflict).first
        record(conflict, isSettled: answers.contains(.success(.first)), at: position)
        guard let completion = ballot.completion else { return }
        ballot.vote.add(answers)
        ballot.answered.insert(position)
        guard ballot.answered.isSuperset(of: conflicts.keys) else { return }
        let conflicting = conflicts.values.first.map { conflict in
            answers.map { _ in QuorumVote.Answer.failure(conflict) }
        }
        guard let decided = conflicting ?? ballot.vote.answers else { return }
        ballot.completion = nil
        completion(decided)
    }

    /// A conflict counts from now on, however late it is reported, until the server has accepted this quorum.
    private func record(_ conflict: ReplayStoreError?, isSettled: Bool, at position: Int) {
        if conflict != nil || isSettled { conflicts[position] = conflict }
    }

    /// Opens each server's store; see ``RedisReplayClient/open(at:timeouts:looksOnly:_:)``. If the others are a
    /// majority, a server that could not be reached the last time is not waited for: its outcome is then why.
    func open(
        at now: Timestamp, timeouts: Int, looksOnly: Bool = false,
        _ completion: @escaping ([Result<Bool, ReplayStoreError>]) -> Void
    ) {
        var outcomes = clients.map { $0.failure.map { Result<Bool, ReplayStoreError>.failure($0) } }
        var (answered, isOver) = (0, false)
        for (position, client) in clients.enumerated() {
            client.open(at: now, timeouts: timeouts, looksOnly: looksOnly) { [weak self] outcome in
                (outcomes[position], answered) = (outcome, answered + 1)
                self?.record(outcome.conflict, isSettled: outcome.failure == nil, at: position)
                let known = outcomes.compactMap(\.self)
                let opened = known.count { (try? $0.get()) != nil }
                guard !isOver, known.count == outcomes.count,
                    answered == outcomes.count || opened >= QuorumVote.majority(of: outcomes.count)
                else { return }
                isOver = true
                completion(known)
            }
        }
    }

    /// The values of the servers that can be relied on.
    ///
    /// - Throws: `ReplayStoreError` if these servers are no majority, or if one of the others belongs to another
    ///   quorum.
    static func majority<Value>(
        of outcomes: [Result<Value, ReplayStoreError>]
    ) throws(ReplayStoreError) -> [Value] {
        if let conflict = outcomes.lazy.compactMap(\.conflict).first { throw conflict }
        let values = outcomes.compactMap { try? $0.get() }
        guard values.count < QuorumVote.majority(of: outcomes.count) else { return values }
        throw .undecided(by: outcomes.count, outcomes.compactMap(\.failure))
    }
}

extension Result where Failure == ReplayStoreError {
    var failure: ReplayStoreError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// Why a server belongs to another quorum; `nil` if it does not say so.
    var conflict: ReplayStoreError? {
        if case .failure(.conflicting(let what)) = self { .conflicting(what) } else { nil }
    }
}
