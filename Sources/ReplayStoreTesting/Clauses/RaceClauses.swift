internal import MediaToken

/// The clauses on many callers at once.
enum RaceClauses {
    static let all = [threads, tasks]

    private static let threads = ReplayStoreClause(
        "64 threads that claim the same 10,000 keys get each key first once"
    ) { trial in
        try demandEachFirst(
            try trial.withStore {
                try ReplayRace.run(
                    $0.store, threads: ReplayRace.callers, keys: ReplayRace.keys, group: trial.claimsInGroup,
                    at: trial.issued)
            })
    }

    private static let tasks = ReplayStoreClause(
        "64 tasks that claim the same 10,000 keys, half of them without blocking, get each key first once",
        suspending: { trial in
            try demandEachFirst(
                try await trial.withStore(suspending: {
                    try await ReplayRace.run(
                        $0.store, tasks: ReplayRace.callers, keys: ReplayRace.keys, group: trial.claimsInGroup,
                        at: trial.issued)
                }))
        })

    static func demandEachFirst(_ firsts: Int, of keys: Int = ReplayRace.keys) throws(ReplayStoreViolation) {
        guard firsts != keys else { return }
        throw ReplayStoreViolation(expected: "\(keys) claims to be first", found: "\(firsts) that were")
    }
}
