internal import Basics

/// How many connections all workers have open together, and how many from each address.
final class HTTPConnectionCount: Sendable {
    private let state = Guarded((total: 0, byPeer: [String: Int]()))

    /// Counts one more, unless there are as many as there may be.
    func enter(_ peer: String, _ limits: HTTPLimits) -> Bool {
        state.withLock { state in
            guard state.total < limits.connections else { return false }
            if !peer.isEmpty {
                guard state.byPeer[peer, default: 0] < limits.connectionsPerPeer else { return false }
                state.byPeer[peer, default: 0] += 1
            }
            state.total += 1
            return true
        }
    }

    func leave(_ peer: String) {
        state.withLock { state in
            state.total -= 1
            guard let count = state.byPeer[peer] else { return }
            state.byPeer[peer] = count > 1 ? count - 1 : nil
        }
    }

    var current: Int { state.withLock { $0.total } }
}
