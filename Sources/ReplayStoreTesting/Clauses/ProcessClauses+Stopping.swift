internal import Basics
internal import Glibc
internal import MediaToken

/// The clause on a process that is stopped in the middle of its claims, as a debugger, a frozen container or a host
/// that swaps does it.
extension ProcessClauses {
    /// How often a worker is stopped.
    private static let rounds = 20
    /// The number of threads that claim while it is.
    private static let threads = 8

    static let stopped = ReplayStoreClause(
        "while another process is stopped in its claims, each claim is answered by the deadline and no key is first twice",
        needs: .deadline
    ) { trial in
        guard case .processes(_, .some(let deadline)) = trial.subject.sharing else { return }
        try trial.withStore { store in
            var worker = try trial.worker(.series(from: 0))
            var (theirs, ours, next) = (Set<UInt64>(), Set<UInt64>(), 0 as UInt64)
            for round in 0..<rounds {
                var lines = try worker.lines(25) + worker.lines(within: .microseconds(137 * round))
                worker.stop()
                lines += try worker.lines(within: .zero)
                theirs.formUnion(lines.compactMap { UInt64($0) })
                next = max(next, (theirs.max() ?? 0) + 1)
                // The keys that the worker is about to claim, the one included that it may be in the middle of.
                let keys = next..<next + UInt64(threads)
                ours.formUnion(try firsts(of: keys, in: store, trial, while: worker, deadline))
                worker.proceed()
                // A claim that took long because its process stood may be undecided, which ends the worker.
                if lines.contains(where: { UInt64($0) == nil }) {
                    worker = try trial.worker(.series(from: next))
                } else if lines.count < 25 {
                    throw ReplayStoreViolation(expected: "a worker that claims", found: "one that has ended")
                }
            }
            guard theirs.count >= rounds * 5 else {
                throw ReplayStoreViolation(
                    expected: "\(rounds * 5) keys of the workers", found: "\(theirs.count), and claims left undecided")
            }
            worker.stop()
            theirs.formUnion(try worker.killed().compactMap { UInt64($0) })
            if let twice = theirs.intersection(ours).min() {
                throw ReplayStoreViolation(
                    expected: "key \(twice) to be first for one process",
                    found: "it was for the one that was stopped, and for the one that claimed meanwhile")
            }
            let fresh = trial.claim(.max)
            try store.expect(.first, to: fresh, at: trial.issued, "a new key, once the stopped process is killed")
        }
    }

    /// Claims each key on a thread of its own, and returns those that were first.
    ///
    /// - Throws: ``ReplayStoreViolation`` if a claim takes longer than the deadline. The worker then goes on, so that a
    ///   store which waits for it without an end comes back.
    private static func firsts(
        of keys: Range<UInt64>, in store: TestedStore, _ trial: Trial, while worker: WorkerProcess, _ deadline: Duration
    ) throws(ReplayStoreViolation) -> [UInt64] {
        let answered = Guarded([(key: UInt64, answer: ClaimResult, took: Duration)]())
        let begin = ContinuousClock.now
        let callers = keys.compactMap { key in
            ServiceThread {
                let begin = ContinuousClock.now
                let answer = Result { () throws(ReplayStoreError) in
                    try store.store.claim(trial.claim(key), at: trial.issued)
                }
                let took = ContinuousClock.now - begin
                answered.withLock { $0.append((key, answer, took)) }
            }
        }
        while answered.withLock({ $0.count }) < callers.count, ContinuousClock.now - begin <= deadline { usleep(500) }
        let late = answered.withLock { callers.count - $0.count }
        if late > 0 { worker.proceed() }
        callers.forEach { $0.join() }
        let all = answered.withLock { $0 }
        guard all.count == keys.count else {
            throw ReplayStoreViolation(
                expected: "\(keys.count) threads", found: "\(all.count), and the system starts no more")
        }
        if let slow = all.max(by: { $0.took < $1.took }), late > 0 || slow.took > deadline {
            throw ReplayStoreViolation(
                expected: "an answer within \(deadline) to each of \(threads) claims",
                found: late > 0 ? "\(late) without one by then" : "\(text(of: slow.answer)) after \(slow.took)")
        }
        return all.filter { $0.answer == .success(.first) }.map(\.key)
    }
}
