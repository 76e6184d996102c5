internal import Threading

/// How many connections all workers have open together, and how many from each address.
final class HTTPConnectionCount: Sendable {
    private let lock = Lock()
    private nonisolated(unsafe) var total = 0
    private nonisolated(unsafe) var byPeer: [String: Int] = [:]

    /// Counts one more, unless there are as many as there may be.
    func enter(_ peer: String, _ limits: HTTPLimits) -> Bool {
        lock.withLock {
            guard total < limits.connections else { return false }
            if !peer.isEmpty {
                guard byPeer[peer, default: 0] < limits.connectionsPerPeer else { return false }
                byPeer[peer, default: 0] += 1
            }
            total += 1
            return true
        }
    }

    func leave(_ peer: String) {
        lock.withLock {
            total -= 1
            guard let count = byPeer[peer] else { return }
            byPeer[peer] = count > 1 ? count - 1 : nil
        }
    }

    var current: Int { lock.withLock { total } }
}
