internal import Basics
package import MediaToken

/// Many callers that throw the same claims at one store.
package enum ReplayRace {
    static let callers = 64
    static let keys = 10_000
    /// The number of callers that claim each key. They begin at the same one, because callers of the same speed never
    /// meet if they begin at different keys. More callers would only learn that the key is used.
    private static let rivals = 8

    /// The claim with a number: its key is spread as a digest is, its life seven minutes.
    package static func claim(_ number: UInt64, at issued: Timestamp) -> ReplayClaim {
        let word = number &* 0x9E37_79B9_7F4A_7C15
        return ReplayClaim(
            key: ReplayKey(words: (word, word &+ 1, number, ~word)), issued: issued,
            until: issued.advanced(by: .seconds(420)))
    }

    /// The claim of one of the callers. Of three keys, the first is claimed without a fingerprint, the second with one
    /// for each caller, and the third with one that all callers share, for whom every claim but the first is a retry.
    private static func claim(_ number: UInt64, at issued: Timestamp, by caller: Int) -> ReplayClaim {
        let claim = claim(number, at: issued)
        guard number % 3 > 0 else { return claim }
        let secret = [UInt8(truncatingIfNeeded: number % 3 == 1 ? caller : callers)]
        return ReplayClaim(
            key: claim.key, issued: claim.issued, until: claim.until,
            fingerprint: try? RetryFingerprint(of: claim.key, secret: secret))
    }

    /// Starts threads that claim keys, eight threads for each key, and returns the number of claims that were first.
    ///
    /// - Throws: ``ReplayStoreViolation`` if a claim could not be decided, or was answered otherwise than first,
    ///   already used or repeated.
    package static func run(
        _ store: any ReplayStore, threads count: Int, keys: Int, group: Int, at now: Timestamp
    ) throws(ReplayStoreViolation) -> Int {
        let tally = Tally()
        let threads = (0..<count).compactMap { caller in
            ServiceThread {
                for claims in groups(of: caller, among: count, keys: keys, group: group, at: now) {
                    tally.add(store.claim(claims, at: now), to: claims.count)
                }
            }
        }
        threads.forEach { $0.join() }
        guard threads.count == count else {
            throw ReplayStoreViolation(expected: "\(count) threads", found: "the system starts only \(threads.count)")
        }
        return try tally.firsts(ofClaims: claims(of: count, keys: keys))
    }

    /// Starts tasks that claim keys, eight tasks for each key and every second task without blocking, and returns the
    /// number of claims that were first.
    ///
    /// - Throws: as ``run(_:threads:keys:group:at:)``.
    static func run(
        _ store: any ReplayStore, tasks count: Int, keys: Int, group: Int, at now: Timestamp
    ) async throws(ReplayStoreViolation) -> Int {
        let tally = Tally()
        await withTaskGroup(of: Void.self) { tasks in
            for caller in 0..<count {
                tasks.addTask {
                    for claims in groups(of: caller, among: count, keys: keys, group: group, at: now) {
                        let answers =
                            caller.isMultiple(of: 2)
                            ? await store.claimWithoutBlocking(claims, at: now)
                            : await BlockingCalls.perform { store.claim(claims, at: now) }
                        tally.add(answers, to: claims.count)
                    }
                }
            }
        }
        return try tally.firsts(ofClaims: claims(of: count, keys: keys))
    }

    /// The number of claims that `count` callers make together.
    private static func claims(of count: Int, keys: Int) -> Int {
        (0..<count).reduce(0) { $0 + part(of: $1, among: count, keys: keys).count }
    }

    /// The keys that a caller claims.
    private static func part(of caller: Int, among count: Int, keys: Int) -> Range<Int> {
        let parts = max(count / rivals, 1)
        let part = caller / rivals % parts
        return (keys * part / parts)..<(keys * (part + 1) / parts)
    }

    /// The claims of a caller, in groups.
    private static func groups(
        of caller: Int, among count: Int, keys: Int, group: Int, at now: Timestamp
    ) -> some Sequence<[ReplayClaim]> {
        let part = part(of: caller, among: count, keys: keys)
        return stride(from: part.lowerBound, to: part.upperBound, by: group).lazy.map { position in
            (position..<min(position + group, part.upperBound)).map { claim(UInt64($0), at: now, by: caller) }
        }
    }
}

/// Counts the answers of a race.
private final class Tally: Sendable {
    private struct Counts {
        var (firsts, used) = (0, 0)
        /// The first answer that a race must not have.
        var other: String?
    }

    private let counts = Guarded(Counts())

    func add(_ answers: [ClaimResult], to claims: Int) {
        counts.withLock { counts in
            if answers.count != claims { counts.other = "\(answers.count) answers to \(claims) claims" }
            for answer in answers {
                switch answer {
                case .success(.first): counts.firsts += 1
                case .success(.alreadyUsed), .success(.repeated): counts.used += 1
                default: counts.other = counts.other ?? text(of: answer)
                }
            }
        }
    }

    func firsts(ofClaims claims: Int) throws(ReplayStoreViolation) -> Int {
        let counts = counts.withLock { $0 }
        guard counts.other == nil, counts.firsts + counts.used == claims else {
            throw ReplayStoreViolation(
                expected: "first, alreadyUsed or repeated for each of \(claims) claims",
                found: counts.other ?? "\(counts.firsts) first and \(counts.used) used")
        }
        return counts.firsts
    }
}
