import Foundation
package import MediaToken
import Synchronization

/// Many threads that throw the same claims at one store.
package enum ReplayRace {
    /// The claim with a number: its key is spread as a digest is, its life seven minutes.
    package static func claim(_ number: UInt64, at issued: Timestamp) -> ReplayClaim {
        let word = number &* 0x9E37_79B9_7F4A_7C15
        let until = Timestamp(milliseconds: issued.milliseconds + 420_000)
        return ReplayClaim(key: ReplayKey(words: (word, word &+ 1, number, ~word)), issued: issued, until: until)
    }

    /// How often a claim was first.
    ///
    /// - Throws: if any claim could not be decided, or was answered otherwise than first or already used.
    package static func run(
        _ cache: any ReplayStore, threads count: Int, keys: Int, group: Int, at now: Timestamp
    ) throws -> Int {
        let firsts = Atomic<Int>(0)
        let others = Atomic<Int>(0)
        let faults = Atomic<Int>(0)
        let threads = (0..<count).map { thread in
            Thread {
                for position in stride(from: 0, to: keys, by: group) {
                    // Each thread goes through the keys from another place.
                    let claims = (position..<(position + group)).map {
                        claim(UInt64(($0 + thread * 157) % keys), at: now)
                    }
                    for answer in cache.claim(claims, at: now) {
                        switch answer {
                        case .success(.first): firsts.add(1, ordering: .relaxed)
                        case .success(.alreadyUsed): others.add(1, ordering: .relaxed)
                        default: faults.add(1, ordering: .relaxed)
                        }
                    }
                }
            }
        }
        threads.forEach { $0.start() }
        while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
        let (first, other, fault) = (
            firsts.load(ordering: .relaxed), others.load(ordering: .relaxed), faults.load(ordering: .relaxed)
        )
        guard fault == 0, first + other == count * keys else {
            throw Program.Failure(description: "\(first) first, \(other) already used, \(fault) undecided")
        }
        return first
    }
}
