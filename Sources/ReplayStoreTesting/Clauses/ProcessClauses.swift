internal import Basics
internal import Glibc
internal import MediaToken

/// The clauses on several processes that use one place.
enum ProcessClauses {
    static let all = [handles, race, killed, idle, stopped]

    private static let handles = ReplayStoreClause(
        "64 threads with two stores that one process has opened, eight of them at each of 10,000 keys, get each key first once",
        needs: .processes
    ) { trial in
        try trial.withStore { first in
            try trial.withStore { second in
                let stores = [first.store, second.store]
                try RaceClauses.demandEachFirst(
                    try ReplayRace.run(
                        AlternatingStores(stores), threads: ReplayRace.callers, keys: ReplayRace.keys,
                        group: trial.claimsInGroup, at: trial.issued))
            }
            // Closing one must not open what the other guards.
            for number in 0..<100 as Range<UInt64> {
                try first.expect(
                    .alreadyUsed, to: trial.claim(number), at: trial.issued, "a key that was claimed before")
            }
        }
    }

    /// Stores of one place, which get groups in turn.
    private final class AlternatingStores: ReplayStore {
        private let stores: [any ReplayStore]
        private let turn = Guarded(0)

        init(_ stores: [any ReplayStore]) { self.stores = stores }

        func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            return stores[turn % stores.count].claim(group, at: now)
        }
    }

    private static let race = ReplayStoreClause(
        "4 processes of 64 threads, eight of them at each of 10,000 keys, get each key first once", needs: .processes
    ) { trial in
        // The place has a store, which nobody has open.
        try trial.withStore { _ in }
        let workers = try (0..<4).map { _ in
            try trial.worker(.race(threads: ReplayRace.callers, keys: ReplayRace.keys, group: trial.claimsInGroup))
        }
        let firsts = try workers.map { worker in
            let lines = try worker.finish()
            guard lines.count == 1, let count = Int(lines[0]) else {
                throw ReplayStoreViolation(expected: "a number of each worker", found: "\(lines)")
            }
            return count
        }
        try RaceClauses.demandEachFirst(firsts.reduce(0, +))
    }

    private static let killed = ReplayStoreClause(
        "however a process is killed while it claims, no key is first twice and none is forgotten", needs: .processes
    ) { trial in
        try trial.withStore { _ in }
        var seen: Set<UInt64> = []
        let rounds = 50
        for round in 0..<rounds {
            // Each worker begins before the last key that was first, and so claims many keys again.
            let worker = try trial.worker(.series(from: max(200, seen.max() ?? 0) - 200))
            // Every fifth dies while it starts, opens its store, or has just begun.
            let begun = try worker.lines(round % 5 == 0 ? 0 : 25)
            let lines = try begun + worker.lines(within: .milliseconds(2 * round)) + worker.killed()
            for number in try numbers(in: lines) where !seen.insert(number).inserted {
                throw ReplayStoreViolation(expected: "key \(number) to be first once", found: "it was twice")
            }
        }
        guard seen.count >= 20 * rounds else {
            throw ReplayStoreViolation(expected: "\(20 * rounds) keys of the workers", found: "\(seen.count)")
        }
        try demandKept(seen, lostAnswers: rounds, in: trial)
    }

    private static let idle = ReplayStoreClause(
        "what other processes claimed while a process was idle is used for it, also once earlier records have expired",
        needs: .processes
    ) { trial in
        try trial.withStore { store in
            // Records that expire while the process is idle, so that the others may delete them.
            for number in 0..<200 as Range<UInt64> {
                let claim = trial.claim(number, life: .seconds(30))
                try store.expect(.first, to: claim, at: trial.issued, "a new key")
            }
            let (early, late) = (trial.later(.seconds(600)), trial.later(.seconds(1200)))
            var claims: [(number: UInt64, claim: ReplayClaim)] = []
            for (start, issued) in [(10_000_000, early), (20_000_000, late)] as [(UInt64, Timestamp)] {
                let worker = try trial.worker(.series(from: start), at: issued)
                let seen = try numbers(in: try worker.lines(10) + worker.killed())
                claims += seen.map { ($0, ReplayRace.claim($0, at: issued)) }
            }
            guard claims.count >= 20 else {
                throw ReplayStoreViolation(expected: "20 keys of the workers", found: "\(claims.count)")
            }
            for (number, claim) in claims {
                try store.expect(
                    .alreadyUsed, to: claim, at: late, "key \(number), which was first for another process")
            }
        }
    }

    /// The keys of a series that were first. A worker that could not decide a claim breaks the clause.
    private static func numbers(in lines: [String]) throws(ReplayStoreViolation) -> [UInt64] {
        var numbers: [UInt64] = []
        for line in lines {
            guard let number = UInt64(line) else {
                throw ReplayStoreViolation(expected: "a decision on every claim of a worker", found: line)
            }
            numbers.append(number)
        }
        return numbers
    }

    /// Demands that the store knows all keys that were first, and beyond them at most one for each worker that was
    /// killed between its claim and its line: that key is consumed, which is safe.
    private static func demandKept(_ seen: Set<UInt64>, lostAnswers limit: Int, in trial: Trial) throws {
        try trial.withStore { store in
            let end = (seen.max() ?? 0) + UInt64(limit)
            if let entries = try store.entries(), !(seen.count...seen.count + limit).contains(entries) {
                throw ReplayStoreViolation(
                    expected: "\(seen.count) to \(seen.count + limit) entries", found: "\(entries)")
            }
            var used = 0
            for begin in stride(from: 0, through: end, by: 100) {
                let numbers = Array(begin..<begin + 100)
                let answers = store.store.claim(numbers.map { trial.claim($0) }, at: trial.issued)
                try demand(count: numbers.count, of: answers, "\(numbers.count) claims")
                for (number, answer) in zip(numbers, answers) {
                    if seen.contains(number) {
                        try demand(.alreadyUsed, is: answer, "key \(number), which was first for a killed worker")
                    } else if answer != .success(.alreadyUsed) {
                        try demand(.first, is: answer, "key \(number), which was first for no worker")
                    }
                    if answer == .success(.alreadyUsed) { used += 1 }
                }
            }
            guard used > seen.count + limit else { return }
            throw ReplayStoreViolation(
                expected: "at most \(limit) used keys beyond \(seen.count)", found: "\(used - seen.count)")
        }
    }
}

extension Trial {
    /// Starts a worker, whose tokens are issued at a time: that of the trial if none is given.
    func worker(
        _ kind: ReplayStoreWorker.Work.Kind, at issued: Timestamp? = nil
    ) throws(ReplayStoreViolation) -> WorkerProcess {
        guard case .processes(let command, _) = subject.sharing else {
            throw ReplayStoreViolation(expected: "a store that processes share", found: "\(subject.sharing)")
        }
        let work = ReplayStoreWorker.Work(kind, at: place, opened: opened, issued: issued ?? self.issued)
        return try WorkerProcess(command, work)
    }
}
