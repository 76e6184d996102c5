import EventLoops
import Foundation
import Glibc
import MediaToken
import ReplayStoreTesting
import ReplayStores
import TestSupport
import Testing

@testable import ReplayLMDB

extension ReplayStoreTests {
    @Suite("LMDB replay store")
    struct LMDBReplayStoreTests {
        private static let start = Timestamp(milliseconds: 1_700_000_000_000)
        private let parent: TemporaryDirectory
        private var path: String { parent.path + "/replays" }

        init() throws {
            parent = try TemporaryDirectory()
        }

        private func later(_ seconds: Int64) -> Timestamp {
            Timestamp(milliseconds: Self.start.milliseconds + seconds * 1000)
        }

        private func claim(_ number: UInt64, issued: Timestamp = start, life: Int64 = 420_000) -> ReplayClaim {
            let word = number &* 0x9E37_79B9_7F4A_7C15
            let until = Timestamp(milliseconds: issued.milliseconds + life)
            return ReplayClaim(key: ReplayKey(words: (word, word, number, 0)), issued: issued, until: until)
        }

        /// A store whose fence is a second before the standard claims.
        private func open(
            _ path: String? = nil, boot: String? = nil, sizeLimit: Int = 64 << 20
        ) throws -> LMDBReplayStore {
            var configuration = LMDBReplayStore.Configuration(sizeLimit: sizeLimit, clockSkew: .zero)
            if let boot { configuration.bootIDFile = try parent.write(boot + "\n", to: "boot") }
            return try LMDBReplayStore(path: path ?? self.path, configuration: configuration, at: later(-1))
        }

        @Test("a retry is recognised after the store was opened again")
        func retryLater() throws {
            let (key, end) = (claim(1).key, claim(1).until)
            func retry(_ secret: String) throws -> ReplayClaim {
                ReplayClaim(
                    key: key, issued: Self.start, until: end,
                    fingerprint: try RetryFingerprint(of: key, secret: Array(secret.utf8)))
            }
            let store = try open()
            #expect(try store.claim(retry("mine"), at: later(1)) == .first)
            #expect(try store.claim(claim(2), at: later(1)) == .first)
            try store.close()
            let again = try open()
            #expect(try again.claim(retry("mine"), at: later(2)) == .repeated(since: later(1)))
            #expect(try again.claim(retry("other"), at: later(2)) == .alreadyUsed)
            #expect(try again.claim(claim(1), at: later(2)) == .alreadyUsed)
            #expect(try again.claim(claim(2), at: later(2)) == .alreadyUsed)
            try again.close()
        }

        @Test("directory and files are for their owner alone")
        func modes() throws {
            let store = try open()
            let mode = { (path: String) in
                (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
            }
            #expect(try mode(path) == 0o700)
            for file in try FileManager.default.contentsOfDirectory(atPath: path) {
                #expect(try mode("\(path)/\(file)") == 0o600, "\(file)")
            }
            try store.close()
        }

        @Test("a restart of the machine without a clean close empties the store, with a fence")
        func machineCrash() throws {
            do {
                let store = try open(boot: "one")
                #expect(try store.claim(claim(1), at: Self.start) == .first)
                // Let go without close(), as a killed process does.
            }
            do {
                let sameBoot = try open(boot: "one")
                #expect(try sameBoot.claim(claim(1), at: Self.start) == .alreadyUsed)
            }
            var configuration = LMDBReplayStore.Configuration(clockSkew: .zero)
            configuration.bootIDFile = try parent.write("two\n", to: "boot")
            let store = try LMDBReplayStore(path: path, configuration: configuration, at: later(60))
            #expect(store.fence == later(60))
            #expect(try store.claim(claim(1), at: later(61)) == .predatesStore(since: later(60)))
            #expect(try store.claim(claim(2, issued: later(61)), at: later(61)) == .first)
            #expect(try store.contents().entries == 1)
            try store.close()
        }

        @Test("after a clean close a store decides nothing, and a restart of the machine changes nothing")
        func cleanRestart() throws {
            let store = try open(boot: "one")
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            try store.close()
            #expect(throws: ReplayStoreError.self) { try store.claim(claim(2), at: Self.start) }
            let again = try open(boot: "two")
            #expect(try again.claim(claim(1), at: Self.start) == .alreadyUsed)
            #expect(again.fence == later(-1))
            try again.close()
        }

        @Test("a new store's fence can be put later, for clocks that are apart")
        func skewedFence() throws {
            let configuration = LMDBReplayStore.Configuration(clockSkew: .seconds(30))
            let store = try LMDBReplayStore(path: path, configuration: configuration, at: Self.start)
            #expect(store.fence == later(30))
            try store.close()
        }

        @Test("a process can open a store twice")
        func twice() throws {
            let (store, other) = (try open(), try open(parent.path + "/./replays"))
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            #expect(try other.claim(claim(1), at: Self.start) == .alreadyUsed)
            #expect(try other.claim(claim(2), at: Self.start) == .first)
            try store.close()
            #expect(try other.claim(claim(3), at: Self.start) == .first)
            try other.close()
            let last = try open()
            for number in 1...3 as ClosedRange<UInt64> {
                #expect(try last.claim(claim(number), at: Self.start) == .alreadyUsed)
            }
            #expect(last.fence == later(-1))
        }

        @Test("something else in the directory is left alone, and named")
        func foreign() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data("mine".utf8).write(to: URL(filePath: path + "/data"))
            let text = message { _ = try open() }
            #expect(text.contains(path) && text.contains("no replay store"))
            #expect(try String(contentsOfFile: path + "/data", encoding: .utf8) == "mine")
        }

