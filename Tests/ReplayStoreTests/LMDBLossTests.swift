import Basics
import Foundation
import Glibc
import MediaToken
import ReplayStoreTesting
import TestSupport
import Testing

@testable import ReplayLMDB

extension ReplayStoreTests {
    /// What becomes of a store whose files are removed, put back, or put in the place of others.
    @Suite("LMDB replay store that loses files")
    struct LMDBLossTests {
        private static let start = Timestamp(milliseconds: 1_700_000_000_000)
        private let parent: TemporaryDirectory
        private var path: String { parent.path + "/replays" }

        init() throws {
            parent = try TemporaryDirectory()
        }

        private func later(_ seconds: Int64) -> Timestamp {
            Timestamp(milliseconds: Self.start.milliseconds + seconds * 1000)
        }

        private func open(_ seconds: Int64 = -100) throws -> LMDBReplayStore {
            try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: later(seconds))
        }

        /// In the parent directory, where the store is `replays`.
        private func shell(_ command: String) throws {
            try Program("sh").succeed(["-ec", "cd \(parent.path); \(command)"])
        }

        /// One of the processes that share the store: this one, or a worker.
        private enum User {
            case here(LMDBReplayStore)
            case worker(Worker)

            func claim(_ number: UInt64, issued: Timestamp, at now: Timestamp) throws -> String {
                switch self {
                case .here(let store):
                    "\(Result { try store.claim(ReplayRace.claim(number, at: issued), at: now) })"
                case .worker(let worker):
                    try worker.ask("\(number) \(issued.milliseconds) \(now.milliseconds)")
                }
            }
        }

        private static let first = "success(ReplayStage.ReplayAnswer.first)"

        /// A worker that has the store open.
        private func worker(_ seconds: Int64, _ place: String? = nil) throws -> User {
            let worker = try Worker(["ask", "lmdb:" + (place ?? path)], at: later(seconds))
            #expect(worker.readLine() == "open")
            return .worker(worker)
        }

        /// How many claims were first, each made by all users in turns.
        private func firsts(
            _ users: [User], _ numbers: Range<UInt64>, issued: Int64, at seconds: Int64
        ) throws -> Int {
            try numbers.reduce(0) { sum, number in
                let asked = number % 2 == 0 ? users : users.reversed()
                return try sum
                    + asked.filter {
                        try $0.claim(number, issued: later(issued), at: later(seconds)) == Self.first
                    }.count
            }
        }

        /// Claims that each test makes: numbers, and when their tokens were issued. They expire in three minutes of
        /// expiry.
        private static let used: [(numbers: Range<UInt64>, issued: Int64)] = [
            (0..<10, -60), (10..<20, 0), (20..<30, -60), (30..<40, 0), (40..<50, 60),
        ]

        /// A store with all claims of ``used``. A copy of it, and a link to its record, are made when two minutes have
        /// come.
        private func fill() throws -> LMDBReplayStore {
            let (begun, other) = (
                try open(),
                try LMDBReplayStore(
                    path: parent.path + "/other", configuration: .init(clockSkew: .zero), at: later(-100))
            )
            for used in Self.used[..<2] {
                #expect(try firsts([.here(begun)], used.numbers, issued: used.issued, at: 0) == 10)
                #expect(try firsts([.here(other)], 1000..<1040, issued: used.issued, at: 0) == 40)
            }
            try other.close()
            try shell("cp -a replays copy")
            try begun.close()
            try shell("ln replays/store record")
            let store = try open()
            for used in Self.used[2...] {
                #expect(try firsts([.here(store)], used.numbers, issued: used.issued, at: 60) == 10)
            }
            return store
        }

