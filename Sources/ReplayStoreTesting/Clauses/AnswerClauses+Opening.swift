internal import Basics
internal import MediaToken

/// The clauses on the two forms of a claim, and on what a store knows from its beginning on.
extension AnswerClauses {
    static let forms = ReplayStoreClause(
        "a claim is answered alike whether it blocks or not",
        suspending: { trial in
            try await trial.withStore(suspending: { store in
                // The two groups have the same shape and different keys. Each form of a claim is the first to claim one
                // of them.
                let (left, right) = (try mixedGroup(of: trial, from: 0), try mixedGroup(of: trial, from: 100))
                for time in [trial.issued, trial.later(.seconds(60))] {
                    for (blocked, suspended) in [(left, right), (right, left)] {
                        let answers = await BlockingCalls.perform { store.store.claim(blocked, at: time) }
                        let others = await store.store.claimWithoutBlocking(suspended, at: time)
                        guard !answers.elementsEqual(others, by: isAlike) else { continue }
                        let (left, right) = (answers.map(text), others.map(text))
                        throw ReplayStoreViolation(
                            expected: "without blocking \(left.joined(separator: ", "))",
                            found: right.joined(separator: ", "))
                    }
                }
            })
        })

    /// Whether two answers are of one kind. A store of several parts may have a beginning in each, so two tokens that
    /// were issued before it may be told different ones.
    private static func isAlike(_ left: ClaimResult, _ right: ClaimResult) -> Bool {
        if case (.success(.predatesStore), .success(.predatesStore)) = (left, right) { true } else { left == right }
    }

    /// A group with each kind of answer: first, used, retried, issued before the store.
    private static func mixedGroup(of trial: Trial, from number: UInt64) throws -> [ReplayClaim] {
        let fingerprint = try RetryFingerprint(of: trial.claim(number).key, secret: [1])
        return [
            trial.claim(number, fingerprint: fingerprint), trial.claim(number, fingerprint: fingerprint),
            trial.claim(number), trial.claim(number + 1), trial.claim(number + 1, fingerprint: fingerprint),
            trial.claim(number + 2, issued: trial.opened), trial.claim(number + 3),
        ]
    }

    static let fence = ReplayStoreClause(
        "a token issued up to the store's beginning predates it, and a token issued after that is first"
    ) { trial in
        try trial.withStore { store in
            var latest = trial.opened
            for number in 0..<20 as Range<UInt64> {
                latest = max(latest, try beginning(for: number, in: store, trial))
            }
            // A store of several parts may begin at a different time in each. A claim on a part that began later is
            // answered with that time.
            var (issued, firsts) = (latest.advanced(by: .milliseconds(1)), 0)
            for number in 100..<1000 as Range<UInt64> where firsts < 20 {
                let claim = trial.claim(number, issued: issued)
                let answer = try store.store.claim(claim, at: issued)
                if case .predatesStore(let since) = answer, since >= issued {
                    issued = since.advanced(by: .milliseconds(1))
                } else {
                    try demand(.first, is: .success(answer), "a token issued a millisecond after the store's beginning")
                    try store.expect(.alreadyUsed, to: claim, at: issued, "that token, again")
                    firsts += 1
                }
            }
            guard firsts < 20 else { return }
            throw ReplayStoreViolation(
                expected: "20 tokens to be first that were issued after the store's beginning", found: "\(firsts)")
        }
    }

    /// The time that the store names as the beginning of its records for a key. The store must name it for every token
    /// with that key that was issued up to then.
    private static func beginning(for number: UInt64, in store: TestedStore, _ trial: Trial) throws -> Timestamp {
        let answer = try store.store.claim(trial.claim(number, issued: trial.opened), at: trial.opened)
        guard case .predatesStore(let beginning) = answer, beginning >= trial.opened else {
            throw ReplayStoreViolation(
                expected: "predatesStore since \(trial.opened.internetText) or later, for a token issued then",
                found: text(of: .success(answer)))
        }
        let before = beginning.advanced(by: .seconds(-60))
        for (issued, circumstance) in [(before, "a minute before"), (beginning, "at"), (beginning, "again at")] {
            try store.expect(
                answer, to: trial.claim(number, issued: issued), at: beginning,
                "a token issued \(circumstance) the store's beginning")
        }
        return beginning
    }

    static let reopening = ReplayStoreClause(
        "a key that was claimed before the store was closed is used when it is open again", needs: .reopening
    ) { trial in
        let fingerprint = try RetryFingerprint(of: trial.claim(1).key, secret: [1])
        let retried = trial.claim(1, fingerprint: fingerprint)
        let beginning = try trial.withStore { store in
            try store.expect(.first, to: retried, at: trial.issued, "a new key with a fingerprint")
            try store.expect(.first, to: trial.claim(2), at: trial.issued, "a new key")
            return try store.store.claim(trial.claim(3, issued: trial.opened), at: trial.issued)
        }
        for number in 4..<7 as Range<UInt64> {
            try trial.withStore { store in
                try store.expect(
                    .repeated(since: trial.issued), to: retried, at: trial.issued, "a retry of before the reopening")
                try store.expect(
                    .alreadyUsed, to: trial.claim(2), at: trial.issued, "a key of before the reopening")
                try store.expect(
                    beginning, to: trial.claim(3, issued: trial.opened), at: trial.issued,
                    "a token issued before the store")
                try store.expect(
                    .first, to: trial.claim(number), at: trial.issued, "a new key after the reopening")
            }
        }
        // A day later the store may delete the records. It must know that it did, also when it is open again.
        let ahead = trial.later(.seconds(86_400))
        try trial.withStore { _ = try? $0.store.claim(ReplayRace.claim(7, at: ahead), at: ahead) }
        try trial.withStore { store in
            guard try store.store.claim(trial.claim(2), at: trial.issued) == .first else { return }
            throw ReplayStoreViolation(
                expected: "another answer than first for a key of the day before, once the store is open again",
                found: "first")
        }
    }
}