        @Test("a damaged store is named, and not replaced")
        func damaged() throws {
            let store = try open()
            for number in 0..<5000 as Range<UInt64> {
                #expect(try store.claim(claim(number), at: Self.start) == .first)
            }
            try store.close()
            let data = path + "/log"
            let copy = parent.path + "/copy"
            func restore() throws { try Program("cp").succeed(["--sparse=always", copy, data]) }
            try Program("cp").succeed(["--sparse=always", data, copy])
            let damages = [
                "truncate -s 100000 \(data)", "truncate -s 0 \(data)",
                "head -c 8192 /dev/zero | dd of=\(data) conv=notrunc",
                "head -c 8192 /dev/urandom | dd of=\(data) conv=notrunc",
            ]
            for damage in damages {
                try restore()
                try Program("sh").succeed(["-c", damage])
                // Twice: what was found damaged is not mended by having been looked at.
                for _ in 1...2 {
                    let text = message { try open().close() }
                    #expect(text.contains("damaged") && text.contains("move the directory away"), "\(damage): \(text)")
                }
            }
            try restore()
            let again = try open()
            #expect(try again.claim(claim(1), at: Self.start) == .alreadyUsed)
            #expect(try again.contents().entries == 5000)
            try again.close()
        }

        @Test("another process may open, look and leave while this one's log grows")
        func openedByOthers() throws {
            let store = try open()
            let media = Program.mediaToken
            var number: UInt64 = 0
            for _ in 0..<6 {
                for _ in 0..<100 {
                    let group = (number..<number + 200).map { claim($0) }
                    #expect(store.claim(group, at: Self.start).allSatisfy { $0 == .success(.first) })
                    number += 200
                }
                let stat = try media.run(["replays", "stat", "lmdb:" + path])
                #expect(stat.output.hasPrefix("live tokens  \(number)\n"), "\(stat.output)\(stat.errors)")
            }
            for known in stride(from: 0, to: number, by: 101) {
                #expect(try store.claim(claim(known), at: Self.start) == .alreadyUsed)
            }
            try store.close()
        }

        @Test("who joins while the last user closes does not rely on what that one wrote")
        func joinsWhileClosing() throws {
            try open().close()
            // Another user holds the store, whose record still says that it was closed.
            let other = try StoreDirectory(path, makesNew: false)
            try other.share()
            let store = try open()
            other.leave()
            let record = try #require(try StoreDirectory(path, makesNew: false).read()).record
            #expect(!record.isClosed)
            try store.close()
            try store.close()
            try open().close()
        }

