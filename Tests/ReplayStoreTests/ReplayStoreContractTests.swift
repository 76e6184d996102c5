import ReplayStoreTesting
import TestSupport
import TestThreads
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

        /// Clauses that demand a first of several callers at once, all of whom a quorum may refuse.
        private static func demandsWinner(_ clause: ReplayStoreClause) -> Bool {
            clause.name.hasSuffix("get each key first once")
        }

        private static func cases(_ clauses: [ReplayStoreClause]) -> [Case] {
            clauses.flatMap { clause in StoreKind.allCases.map { Case(kind: $0, clause: clause) } }
                .filter { $0.clause.exemption(of: TestSubject(kind: $0.kind, directory: "")) == nil }
                .filter { $0.kind != .quorum || !demandsWinner($0.clause) }
        }

        private func check(_ tested: Case) async throws {
            let directory = try TemporaryDirectory()
            try await tested.clause.check(TestSubject(kind: tested.kind, directory: directory.path))
        }

        private static func isAboutRealTime(_ tested: Case) -> Bool {
            tested.clause.name.contains("time has really passed")
        }

        @Test("one caller", arguments: cases(ReplayStoreContract.answers).filter { !isAboutRealTime($0) })
        func answers(tested: Case) async throws { try await check(tested) }

        /// Takes seconds, and so is tested with all kinds of stores at once.
        @Test("one caller, for whom time really passes", OwnThreads(StoreKind.allCases.count))
        func realTime() async {
            await withTaskGroup { group in
                for tested in Self.cases(ReplayStoreContract.answers).filter(Self.isAboutRealTime) {
                    group.addTask {
                        await #expect(throws: Never.self, "\(tested.testDescription)") { try await check(tested) }
                    }
                }
            }
        }

        @Test("64 callers", arguments: cases(ReplayStoreContract.races).filter { !$0.isVariant })
        func races(tested: Case) async throws { try await check(tested) }

        @Test("64 callers, over TLS and in a cluster", arguments: cases(ReplayStoreContract.races).filter(\.isVariant))
        func racesOfVariants(tested: Case) async throws { try await check(tested) }

        /// Without what other processes do over TLS, which is a matter of each process and its server.
        private static let ofProcesses = cases(ReplayStoreContract.processes).filter {
            $0.kind != .tls || $0.clause.name.contains("one process has opened")
        }

        @Test("several processes", arguments: ofProcesses)
        func processes(tested: Case) async throws { try await check(tested) }

        @Test(
            "without file descriptors what is open goes on, and opening is an error until there are some",
            arguments: [(StoreKind.lmdb, "Too many open files"), (.redis, "file descriptors")])
        func noDescriptors(kind: StoreKind, reason: String) throws {
            let directory = try TemporaryDirectory()
            let subject = TestSubject(kind: kind, directory: directory.path)
            let places = [try subject.makePlace(), try subject.makePlace()]
            let lines = try Worker(["starve"] + places, at: RedisClock().now).finish().split(separator: "\n").map(
                String.init)
            for line in ["before: first", "same minute: first", "new minute: first", "other store again: opened"] {
                #expect(lines.contains(line), "\(lines)")
            }
            #expect(lines.contains { $0.hasPrefix("other store: ") && $0.contains(reason) }, "\(lines)")
        }

        @Test("only a store in memory is exempt, from what is about processes or a later time")
        func exemptions() {
            func exempt(_ kind: StoreKind) -> [String] {
                let subject = TestSubject(kind: kind, directory: "")
                return ReplayStoreContract.clauses.compactMap { clause in
                    clause.exemption(of: subject).map { "\(clause): \($0)" }
                }
            }
            let reopening = "a key that was claimed before the store was closed is used when it is open again"
            #expect(
                exempt(.memory) == ["\(reopening): the store's records end with it"]
                    + ReplayStoreContract.processes.map { "\($0): one process uses the store" })
            for kind in StoreKind.allCases where kind != .memory { #expect(exempt(kind).isEmpty) }
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
