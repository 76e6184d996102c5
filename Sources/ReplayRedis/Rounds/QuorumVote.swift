package import MediaToken

/// The answers of a quorum's servers to the claims of one group, and the decisions that follow from them.
///
/// A token is accepted once a majority of the servers had its claim first. Two majorities have a server in common, and
/// no server has two claims on one key first, so no token is accepted twice: whichever servers are away, start again
/// empty, or are cut off from each other. A server that may have forgotten a token answers `predatesStore`, which is no
/// vote for it. Two callers who claim one token at once may both be refused.
package struct QuorumVote {
    package typealias Answer = Result<ReplayAnswer, ReplayStoreError>

    private let servers: Int
    /// The answers so far, for each claim.
    private var votes: [[Answer]]

    /// - Parameters:
    ///   - claims: the number of claims in the group.
    ///   - servers: the number of servers that are asked.
    package init(claims: Int, servers: Int) {
        self.servers = servers
        votes = Array(repeating: [], count: claims)
    }

    /// The number of servers that suffices to accept a token: any two sets of so many have a server in common.
    package static func majority(of servers: Int) -> Int { servers / 2 + 1 }

    /// Records what one server answers, claim by claim.
    package mutating func add(_ answers: [Answer]) {
        for (position, answer) in zip(votes.indices, answers) { votes[position].append(answer) }
    }

    /// The answers to all claims; `nil` while one of them depends on a server that has not answered.
    package var answers: [Answer]? {
        let answers = votes.compactMap(answer)
        return answers.count == votes.count ? answers : nil
    }

    private func answer(to votes: [Answer]) -> Answer? {
        let majority = Self.majority(of: servers)
        var (firsts, uses) = (0, 0)
        var (retries, fences): ([Timestamp], [Timestamp]) = ([], [])
        var errors: [ReplayStoreError] = []
        for vote in votes {
            switch vote {
            case .success(.first): firsts += 1
            case .success(.repeated(let since)): retries.append(since)
            case .success(.alreadyUsed): uses += 1
            case .success(.predatesStore(let since)): fences.append(since)
            case .failure(.conflicting(let what)): return .failure(.conflicting(what))
            case .failure(let error): errors.append(error)
            }
        }
        if firsts >= majority { return .success(.first) }
        // A server that this caller was first at before counts for it, since no other caller can be first there.
        let granted = firsts + retries.count
        // A retry of what never got a majority is a first use, if enough servers say so.
        let mayBeFirst = firsts + servers - votes.count >= majority
        if granted >= majority, !mayBeFirst, let since = retries.min() { return .success(.repeated(since: since)) }
        if uses >= majority { return .success(.alreadyUsed) }
        guard votes.count == servers else { return nil }
        if fences.count >= majority {
            // The servers that have no fence would vote for a later token, so it needs this many of the others.
            let needed = majority - (servers - fences.count - errors.count)
            return .success(.predatesStore(since: fences.sorted()[needed - 1]))
        }
        // A server has another claim on the token, and the rest do not suffice, whether or not that other claim won.
        let isUsed = uses > 0 && errors.count < majority
        return isUsed ? .success(.alreadyUsed) : .failure(.undecided(by: servers, errors, fenced: fences.count))
    }
}

extension ReplayStoreError {
    /// The error of a quorum, in which these servers cannot be relied on, and the others do not suffice.
    ///
    /// - Parameter fenced: the number of servers that have no vote, since they remember only tokens issued later.
    static func undecided(by servers: Int, _ errors: [ReplayStoreError], fenced: Int = 0) -> ReplayStoreError {
        guard servers > 1 else { return errors[0] }
        let reasons = errors.map { if case .unavailable(let what) = $0 { what } else { $0.description } }
        return .unavailable(
            "\(errors.count) of \(servers) servers cannot be relied on: " + reasons.joined(separator: "; ")
                + (fenced > 0 ? "; \(fenced) remember only tokens issued later" : ""))
    }
}

extension ReplayLookupResult {
    /// The answer that a claim would get from the server that was asked.
    var vote: ReplayAnswer {
        switch use {
        case .unused: .first
        case .used: .alreadyUsed
        case .predatesStore(let since): .predatesStore(since: since)
        case .forgotten: .predatesStore(since: keptUntil)
        }
    }
}