        /// As a process does that is stopped while it opens or closes the store.
        @Test("a process that holds the directory keeps no claim waiting")
        func heldDirectory() throws {
            let store = try open()
            let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            defer { close(descriptor) }
            let group = (0..<10).map { claim(10 + $0, life: 600_000 + 60_000 * Int64($0)) }
            for answer in store.claim(group, at: later(2)) { #expect(answer == .success(.first)) }
            flock(descriptor, LOCK_UN)
            try store.close()
        }

        /// Damages the log's record of a token, wherever the file has a copy of it, or repairs what this function
        /// damaged.
        private func toggleDamage(of claim: ReplayClaim) throws {
            let log = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/log"))
            var bytes = try #require(try log.read(upToCount: 4 << 20))
            let entry = withUnsafeBytes(of: claim.key.half) { Data($0) }
            var places = 0
            while let found = bytes.range(of: entry) {
                places += 1
                try log.seek(toOffset: UInt64(found.upperBound))
                // Says that three more words follow, which do not.
                try log.write(contentsOf: [bytes[found.upperBound] ^ 1])
                bytes.replaceSubrange(found, with: Data(count: entry.count))
            }
            try log.close()
            #expect(places > 0)
        }

        @Test("a token whose transaction failed is not known to the process that tried alone")
        func undone() throws {
            let store = try open()
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            try toggleDamage(of: claim(1))
            let retries = try (2...200 as ClosedRange<UInt64>).map { number in
                let plain = claim(number)
                return ReplayClaim(
                    key: plain.key, issued: plain.issued, until: plain.until,
                    fingerprint: try RetryFingerprint(of: plain.key, secret: [1, 2, 3]))
            }
            for _ in 1...3 {
                for answer in store.claim(retries, at: Self.start) {
                    #expect(throws: ReplayStoreError.self) { try answer.get() }
                }
            }
            #expect(message { _ = try store.contents() }.contains("is damaged"))
            try toggleDamage(of: claim(1))
            #expect(try store.claim(claim(1), at: Self.start) == .alreadyUsed)
            // No record has it, so another process would accept it too.
            #expect(try store.claim(retries[0], at: later(1)) == .first)
            #expect(try store.claim(retries[0], at: later(2)) == .repeated(since: later(1)))
        }

        @Test(
            "a changed entry of the log is an error, whichever of its bytes changed",
            arguments: [0, 7, 8, 15, 16, 20, 23])
        func changedEntry(byte: Int) throws {
            let store = try open()
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            try store.close()
            let log = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/log"))
            let bytes = try #require(try log.read(upToCount: 4 << 20))
            let found = try #require(bytes.range(of: withUnsafeBytes(of: claim(1).key.half) { Data($0) }))
            try log.seek(toOffset: UInt64(found.lowerBound + byte))
            try log.write(contentsOf: [bytes[found.lowerBound + byte] ^ 0x10])
            #expect(message { _ = try open() }.contains("is damaged"))
            // All zeros, as an unwritten page of the disk has.
            try log.seek(toOffset: UInt64(found.lowerBound))
            try log.write(contentsOf: Data(count: 24))
            #expect(message { _ = try open() }.contains("is damaged"))
            try log.close()
        }

        @Test("another process that stays in a transaction keeps a claim waiting, and not for ever")
        func held() throws {
            let store = try open()
            let log = Glibc.open(path + "/log", O_RDWR)
            defer { Glibc.close(log) }
            #expect(flock(log, LOCK_EX) == 0)
            let time = ContinuousClock().measure {
                let text = message { _ = try store.claim(claim(1), at: Self.start) }
                #expect(text.contains("is locked by another process"), "\(text)")
            }
            #expect(time > .milliseconds(200) && time < Program.patience, "\(time)")
            #expect(flock(log, LOCK_UN) == 0)
            #expect(try store.claim(claim(1), at: Self.start) == .first)
        }

        @Test("an event loop goes on while another process stays in a transaction, and its claim gets the error later")
        func heldBesideLoop() throws {
            let store = ConfiguredReplayStore.lmdb(try open())
            let loop = try EventLoop()
            let ask = try #require(store.claimer(on: loop))
            var answers: [Result<ReplayAnswer, ReplayStoreError>] = []
            ask([claim(1)], Self.start) { answers = $0 }
            #expect(answers == [.success(.first)])
            let log = Glibc.open(path + "/log", O_RDWR)
            defer { Glibc.close(log) }
            #expect(flock(log, LOCK_EX) == 0)
            answers = []
            ask([claim(1), claim(2)], Self.start) { answers = $0 }
            #expect(answers.isEmpty)
            loop.run { !answers.isEmpty }
            #expect(answers.count == 2 && "\(answers)".contains("is locked by another process"), "\(answers)")
            #expect(flock(log, LOCK_UN) == 0)
            ask([claim(1), claim(2)], Self.start) { answers = $0 }
            #expect(answers == [.success(.alreadyUsed), .success(.first)])
        }

        @Test("root does not open the store of another user, makes none in that user's directory, and says why")
        func otherOwner() throws {
            try open().close()
            try Program.asRoot("chown", "-R", "65534", path)
            let text = message {
                try Program.asRoot(Program.beside("replay-worker").executable, "0", "ask", "lmdb:\(path)")
            }
            #expect(text.contains("belongs to user 65534"), "\(text)")
            // Nor does it make one in that user's directory, where the user could not open it.
            let made = message {
                try Program.asRoot(Program.beside("replay-worker").executable, "0", "ask", "lmdb:\(path)/new")
            }
            #expect(made.contains("would be made in a directory that belongs to user 65534"), "\(made)")
            #expect(access(path + "/new", F_OK) != 0)
            try Program.asRoot("chown", "-R", "\(geteuid())", path)
        }

        @Test(
            "a directory or file that somebody else owns or can write to is refused, and so is another's link to the directory"
        )
        func outsiders() throws {
            let file = "\(path)/store"
            let (wide, forged) = ("has mode 777", "has a file 'store' that ")
            try open().close()
            for (change, undo, expected) in [
                (["chmod", "777", path], ["chmod", "700", path], wide),
                (["chmod", "1777", path], ["chmod", "700", path], "has mode 1777"),
                (["chown", ":65534", path], ["chown", ":\(getegid())", path], nil),
                (["chmod", "770", path], ["chmod", "700", path], nil),
                (["chown", "65534", file], ["chown", "\(geteuid())", file], forged),
            ] {
                try Program.asRoot(change)
                let text = message { try open().close() }
                #expect(text.contains(expected ?? "no error"), "\(change): \(text)")
                #expect(text.contains(LMDBReplayStore.refusal(at: path) ?? "no error"), "\(text)")
                try Program.asRoot(undo)
            }
            try Program.asRoot(["chown", ":65534", path])
            try Program.asRoot(["chmod", "770", path])
            #expect(message { try open().close() }.contains("so that group 65534 can change the store"))
            try Program.asRoot(["chown", ":\(getegid())", path])
            try Program.asRoot(["chmod", "700", path])
            for name in ["horizon", "log", "store", "users"] {
                // A store whose directory was changed begins again.
                try open().close()
                try Program.asRoot(["chmod", "622", "\(path)/\(name)"])
                let text = message { try open().close() }
                #expect(text.contains("has a file '\(name)' that has mode 622"), "\(text)")
                try Program.asRoot(["chmod", "600", "\(path)/\(name)"])
            }
            let link = path + "-link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            try LMDBReplayStore(path: link, at: Self.start).close()
            try Program.asRoot(["chown", "-h", "65534", link])
            let text = message { try LMDBReplayStore(path: link, at: Self.start).close() }
            #expect(text.contains("leads through the link \(link), which belongs to user 65534"), "\(text)")
            try Program.asRoot(["rm", link])
        }

        @Test(
            "a pipe or a link in the place of a file is refused, and holds nothing up",
            arguments: ["users", "horizon", "store"])
        func pipes(name: String) throws {
            try open().close()
            let file = "\(path)/\(name)"
            try FileManager.default.moveItem(atPath: file, toPath: "\(path)-file")
            try #require(mkfifo(file, 0o600) == 0)
            #expect(message { try open().close() }.contains("has a file '\(name)' that is not a regular file"))
            unlink(file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(path)-file")
            #expect(message { try open().close() }.contains("has a file '\(name)' that cannot be opened"))
        }

        @Test("another format, or a damaged record, is an error that says what to do")
        func otherFormat() throws {
            let store = try open()
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            try store.close()
            let record = path + "/store"
            let good = try String(contentsOfFile: record, encoding: .utf8)
            let others = [
                good.replacing("format 3", with: "format 2"), good.replacing("state", with: "stat"), "", "junk",
            ]
            for text in others {
                try text.write(toFile: record, atomically: false, encoding: .utf8)
                let message = message { try open().close() }
                #expect(
                    message.contains(path) && (message.contains("format") || message.contains("damaged")), "\(message)")
            }
        }

        @Test("a full map refuses, forgets nothing, and has room again when buckets pass")
        func fullMap() throws {
            let limit = 7 << 20
            let store = try open(sizeLimit: limit)
            for round in 0..<3 as Range<Int64> {
                let issued = later(round * 86_400)
                var number: UInt64 = 0
                var lastAnswer: Result<ReplayAnswer, ReplayStoreError> = .success(.first)
                while case .success(.first) = lastAnswer, number < 2_000_000 {
                    let group = (0..<50 as Range<UInt64>).map { claim(number + $0, issued: issued) }
                    lastAnswer = store.claim(group, at: issued)[0]
                    number += 50
                }
                #expect(throws: ReplayStoreError.full("\(path) has reached its limit of disk space")) {
                    try lastAnswer.get()
                }
                #expect(number > 100_000, "round \(round): full after \(number)")
                // The group for which there was no room left nothing behind; all before it is still known.
                let held = try store.contents().entries
                #expect(held == Int(number) - 50)
                for known in stride(from: 0, to: UInt64(held), by: 997) {
                    // Answered beside tokens for which there is no room.
                    let group = ([known] + (number..<number + 200)).map { claim($0, issued: issued) }
                    let answers = store.claim(group, at: issued)
                    #expect(try answers[0].get() == .alreadyUsed)
                    #expect(throws: ReplayStoreError.full("\(path) has reached its limit of disk space")) {
                        try answers[200].get()
                    }
                }
                #expect(try store.contents().entries == held)
                #expect(try store.contents().bytes ?? 0 <= limit)
            }
            try store.close()
        }