        /// Nothing that was used is first again, for whichever user asks first, and what is issued after the fence is
        /// first once.
        private func expectNoSecondUse(_ users: [User], _ comment: Comment) throws {
            for used in Self.used {
                #expect(try firsts(users, used.numbers, issued: used.issued, at: 70) == 0, comment)
            }
            #expect(try firsts(users, 50..<60, issued: 80, at: 80) == 10, comment)
            #expect(try firsts(users, 100..<160, issued: 80, at: 81) == 60, comment)
        }

        /// What is done to the files of a store.
        private static let losses = [
            "rm replays/log",
            "rm replays/horizon",
            "rm replays/store",
            "rm replays/users",
            "rm replays/store replays/users",
            "rm -r replays",
            "rm replays/*",
            // A copy, put in the place of the store, or of files of it.
            "mv replays away; cp -a copy replays",
            "rm -r replays; mv copy replays",
            "cp -a copy/. replays",
            "cp -a --remove-destination copy/. replays",
            "tar -C copy -cSf - . | tar -C replays -xf -",
            "cp -a --remove-destination copy/log replays",
            "mv copy/log replays",
            "mv copy/store copy/log replays",
            "mv record replays/store",
            "mv copy/horizon replays",
            "mv copy/users replays",
            // A copy written over the files.
            "cp copy/log replays",
            "cp copy/store copy/log replays",
            "cp copy/horizon copy/log replays",
            "cp copy/store copy/horizon copy/log replays",
            "cp copy/* replays",
            // Files of another store, in which there is more.
            "mv other/log replays",
            "rm replays/log; cp -a other/log replays",
            "cp other/* replays",
            "rm -r replays; mv other replays",
            // Taken away, and the same ones put back: in the meantime another store may have been there.
            "mv replays away; mkdir replays; rmdir replays; mv away replays",
            "mkdir away; mv replays/* away; mv away/* replays",
        ]

        @Test("used tokens stay used, whatever is removed or put back while nobody has it open", arguments: losses)
        func closed(_ loss: String) throws {
            let store = try fill()
            try store.close()
            try shell(loss)
            let users = [.here(try open(70)), try worker(71)]
            try expectNoSecondUse(users, "\(loss)")
        }

        @Test("used tokens stay used, whatever is removed or put back after a process was killed", arguments: losses)
        func killed(_ loss: String) throws {
            do { _ = try fill() }
            try shell(loss)
            let users = [try worker(70), .here(try open(71))]
            try expectNoSecondUse(users, "\(loss)")
        }

        @Test(
            "used tokens stay used, whatever is removed or put back while the store is in use, by another process that begins",
            arguments: losses)
        func joined(_ loss: String) throws {
            let store = try fill()
            try shell(loss)
            try expectNoSecondUse([try worker(70), .here(store)], "\(loss)")
        }

