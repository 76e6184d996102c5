internal import Basics

/// A dictionary whose entries expire. Expired entries are removed once the table has doubled.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (value: Value, end: Timestamp)] = [:]
    /// The number of entries at which those that have expired are removed.
    private var sweepAt = 1024

    /// An entry that has not expired at `now`.
    func value(_ key: Key, at now: Timestamp) -> (value: Value, end: Timestamp)? {
        entries[key].flatMap { $0.end > now ? $0 : nil }
    }

    mutating func set(_ key: Key, _ value: Value, until end: Timestamp, at now: Timestamp) {
        entries[key] = (value, end)
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { $0.value.end > now }
        sweepAt = max(1024, entries.count * 2)
    }

    mutating func remove(_ key: Key) { entries[key] = nil }
}