        @Test("a full file system refuses, and serves again when there is space")
        func fullFileSystem() throws {
            let mount = parent.path + "/small"
            try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
            try Program.asRoot("mount", "-t", "tmpfs", "-o", "size=6m,mode=0777", "tmpfs", mount)
            defer { try? Program.asRoot("umount", mount) }
            let store = try open(mount + "/replays", sizeLimit: 1 << 30)
            var number: UInt64 = 0
            var fault: ReplayStoreError?
            while fault == nil, number < 1_000_000 {
                do { #expect(try store.claim(claim(number), at: Self.start) == .first) } catch { fault = error }
                number += 1
            }
            #expect("\(String(describing: fault))".contains("No space left on device"))
            #expect(number > 10_000)
            #expect((try? store.claim(claim(1), at: Self.start)) != .first)
            try Program.asRoot("mount", "-o", "remount,size=20m", mount)
            #expect(try store.claim(claim(number), at: Self.start) == .first)
            try store.close()
            let brimful = mount + "/filler"
            let full = try open(mount + "/replays", sizeLimit: 1 << 30)
            #expect((try? full.claim(claim(1), at: Self.start)) != .first)
            try Program("sh").run(["-c", "head -c 100M /dev/zero > \(brimful)"])
            for known in [0, 1, 5000] as [UInt64] {
                #expect((try? full.claim(claim(known), at: Self.start)) != .first)
            }
            #expect((try? full.claim(claim(1), at: Self.start)) != .first)
            #expect(message { try open(mount + "/other").close() }.contains("No space left"))
            try FileManager.default.removeItem(atPath: brimful)
            try open(mount + "/third").close()
            #expect(try full.claim(claim(1, life: 600_000), at: Self.start) == .first)
            try full.close()
        }

        @Test("no permission is an error with the path")
        func noPermission() throws {
            // Root may open anything, so the test asks for what nobody may do: a directory below a file.
            let file = try parent.write("", to: "file")
            #expect(message { _ = try open(file + "/replays") }.contains("Not a directory"))
            #expect(message { _ = try open("/proc/replays") }.contains("/proc/replays cannot be made"))
        }

        @Test("what has expired is deleted, and its disk is used again, with few claims and with many")
        func manyMinutes() throws {
            let store = try open()
            for minute in 0..<600 as Range<Int64> {
                let time = later(minute * 60)
                for number in 0..<UInt64(minute % 100 == 0 ? 5000 : 2) {
                    #expect(try store.claim(claim(UInt64(minute) * 5000 + number, issued: time), at: time) == .first)
                }
            }
            let status = try store.contents()
            #expect(status.entries <= 2 * 14)
            #expect(status.bytes ?? 0 <= 4 << 20)
            #expect(try openFiles("").count <= 6)
            try store.close()
        }

        @Test("a token that expires late does not keep those behind it in the log")
        func lateExpiry() throws {
            let store = try open()
            let late = claim(0, life: 86_400_000)
            #expect(try store.claim(late, at: Self.start) == .first)
            for minute in 0..<200 as Range<Int64> {
                let time = later(minute * 60)
                let group = (0..<2000 as Range<UInt64>).map { claim(1 + UInt64(minute) * 2000 + $0, issued: time) }
                #expect(store.claim(group, at: time).allSatisfy { $0 == .success(.first) })
            }
            #expect(try store.contents().bytes ?? 0 <= 8 << 20, "400,000 entries take 10 MB")
            try store.close()
            let again = try open()
            #expect(try again.claim(late, at: later(12_000)) == .alreadyUsed)
            try again.close()
        }

        /// When the minute of expiry of a claim ends, and when it is dropped.
        private func end(of claim: ReplayClaim) -> (minute: Timestamp, memory: Timestamp) {
            let minute = Timestamp(milliseconds: (claim.until.milliseconds / 60_000 + 1) * 60_000)
            return (minute, minute.moved(VerificationPolicy.largestClockSkew.components.seconds * 1000))
        }

        /// The store's files with that text in their names which this process has open.
        private func openFiles(_ text: String) throws -> [String] {
            let files = FileManager.default
            return try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }.filter { $0.hasPrefix(path) && $0.contains(text) }
        }