        @Test("used tokens stay used, whatever is removed or put back under processes that run", arguments: losses)
        func running(_ loss: String) throws {
            let store = try fill()
            let users = [.here(store), try worker(65)]
            // The worker comes to have all of them open.
            for used in Self.used { #expect(try firsts(users, used.numbers, issued: used.issued, at: 65) == 0) }
            try shell(loss)
            // The latest first: the very first claim after the loss has to find it out.
            for used in Self.used.reversed() {
                #expect(try firsts(users, used.numbers, issued: used.issued, at: 70) == 0)
            }
            #expect(try firsts(users, 100..<140, issued: 68, at: 70) <= 40)
            #expect(try firsts(users, 100..<140, issued: 68, at: 70) == 0)
            let third = try worker(75)
            #expect(try firsts([third] + users, 100..<140, issued: 68, at: 75) == 0)
            #expect(try firsts([third] + users, 200..<240, issued: 90, at: 90) == 40)
        }

        @Test("a store that is lost while another process waits to open it is fenced by when that one opened it")
        func lostMeanwhile() throws {
            let start = Timestamp.now
            let store = try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: start)
            let directory = Glibc.open(path, O_RDONLY)
            defer { Glibc.close(directory) }
            #expect(flock(directory, LOCK_EX) == 0)
            let opening = Guarded<Result<LMDBReplayStore, any Error>?>(nil)
            let begun = Semaphore()
            let thread = ServiceThread { [path] in
                let now = Timestamp.now
                begun.signal()
                let opened = Result {
                    try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: now)
                }
                opening.withLock { $0 = opened }
            }
            begun.wait()
            let used = ReplayRace.claim(1, at: .now)
            #expect(try store.claim(used, at: .now) == .first)
            try shell("rm replays/store")
            #expect(flock(directory, LOCK_UN) == 0)
            try #require(thread).join()
            let other = try #require(opening.withLock { $0 }).get()
            #expect(try other.claim(used, at: .now) != .first)
        }

        @Test(
            "processes that run find out that a file is missing before they next accept a token",
            arguments: [
                "rm replays/log", "rm replays/horizon",
                "rm replays/users", "rm replays/store", "mv replays/log .", "mv replays/users .",
                "cp -a replays/users new; mv new replays/users",
            ])
        func missing(_ loss: String) throws {
            let store = try open()
            let users = [.here(store), try worker(-90)]
            // In two minutes, of which the second is not touched later.
            #expect(try firsts(users, 0..<10, issued: -60, at: 0) == 10)
            #expect(try firsts(users, 10..<20, issued: 60, at: 60) == 10)
            // Time for the store to be seen whole, and not to be looked through any more.
            usleep(100_000)
            #expect(try firsts(users, 20..<30, issued: 60, at: 60) == 10)
            try shell(loss)
            #expect(try firsts(users, 30..<40, issued: 69, at: 70) == 0)
            #expect(try firsts(users, 40..<50, issued: 80, at: 80) == 10)
        }

        /// What takes a store, or files of it, away, and what puts them back.
        private static let turns = [
            ("mv replays away", "rm -r replays; mv away replays"),
            ("mkdir away; mv replays/* away", "mv away/* replays"),
            ("mkdir away; mv replays/[lhs]* away", "mv away/* replays"),
        ]

        @Test("what was used while a store was away is not first use when that is put back", arguments: turns)
        func away(_ taken: String, _ putBack: String) throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try store.close()
            try shell(taken)
            do {
                let between = try open(70)
                #expect(try firsts([.here(between)], 100..<110, issued: 71, at: 71) == 10)
            }
            try shell(putBack)
            let again = try open(75)
            #expect(try firsts([.here(again), try worker(75)], 100..<110, issued: 71, at: 75) == 0)
            #expect(try firsts([.here(again), try worker(75)], 100..<110, issued: 76, at: 76) == 10)
        }

        @Test(
            "what was used while a store was away is not first use for a process that has it open and was asked nothing",
            arguments: turns)
        func awayFromIdle(_ taken: String, _ putBack: String) throws {
            let store = try open()
            let users = [.here(store), try worker(-90)]
            #expect(try firsts(users, 0..<10, issued: 60, at: 60) == 10)
            try shell(taken)
            do {
                let between = try worker(70)
                #expect(try firsts([between], 100..<110, issued: 71, at: 71) == 10)
                // In a minute that nobody has open.
                #expect(try firsts([between], 110..<120, issued: 130, at: 131) == 10)
            }
            try shell(putBack)
            #expect(try firsts(users, 110..<120, issued: 130, at: 135) == 0)
            #expect(try firsts(users, 100..<110, issued: 71, at: 135) == 0)
            #expect(try firsts(users, 120..<130, issued: 210, at: 210) == 10)
        }

        /// What Kubernetes does to a volume at each start of a pod that has an `fsGroup`.
        private static let opensToGroup = "chgrp -R $(id -g) . && chmod -R g+rw . && chmod g+sx . replays"

        @Test("a store that a group may write to remembers, closed, after a process was killed, and in use")
        func openToGroup() throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try store.close()
            for round in 0..<3 {
                try shell(Self.opensToGroup)
                let again = try open(Int64(70 + round))
                #expect(again.fence == later(-100))
                let worker = try worker(70)
                #expect(try firsts([.here(again), worker], 0..<10, issued: 60, at: 75) == 0)
                try shell(Self.opensToGroup)
                let next = UInt64(100 * (round + 1))
                #expect(try firsts([.here(again), worker], next..<(next + 10), issued: 76, at: 76) == 10)
                #expect(again.fence == later(-100))
                // The worker, its last user, is killed.
                try again.close()
            }
        }

        @Test(
            "a fence says what happened to the files, also if a group may write to them",
            arguments: [
                ("true", nil), (opensToGroup, nil), ("chmod g+r replays/users", "other modes"),
                ("mkdir away; mv replays/users away; mv away/users replays", "files of the replay store were moved"),
                ("mv replays away; mv away replays", "directory was moved"),
                ("\(opensToGroup); mv replays away; mv away replays; \(opensToGroup)", "directory was moved"),
                (
                    "\(opensToGroup); mkdir away; mv replays/* away; mv away/* replays; \(opensToGroup)",
                    "directory was moved"
                ),
                ("\(opensToGroup); touch replays/mine; rm replays/mine; \(opensToGroup)", "directory was moved"),
                ("rm replays/log", "were missing"), ("rm replays/horizon", "were missing"),
                ("cp -a replays/log new; mv new replays/log", "copied back"),
                ("\(opensToGroup); cp -a replays/log new; mv new replays/log; \(opensToGroup)", "copied back"),
                ("rm replays/store", "is new"), ("rm -r replays", "is new"),
            ] as [(String, String?)])
        func causes(_ change: String, _ cause: String?) throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            #expect(store.fenceCause == "the replay store is new")
            try store.close()
            try shell(change)
            let again = try open(75)
            #expect(cause == nil ? again.fence == later(-100) : (later(75)...later(80)).contains(again.fence))
            #expect(try firsts([.here(again)], 0..<10, issued: 60, at: 76) == 0)
            #expect(again.fenceCause.contains(cause ?? "is new"), "\(again.fenceCause)")
            // Who opens it next is told the same.
            try again.close()
            #expect(try open(80).fenceCause == again.fenceCause)
        }

        @Test("a fence says that the machine stopped, and that a store was replaced in use")
        func causesOfBoot() throws {
            let store = try open()
            try shell("rm replays/log")
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 0)
            #expect(store.fenceCause.contains("replaced while a gate used it"))
            try Data("another boot".utf8).write(to: URL(filePath: parent.path + "/boot"))
            var configuration = LMDBReplayStore.Configuration(clockSkew: .zero)
            configuration.bootIDFile = parent.path + "/boot"
            let next = try LMDBReplayStore(path: path, configuration: configuration, at: later(75))
            #expect(next.fenceCause.contains("the machine stopped before"))
        }

        @Test("a move is not forgotten because the next claim deletes what has expired")
        func awayWhileMinutesPass() throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try shell("mv replays away")
            do {
                let between = try worker(860)
                #expect(try firsts([between], 100..<110, issued: 870, at: 871) == 10)
            }
            try shell("rm -r replays; mv away replays")
            // The first minute has expired by now, and its tokens are deleted.
            #expect(try firsts([.here(store)], 100..<110, issued: 870, at: 875) == 0)
            #expect(try firsts([.here(store)], 110..<120, issued: 880, at: 881) == 10)
        }

        /// In the minute of expiry that this process has open, and in others that it has not.
        @Test(
            "a process finds out that another has begun the store again, however far that one has come",
            arguments: [[72, 140, 200, 260], [140, 72, 200, 260]] as [[Int64]])
        func begunAgain(_ issued: [Int64]) throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 41, at: 60) == 10)
            try shell("rm replays/log")
            let other = try worker(70)
            for issued in issued { #expect(try firsts([other], 10..<20, issued: issued, at: 90) == 10) }
            for issued in issued { #expect(try firsts([.here(store)], 10..<20, issued: issued, at: 90) == 0) }
        }

        @Test("a record that a killed process was about to replace is believed, and an older one is not")
        func aboutToReplace() throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try store.close()
            let next = try Horizon(in: StoreDirectory(path, makesNew: false)).records + 1
            // As far as a process comes that is killed just before it renames its draft.
            try shell("touch replays/store.new")
            try Horizon(in: StoreDirectory(path, makesNew: false)).count(record: next)
            let again = try open(70)
            #expect(again.fence == later(-100))
            try again.close()
            try Horizon(in: StoreDirectory(path, makesNew: false)).count(record: next + 3)
            let older = try open(75)
            #expect((later(75)...later(80)).contains(older.fence))
            try older.close()
        }

        @Test("a store that is mounted over the one in use is fenced by the process that used that one")
        func mountedOver() throws {
            let other = parent.path + "/other"
            try LMDBReplayStore(path: other, configuration: .init(clockSkew: .zero), at: later(-100)).close()
            let neighbour = try worker(-90, other)
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try Program.asRoot("mount", "--bind", other, path)
            defer { try? Program.asRoot("umount", "--lazy", path) }
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 70) == 0)
            #expect((later(70)...later(75)).contains(store.fence))
            #expect(try firsts([neighbour], 0..<10, issued: 60, at: 70) == 0)
            #expect(try firsts([.here(store), neighbour, try worker(70)], 10..<20, issued: 71, at: 71) == 10)
            try store.close()
        }

        @Test("a store that cannot be opened again is an error, and serves again when it can")
        func cannotReopen() throws {
            let store = try open()
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 60) == 10)
            try shell("rm -r replays; mkdir replays; touch replays/mine")
            for _ in 1...2 {
                #expect(throws: ReplayStoreError.self) {
                    try store.claim(ReplayRace.claim(0, at: later(60)), at: later(70))
                }
            }
            try shell("rm replays/mine")
            #expect(try firsts([.here(store)], 0..<10, issued: 60, at: 75) == 0)
            #expect(try firsts([.here(store)], 10..<20, issued: 76, at: 76) == 10)
            #expect((later(75)...later(80)).contains(store.fence))
        }

        /// The kernel ends a process that reads beyond the end of a file that it has mapped, which a sanitizer reports.
        @Test("a log that is cut under a process that runs is never a first use", .enabled(if: !Program.isSanitized))
        func cut() throws {
            do { _ = try fill() }
            let running = try worker(65)
            #expect(try firsts([running], 0..<10, issued: -60, at: 65) == 0)
            // LMDB's map then ends before what it reads: the kernel ends the process.
            try shell("truncate -s 0 replays/log")
            #expect(try firsts([running], 0..<30, issued: -60, at: 70) == 0)
            #expect(throws: ReplayStoreError.self) { try open(71) }
        }

        @Test("a process killed while it claims in many buckets leaves no fence, and no key is first twice")
        func killedMaking() throws {
            let store = try open(-3600)
            let fence = store.fence
            try store.close()
            var seen: Set<UInt64> = []
            for round in 0..<40 {
                let begin = max(5, seen.max() ?? 5) - 5
                let worker = try Worker(["minutes", "lmdb:" + path, "\(begin)"], at: Self.start)
                for key in try worker.kill(round * 3, afterLines: 1).compactMap({ UInt64($0) }) {
                    #expect(seen.insert(key).inserted, "key \(key) was first twice")
                }
            }
            #expect(seen.count >= 40, "each worker has printed one")
            let again = try open(0)
            #expect(again.fence == fence)
            // All, and those few whose answer was lost with their process.
            #expect((seen.count...seen.count + 40).contains(try again.contents().entries))
            try again.close()
        }
    }
}
