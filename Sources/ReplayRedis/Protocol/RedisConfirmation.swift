internal import MediaToken

/// Confirmation of what was just written by as many replicas as the configuration wants (Redis' documentation of `WAIT`).
extension RedisConfiguration {
    /// The command that waits for replicas, for half of the deadline, so that an answer comes within it; `nil` if none is wanted.
    var confirmation: RedisCommand? {
        replicas > 0 ? ["WAIT", String(replicas), String(max(1, timeout.clampedMilliseconds / 2))] : nil
    }

    /// Why the reply to ``confirmation`` confirms nothing; `nil` if it does, or if none is wanted.
    ///
    /// - Parameter lost: The error for a reply that did not come.
    func replicaDoubt(
        _ reply: RedisReply?, at address: RedisAddress, lost: ReplayStoreError
    ) -> ReplayStoreError? {
        guard replicas > 0 else { return nil }
        switch reply {
        case .integer(let count) where count >= replicas: return nil
        case .integer(let count):
            return .unavailable("\(address): \(count) of \(replicas) replicas confirmed the write in time")
        case .error(let error): return error.storeError(at: address)
        default: return lost
        }
    }
}
