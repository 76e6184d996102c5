import ReplayStoreTesting
import TestSupport
import Testing

extension ReplayStoreTests {
    /// What every replay store must do; see `ReplayStore`.
    @Suite("Replay store contract")
    struct ReplayStoreContractTests {
        /// A clause, and a kind of store to which it applies.
        struct Case: CustomTestStringConvertible {
            let kind: StoreKind
            let clause: ReplayStoreClause

            /// Whether the store differs from another kind only in how it reaches its servers.
            var isVariant: Bool { [.tls, .cluster].contains(kind) }

            var testDescription: String { "\(kind.rawValue): \(clause)" }
        }

        private static func cases(_ clauses: [ReplayStoreClause]) -> [Case] {
            clauses.flatMap { clause in StoreKind.allCases.map { Case(kind: $0, clause: clause) } }
                .filter { $0.clause.exemption(of: TestSubject(kind: $0.kind, directory: "")) == nil }
        }

        private func check(_ tested: Case) async throws {
            let directory = try TemporaryDirectory()
            try await tested.clause.check(TestSubject(kind: tested.kind, directory: directory.path))
        }

        @Test("one caller", arguments: cases(ReplayStoreContract.answers))
        func answers(tested: Case) async throws { try await check(tested) }

        @Test("64 callers", arguments: cases(ReplayStoreContract.races).filter { !$0.isVariant })
        func races(tested: Case) async throws { try await check(tested) }

        @Test("64 callers, over TLS and in a cluster", arguments: cases(ReplayStoreContract.races).filter(\.isVariant))
        func racesOfVariants(tested: Case) async throws { try await check(tested) }

        @Test("several processes", arguments: cases(ReplayStoreContract.processes))
        func processes(tested: Case) async throws { try await check(tested) }

        @Test("only a store in memory is exempt, from what is about processes or a later time")
        func exemptions() {
            let all = StoreKind.allCases.map { TestSubject(kind: $0, directory: "") }
            let exempt = ReplayStoreContract.clauses.flatMap { clause in
                all.compactMap { subject in
                    clause.exemption(of: subject).map { "\(subject.kind.rawValue): \(clause): \($0)" }
                }
            }
            #expect(
                exempt == [
                    "memory: a key that was claimed before the store was closed is used when it is open again: "
                        + "the store's records end with it",
                    "memory: 64 threads with two stores that one process has opened, eight of them at each of 10,000 keys, "
                        + "get each key first once: one process uses the store",
                    "memory: 4 processes of 64 threads, eight of them at each of 10,000 keys, get each key first once: "
                        + "one process uses the store",
                    "memory: however a process is killed while it claims, no key is first twice and none is forgotten: "
                        + "one process uses the store",
                    "memory: what other processes claimed while a process was idle is used for it, also once earlier "
                        + "records have expired: one process uses the store",
                    "memory: while another process is stopped in its claims, each claim is answered by the deadline and "
                        + "no key is first twice: one process uses the store",
                ])
        }

        @Test("the clauses keep their names, by which others list them")
        func names() {
            #expect(
                ReplayStoreContract.clauses.map(\.name) == [
                    "a key is first once",
                    "keys that agree in part are different keys",
                    "a key is remembered for as long as any policy may accept its token",
                    "a key is remembered when time has really passed, whatever its callers' clocks say",
                    "no key is first again when the clock goes back",
                    "no clock that steps, by seconds or by hours, makes a key first twice",
                    "the claims of a group are decided in order",
                    "a retry is recognised by the fingerprint of the first claim alone",
                    "a group has as many answers as claims, and an empty group has none",
                    "a claim is answered alike whether it blocks or not",
                    "a token issued up to the store's beginning predates it, and a token issued after that is first",
                    "a key that was claimed before the store was closed is used when it is open again",
                    "64 threads, eight of them at each of 10,000 keys, get each key first once",
                    "64 tasks, eight of them at each of 10,000 keys and half of them without blocking, get each key first "
                        + "once",
                    "64 threads with two stores that one process has opened, eight of them at each of 10,000 keys, "
                        + "get each key first once",
                    "4 processes of 64 threads, eight of them at each of 10,000 keys, get each key first once",
                    "however a process is killed while it claims, no key is first twice and none is forgotten",
                    "what other processes claimed while a process was idle is used for it, also once earlier records "
                        + "have expired",
                    "while another process is stopped in its claims, each claim is answered by the deadline and "
                        + "no key is first twice",
                ])
        }

        @Test("a clause that does not apply is no passed one")
        func exemptIsNotPassed() async throws {
            for clause in ReplayStoreContract.processes {
                await #expect(throws: ReplayStoreViolation.self) {
                    try await clause.check(TestSubject(kind: .memory, directory: ""))
                }
            }
        }
    }
}
