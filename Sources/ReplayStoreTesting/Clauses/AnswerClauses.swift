internal import Basics
internal import Glibc
internal import MediaToken

/// The clauses on what a store answers to one caller.
enum AnswerClauses {
    static let all = [
        once, similarKeys, remembered, realTime, clockGoesBack, steppingClock, groups, fingerprints, counts, forms,
        fence, reopening,
    ]

    private static let minute = Duration.seconds(60)

    private static let once = ReplayStoreClause("a key is first once") { trial in
        try trial.withStore { store in
            for number in 0..<100 as Range<UInt64> {
                try store.expect(.first, to: trial.claim(number), at: trial.issued, "a new key")
            }
            for number in 0..<100 as Range<UInt64> {
                try store.expect(.alreadyUsed, to: trial.claim(number), at: trial.later(minute), "a key claimed before")
            }
        }
    }

    private static let similarKeys = ReplayStoreClause("keys that agree in part are different keys") { trial in
        try trial.withStore { store in
            let keys: [(UInt64, UInt64, UInt64, UInt64)] = [(1, 2, 3, 4), (1, 2, 4, 4), (1, 3, 3, 4), (1, 0, 0, 0)]
            for words in keys {
                let claim = ReplayClaim(
                    key: ReplayKey(words: words), issued: trial.issued, until: trial.later(minute))
                try store.expect(.first, to: claim, at: trial.issued, "the key \(words)")
                try store.expect(.alreadyUsed, to: claim, at: trial.issued, "the key \(words), again")
            }
        }
    }

    private static let remembered = ReplayStoreClause(
        "a key is remembered for as long as any policy may accept its token"
    ) { trial in
        try trial.withStore { store in
            // Lives that end at every second of an expiry bucket.
            let claims = (0..<60).map { trial.claim($0, life: .seconds(420 + Int64($0))) }
            for claim in claims { try store.expect(.first, to: claim, at: trial.issued, "a new key") }
            for claim in claims {
                let last = claim.until.advanced(by: VerificationPolicy.largestClockSkew)
                try store.expect(.alreadyUsed, to: claim, at: last, "a key that the largest clock skew still allows")
            }
        }
    }

    private static let realTime = ReplayStoreClause(
        "a key is remembered when time has really passed, whatever its callers' clocks say"
    ) { trial in
        try trial.withStore { store in
            let claim = trial.claim(1, life: .seconds(1))
            try store.expect(.first, to: claim, at: trial.issued, "a new key that lives a second")
            sleep(3)
            for (second, circumstance) in [
                (0, "when its caller's clock has stood still"), (121, "two minutes after its end"),
            ] {
                try store.expect(.alreadyUsed, to: claim, at: trial.later(.seconds(second)), circumstance)
            }
        }
    }

    private static let clockGoesBack = ReplayStoreClause("no key is first again when the clock goes back") { trial in
        try trial.withStore { store in
            try store.expect(.first, to: trial.claim(1), at: trial.issued, "a new key")
            let ahead = trial.later(.seconds(86_400))
            try store.expect(
                .first, to: trial.claim(2, issued: ahead, life: minute), at: ahead, "a new key a day later")
            for shard in 0..<256 as Range<UInt64> {
                let other = ReplayClaim(
                    key: ReplayKey(words: (shard << 56, shard, 5, 5)), issued: ahead, until: ahead.advanced(by: minute))
                try store.expect(.first, to: other, at: ahead, "a new key a day later")
            }
            // A store that has dropped the key by now cannot rule out its use; one whose server has a clock of its own
            // still knows it.
            let answer = try store.store.claim(trial.claim(1), at: trial.issued)
            guard answer != .first else {
                throw ReplayStoreViolation(
                    expected: "another answer than first for a key of the day before", found: "first")
            }
        }
    }

