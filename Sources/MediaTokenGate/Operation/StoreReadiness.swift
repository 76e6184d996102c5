internal import Basics
package import MediaToken

/// Whether a load balancer should send requests to the gate: by the replay store, until the gate stops.
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

    private struct State {
        var fence: Timestamp?
        var hasBeenReady: Bool
        var isStopping = false
    }

    private let state: Guarded<State>

    /// - Parameter waits: Whether the gate is not ready before the fence of a new store has passed.
    package init(waits: Bool) { state = Guarded(State(fence: nil, hasBeenReady: !waits)) }

    /// The fence that the store reported last; `nil` if it has none, or has not been asked.
    package var fence: Timestamp? { state.withLock { $0.fence } }

    /// Whether the gate stops, so that it is not ready whatever the store reports.
    package var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Records that the gate stops.
    package func stop() { state.withLock { $0.isStopping = true } }

    /// Records what the store reports.
    ///
    /// - Parameter report: The store's fence, `nil` if it has none, or why the store does not work.
    package func answer(to report: Result<Timestamp?, ReplayStoreError>, at now: Timestamp) -> Answer {
        state.withLock { state in
            switch report {
            case .failure(let error): return .failed(error)
            case .success(let fence):
                state.fence = fence
                let seconds = fence.map { $0.secondsUntilPassed(at: now) } ?? 0
                guard !state.hasBeenReady, seconds > 0 else {
                    state.hasBeenReady = true
                    return .ready
                }
                return .fenced(seconds: seconds)
            }
        }
    }
}
