internal import MediaToken

/// The clauses on many callers at once.
enum RaceClauses {
    static let all = [threads, tasks]

    private static let threads = ReplayStoreClause(
        "64 threads, eight of them at each of 10,000 keys, get each key first once"
    ) { trial in
        try demandEachFirst(
            try trial.withStore {
                try ReplayRace.run(
                    $0.store, threads: ReplayRace.callers, keys: ReplayRace.keys, group: trial.claimsInGroup,
                    at: trial.issued)
            })
    }

    private static let tasks = ReplayStoreClause(
        "64 tasks, eight of them at each of 10,000 keys and half of them without blocking, get each key first once",
        suspending: { trial in
            try demandEachFirst(
                try await trial.withStore(suspending: {
                    try await ReplayRace.run(
                        $0.store, tasks: ReplayRace.callers, keys: ReplayRace.keys, group: trial.claimsInGroup,
                        at: trial.issued)
                }))
        })

    static func demandEachFirst(_ firsts: Int) throws(ReplayStoreViolation) {
        guard firsts != ReplayRace.keys else { return }
        throw ReplayStoreViolation(
            expected: "\(ReplayRace.keys) claims to be first", found: "\(firsts) that were")
    }
}