    private static let steppingClock = ReplayStoreClause(
        "no clock that steps, by seconds or by hours, makes a key first twice"
    ) { trial in
        let firsts = try trial.withStore { store in
            var firsts: [UInt64: Int] = [:]
            let (hour, day) = (3600, 86_400) as (Int64, Int64)
            let seconds = [0, 5, -5, 0, hour, -hour, hour + 5, 0, day, 1, 720, day - 720, 60, -day, day]
            for (step, second) in seconds.enumerated() {
                // The tokens of all steps so far are claimed again, and ten new ones, issued at this step's time. A
                // store whose server has a clock of its own answers an error where the two are far apart.
                for number in 0..<UInt64(10 * (step + 1)) {
                    let issued = trial.later(.seconds(seconds[Int(number / 10)]))
                    let claim = ReplayRace.claim(number, at: issued)
                    if (try? store.store.claim(claim, at: trial.later(.seconds(second)))) == .first {
                        firsts[number, default: 0] += 1
                    }
                }
            }
            return firsts
        }
        if let (number, count) = firsts.first(where: { $0.value > 1 }) {
            throw ReplayStoreViolation(expected: "key \(number) to be first once", found: "it was \(count) times")
        }
        guard let lost = (0..<20 as Range<UInt64>).first(where: { firsts[$0] == nil }) else { return }
        throw ReplayStoreViolation(
            expected: "key \(lost) to be first, before the clock steps far", found: "it never was")
    }

    private static let groups = ReplayStoreClause("the claims of a group are decided in order") { trial in
        try trial.withStore { store in
            try store.expect(
                [.first, .first, .alreadyUsed, .first, .alreadyUsed], to: [1, 2, 1, 3, 2].map { trial.claim($0) },
                at: trial.issued, "the keys 1, 2, 1, 3, 2")
            // Twins that stand far apart.
            let numbers = Array(10..<1500 as Range<UInt64>)
            try store.expect(
                numbers.map { _ in .first } + numbers.map { _ in .alreadyUsed },
                to: (numbers + numbers.reversed()).map { trial.claim($0) }, at: trial.issued,
                "a group with each of \(numbers.count) keys twice")
        }
    }

    private static let fingerprints = ReplayStoreClause(
        "a retry is recognised by the fingerprint of the first claim alone"
    ) { trial in
        try trial.withStore { store in
            let key = trial.claim(1).key
            let (mine, other) = (
                try RetryFingerprint(of: key, secret: [1]), try RetryFingerprint(of: key, secret: [2])
            )
            let retried = ReplayAnswer.repeated(since: trial.issued)
            try store.expect(
                .first, to: trial.claim(1, fingerprint: mine), at: trial.issued, "a new key with a fingerprint")
            for (fingerprint, answer, circumstance) in [
                (mine, retried, "a retry"), (other, .alreadyUsed, "a claim with another fingerprint"),
                (nil, .alreadyUsed, "a claim without the fingerprint"), (mine, retried, "a second retry"),
            ] as [(RetryFingerprint?, ReplayAnswer, String)] {
                let claim = trial.claim(1, fingerprint: fingerprint)
                try store.expect(answer, to: claim, at: trial.later(.milliseconds(500)), circumstance)
            }
            try store.expect(.first, to: trial.claim(2), at: trial.issued, "a new key without a fingerprint")
            for fingerprint in [mine, nil, mine] {
                let claim = trial.claim(2, fingerprint: fingerprint)
                try store.expect(.alreadyUsed, to: claim, at: trial.issued, "a key first claimed without a fingerprint")
            }
            try store.expect(
                [.first, retried, .alreadyUsed, .alreadyUsed, retried, .first, .alreadyUsed],
                to: [mine, mine, other, nil, mine].map { trial.claim(3, fingerprint: $0) } + [
                    trial.claim(4), trial.claim(4, fingerprint: mine),
                ], at: trial.issued, "a group with fingerprints")
            guard let entries = try store.entries(), entries != 4 else { return }
            throw ReplayStoreViolation(expected: "4 entries", found: "\(entries)")
        }
    }

    private static let counts = ReplayStoreClause(
        "a group has as many answers as claims, and an empty group has none",
        suspending: { trial in
            try await trial.withStore(suspending: { store in
                for count in [0, 1, 2, 100, 3000] {
                    let claims = (0..<UInt64(count)).map { trial.claim($0) }
                    let answers = await BlockingCalls.perform { store.store.claim(claims, at: trial.issued) }
                    try demand(count: count, of: answers, "\(count) claims")
                    let others = await store.store.claimWithoutBlocking(claims, at: trial.issued)
                    try demand(count: count, of: others, "\(count) claims without blocking")
                }
            })
        })
}
