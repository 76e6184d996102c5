internal import Basics
internal import MediaToken

/// A new place for one clause, and the times at which the clause opens stores and makes claims there.
struct Trial: Sendable {
    /// The time at which stores are opened: the present, since the server of a store may have a clock of its own.
    let opened: Timestamp
    /// The time at which most tokens are issued and claimed: an hour later, after every store's fence.
    let issued: Timestamp
    let place: String
    let subject: any ReplayStoreSubject

    init(of subject: any ReplayStoreSubject) async throws {
        self.subject = subject
        opened = .now
        issued = opened.advanced(by: .seconds(3600))
        place = try await BlockingCalls.perform(throwing: { try subject.makePlace() })
    }

    var claimsInGroup: Int { subject.claimsInGroup }

    /// The time `duration` after ``issued``.
    func later(_ duration: Duration) -> Timestamp { issued.advanced(by: duration) }

    /// A claim on the key with a number.
    func claim(
        _ number: UInt64, issued: Timestamp? = nil, life: Duration = .seconds(420), fingerprint: RetryFingerprint? = nil
    ) -> ReplayClaim {
        let issued = issued ?? self.issued
        return ReplayClaim(
            key: ReplayRace.claim(number, at: issued).key, issued: issued, until: issued.advanced(by: life),
            fingerprint: fingerprint)
    }

    /// Opens the store, has `body` use it, and closes it.
    func withStore<Value>(_ body: (TestedStore) throws -> Value) throws -> Value {
        let store = try TestedStore(of: subject, at: place, opened)
        let value: Value
        do {
            value = try body(store)
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return value
    }

    /// Opens the store, has `body` use it, and closes it, without blocking the caller's thread.
    func withStore<Value>(suspending body: (TestedStore) async throws -> Value) async throws -> Value {
        let (subject, place, opened) = (subject, place, opened)
        let store = try await BlockingCalls.perform(throwing: { try TestedStore(of: subject, at: place, opened) })
        let value: Value
        do {
            value = try await body(store)
        } catch {
            try? await BlockingCalls.perform(throwing: store.close)
            throw error
        }
        try await BlockingCalls.perform(throwing: store.close)
        return value
    }
}

/// An open store of a subject.
struct TestedStore: Sendable {
    let store: any ReplayStore
    let close: @Sendable () throws -> Void
    /// The number of tokens that the store remembers; `nil` if it cannot tell.
    let entries: @Sendable () throws -> Int?

    init(of subject: some ReplayStoreSubject, at place: String, _ now: Timestamp) throws {
        let store = try subject.open(place, at: now)
        self.store = store
        close = { try subject.close(store) }
        entries = { try subject.entries(of: store) }
    }

    /// Makes a claim.
    ///
    /// - Throws: ``ReplayStoreViolation`` if the answer is another than `expected`.
    func expect(_ expected: ReplayAnswer, to claim: ReplayClaim, at now: Timestamp, _ circumstance: String) throws {
        let answer = Result { () throws(ReplayStoreError) in try store.claim(claim, at: now) }
        try demand(expected, is: answer, circumstance)
    }

    /// Makes the claims of a group.
    ///
    /// - Throws: ``ReplayStoreViolation`` if the answers are others than `expected`.
    func expect(_ expected: [ReplayAnswer], to group: [ReplayClaim], at now: Timestamp, _ circumstance: String) throws {
        let answers = store.claim(group, at: now)
        try demand(count: expected.count, of: answers, circumstance)
        for (position, (wanted, answer)) in zip(expected, answers).enumerated() {
            try demand(wanted, is: answer, "claim \(position + 1) of \(circumstance)")
        }
    }
}