        @Test("a minute is remembered until it is dropped, and stays shut when the clock goes back")
        func droppedMinute() throws {
            let store = try open()
            let used = claim(1)
            let (minute, memory) = end(of: used)
            #expect(try store.claim(used, at: Self.start) == .first)
            try store.sweep(at: memory.moved(-1))
            #expect(try store.claim(used, at: Self.start) == .alreadyUsed)
            try store.sweep(at: memory)
            #expect(try store.contents().entries == 0)
            #expect(try store.claim(used, at: Self.start) == .predatesStore(since: minute))
            #expect(try store.claim(claim(2), at: Self.start) == .predatesStore(since: minute))
            // The next minute, in which nobody has claimed, is deleted too.
            let next = minute.moved(60_000)
            try store.sweep(at: memory.moved(60_000))
            #expect(try store.claim(claim(3, life: 480_000), at: Self.start) == .predatesStore(since: next))
            #expect(try store.claim(claim(3, life: 540_000), at: Self.start) == .first)
            try store.close()
            let again = try open()
            #expect(try again.claim(used, at: Self.start) == .predatesStore(since: next))
            #expect(try again.contents().entries == 1)
            try again.close()
        }

        @Test("what another process has claimed is known at the next claim, however much it is")
        func caughtUp() throws {
            let store = try open()
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            let counted = try Worker(["race", "lmdb:\(path)", "1", "30000", "100"], at: Self.start).finish()
            #expect(counted == "30000")
            let known = (0..<30_000 as Range<UInt64>).reversed().prefix(10).map {
                ReplayRace.claim($0, at: Self.start)
            }
            for answer in store.claim(known, at: Self.start) { #expect(answer == .success(.alreadyUsed)) }
            #expect(try store.contents().entries == 30_001)
            try store.close()
        }

        @Test("a minute that another process has dropped is no first use, and no token of it comes back")
        func droppedByAnother() throws {
            let store = try open()
            let used = claim(1)
            #expect(try store.claim(used, at: Self.start) == .first)
            let (minute, memory) = end(of: used)
            let worker = try Worker(["ask", "lmdb:" + path], at: memory)
            #expect(worker.readLine() == "open")
            _ = try worker.ask("2 \(memory.milliseconds) \(memory.milliseconds)")
            #expect(try store.claim(claim(3), at: Self.start) == .predatesStore(since: minute))
            #expect(try store.claim(used, at: Self.start) == .predatesStore(since: minute))
            #expect(try store.contents().entries == 1)
            try store.close()
        }

        @Test("a clock that steps hours ahead shuts what it passed, until time comes there or the store is removed")
        func stepsAhead() throws {
            let store = try open()
            #expect(try store.claim(claim(1), at: Self.start) == .first)
            let hours: Int64 = 7200
            #expect(try store.claim(claim(2, issued: later(hours)), at: later(hours)) == .first)
            let passed = Timestamp(milliseconds: (later(hours - 300).milliseconds / 60_000) * 60_000)
            // Back in time: what was used and what was not are refused alike, for twelve minutes less than the step.
            for (number, second) in [(1, 0), (3, 60), (4, 3600), (5, hours - 780)] as [(UInt64, Int64)] {
                let claim = claim(number, issued: later(second))
                #expect(try store.claim(claim, at: later(second)) == .predatesStore(since: passed))
            }
            #expect(try store.claim(claim(6, issued: later(hours - 660)), at: later(hours - 660)) == .first)
            try store.close()
            let again = try open()
            #expect(try again.claim(claim(7, issued: later(60)), at: later(60)) == .predatesStore(since: passed))
            try again.close()
            try FileManager.default.removeItem(atPath: path)
            let new = try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: later(60))
            #expect(try new.claim(claim(1), at: later(61)) == .predatesStore(since: later(60)))
            #expect(try new.claim(claim(8, issued: later(61)), at: later(61)) == .first)
            try new.close()
        }
    }
}
