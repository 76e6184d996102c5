internal import Glibc

/// The contract of replay stores (see `ReplayStore`) as clauses that a store can be checked by.
public enum ReplayStoreContract {
    /// All clauses, the quick ones first. In a release build, the whole contract takes less than a minute for a fast
    /// store.
    public static let clauses = answers + races + processes

    /// The clauses on what a store answers to one caller.
    public static let answers = AnswerClauses.all

    /// The clauses on 64 callers at once.
    public static let races = RaceClauses.all

    /// The clauses on several processes, some of which are killed or stopped. They apply to a store that processes
    /// share.
    public static let processes = ProcessClauses.all

    /// Checks clauses one after the other, and prints a line for each with its outcome and name, and at the end how
    /// many there were of each outcome.
    ///
    /// - Parameters:
    ///   - subject: the store under test.
    ///   - clauses: the clauses to check; by default all.
    /// - Returns: whether the store keeps all clauses that apply to it.
    public static func run(
        _ subject: some ReplayStoreSubject, clauses: [ReplayStoreClause] = clauses
    ) async -> Bool {
        var (passed, failed, exempt) = (0, 0, 0)
        for clause in clauses {
            switch await clause.outcome(for: subject) {
            case .passed:
                passed += 1
                print("passed          \(clause)")
            case .failed(let violation):
                failed += 1
                print("FAILED          \(clause): \(violation)")
            case .notApplicable(let reason):
                exempt += 1
                print("not applicable  \(clause): \(reason)")
            }
            // Flushes, so that a reader of a pipe sees each line when its clause ends.
            fflush(nil)
        }
        print("\(passed) passed, \(failed) failed, \(exempt) not applicable")
        return failed == 0
    }
}
