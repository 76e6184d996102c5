package import EventLoops
package import MediaToken

/// A Redis store as an event loop uses it: one client, or one for each server of a quorum.
///
/// It belongs to the loop's thread.
package final class RedisQuorum {
    /// A group that the servers are voting on.
    private final class Ballot {
        var vote: QuorumVote
        /// `nil` once the caller has its answers. Servers that answer later change nothing.
        var completion: (([QuorumVote.Answer]) -> Void)?

        init(_ vote: QuorumVote, _ completion: @escaping ([QuorumVote.Answer]) -> Void) {
            (self.vote, self.completion) = (vote, completion)
        }
    }

    let clients: [RedisReplayClient]

    package init(_ configuration: RedisConfiguration, on loop: EventLoop) {
        clients = configuration.members.map { RedisReplayClient($0, on: loop) }
    }

    /// Decides the claims of a group, in order; see `ReplayStore`. Calls `completion` once, with an answer for each,
    /// within the deadline of the configuration; it may be before this returns.
    package func claim(_ group: [ReplayClaim], at now: Timestamp, _ completion: @escaping ([QuorumVote.Answer]) -> Void)
    {
        guard clients.count > 1 else { return clients[0].claim(group, at: now, completion) }
        let ballot = Ballot(QuorumVote(claims: group.count, servers: clients.count), completion)
        for client in clients {
            client.claim(group, at: now) { answers in
                guard let completion = ballot.completion else { return }
                ballot.vote.add(answers)
                guard let decided = ballot.vote.answers else { return }
                ballot.completion = nil
                completion(decided)
            }
        }
    }

    /// Opens each server's store; see ``RedisReplayClient/open(at:timeouts:_:)``.
    ///
    /// - Parameters:
    ///   - waitsForAll: whether to wait for each server or its deadline, rather than for a majority that is opened.
    ///   - completion: called with the outcome for each server; `nil` for one that was not waited for.
    func open(
        at now: Timestamp, timeouts: Int, waitsForAll: Bool,
        _ completion: @escaping ([Result<Void, ReplayStoreError>?]) -> Void
    ) {
        var outcomes: [Result<Void, ReplayStoreError>?] = clients.map { _ in nil }
        var isOver = false
        for (position, client) in clients.enumerated() {
            client.open(at: now, timeouts: timeouts) { outcome in
                outcomes[position] = outcome
                let known = outcomes.compactMap(\.self)
                let opened = known.count { (try? $0.get()) != nil }
                let isMajority = opened >= QuorumVote.majority(of: outcomes.count)
                guard !isOver, known.count == outcomes.count || !waitsForAll && isMajority else { return }
                isOver = true
                completion(outcomes)
            }
        }
    }

    /// What those servers gave that can be relied on, if they are a majority.
    static func majority<Value>(
        of outcomes: [Result<Value, ReplayStoreError>], among servers: Int
    ) -> Result<[Value], ReplayStoreError> {
        var (values, errors): ([Value], [ReplayStoreError]) = ([], [])
        for outcome in outcomes {
            switch outcome {
            case .success(let value): values.append(value)
            case .failure(.conflicting(let what)): return .failure(.conflicting(what))
            case .failure(let error): errors.append(error)
            }
        }
        guard values.count < QuorumVote.majority(of: servers) else { return .success(values) }
        return .failure(.undecided(by: servers, errors))
    }
}
