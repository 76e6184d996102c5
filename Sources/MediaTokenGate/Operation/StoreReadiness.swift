internal import Basics
package import MediaToken
package import ReplayStores

/// What the replay store lets the gate do: by what the store reports, and by the claims that it fails to decide.
///
/// A gate whose store is new waits until the store's fence has passed, since it would refuse the token of every play.
/// It waits only once: when a store sets a fence later, all gates that share it have the same one, and they still serve
/// viewers who have playback grants.
package final class StoreReadiness: Sendable {
    /// The answer to an operator's question.
    package enum Answer: Equatable, Sendable {
        case ready
        /// The store is new, and its fence passes after so many seconds.
        case fenced(seconds: Int64)
        /// The store does not work.
        case failed(ReplayStoreError)
    }

    /// What the operator is told once, when it happens.
    package enum Change: Equatable, Sendable {
        /// The store does not work, or has failed to decide a claim.
        case lost(ReplayStoreError)
        case regained
        /// The store has a later fence than before, which has not passed yet.
        ///
        /// - Parameter isReady: Whether the gate is ready all the same.
        case fenced(until: Timestamp, isReady: Bool)
        /// These servers of a quorum cannot be relied on, and before it were others or none. The rest of them suffices.
        case serversLost([ReplayStoreError])
    }

    fileprivate struct State {
        var fence: Timestamp?
        var hasBeenReady: Bool
        var isStopping = false
        /// Whether the last thing that the operator was told is that the store is lost.
        var isLost = false
        /// Whether the store has failed to decide a claim since it was last asked.
        var hasFailed = false
        var servers: [ReplayStoreReport.Server] = []
    }

    private let state: Guarded<State>
    private let tell: @Sendable (Change) -> Void

    /// - Parameters:
    ///   - waits: Whether the gate is not ready before the fence of a new store has passed.
    ///   - tell: Tells the operator, on the thread that noticed.
    package init(waits: Bool, tell: @escaping @Sendable (Change) -> Void = { _ in }) {
        state = Guarded(State(fence: nil, hasBeenReady: !waits))
        self.tell = tell
    }

    /// The fence that the store reported last; `nil` if it has none, or has not been asked.
    package var fence: Timestamp? { state.withLock { $0.fence } }

    /// The servers of a quorum, as the store reported them last.
    package var servers: [ReplayStoreReport.Server] { state.withLock { $0.servers } }

    /// Whether the gate stops, so that it is not ready whatever the store reports.
    package var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether the operator was told that the store is lost, and not yet that it works again.
    package var isLost: Bool { state.withLock { $0.isLost } }

    /// Records that the gate stops.
    package func stop() { state.withLock { $0.isStopping = true } }

    /// Records that the store did not decide a claim.
    func claimFailed(_ error: ReplayStoreError) {
        let change = state.withLock { state -> Change? in
            state.hasFailed = true
            return state.lose(error)
        }
        if let change { tell(change) }
    }

    /// Asks the store how it is, which may take until the store's deadline.
    @discardableResult
    package func ask(_ store: ConfiguredReplayStore) -> Answer {
        answer(to: Result { () throws(ReplayStoreError) in try store.report(at: .now) }, at: .now)
    }

    /// Records what the store reports. A store that was lost is regained when it works, and has decided every claim
    /// since it was asked before.
    ///
    /// - Parameter report: What the store reports, or why it does not work.
    package func answer(to report: Result<ReplayStoreReport, ReplayStoreError>, at now: Timestamp) -> Answer {
        let (answer, changes) = state.withLock { $0.take(report, at: now) }
        for change in changes { tell(change) }
        return answer
    }
}

extension StoreReadiness.State {
    fileprivate mutating func lose(_ error: ReplayStoreError) -> StoreReadiness.Change? {
        defer { isLost = true }
        return isLost ? nil : .lost(error)
    }

    fileprivate mutating func take(
        _ report: Result<ReplayStoreReport, ReplayStoreError>, at now: Timestamp
    ) -> (StoreReadiness.Answer, [StoreReadiness.Change]) {
        switch report {
        case .failure(let error): return (.failed(error), [lose(error)].compactMap(\.self))
        case .success(let report):
            var changes = take(report.servers)
            let fence = report.fence
            if isLost, !hasFailed {
                isLost = false
                changes.append(.regained)
            }
            hasFailed = false
            let seconds = fence.map { $0.secondsUntilPassed(at: now) } ?? 0
            hasBeenReady = hasBeenReady || seconds <= 0
            if let fence, seconds > 0, self.fence.map({ $0 < fence }) ?? true {
                changes.append(.fenced(until: fence, isReady: hasBeenReady))
            }
            self.fence = fence
            return (hasBeenReady ? .ready : .fenced(seconds: seconds), changes)
        }
    }

    private mutating func take(_ new: [ReplayStoreReport.Server]) -> [StoreReadiness.Change] {
        defer { servers = new }
        func lost(_ servers: [ReplayStoreReport.Server]) -> [String] {
            servers.filter { $0.problem != nil }.map(\.name)
        }
        return lost(new) == lost(servers) ? [] : [.serversLost(new.compactMap(\.problem))]
    }
}
