import FileReplayStore
import Glibc
import MediaToken
import ReplayStoreTesting

/// What is wrong with a store, and which clauses it breaks therefore.
enum Fault: String, CaseIterable {
    case checksThenWrites = "looks a key up under the lock, and writes it under the lock later"
    case writesLate = "writes a hundred keys at a time"
    case forgets = "forgets a key when its token expires, and has no fence"

    /// The names of all clauses that the store breaks.
    var brokenClauses: Set<String> {
        switch self {
        case .checksThenWrites:
            [
                "64 threads, eight of them at each of 10,000 keys, get each key first once",
                "64 tasks, eight of them at each of 10,000 keys and half of them without blocking, get each key first once",
                "64 threads with two stores that one process has opened, eight of them at each of 10,000 keys, get each key first once",
                "4 processes of 64 threads, eight of them at each of 10,000 keys, get each key first once",
                "while another process is stopped in its claims, each claim is answered by the deadline and no key is first twice",
            ]
        case .writesLate:
            [
                "a key that was claimed before the store was closed is used when it is open again",
                "64 threads with two stores that one process has opened, eight of them at each of 10,000 keys, get each key first once",
                "4 processes of 64 threads, eight of them at each of 10,000 keys, get each key first once",
                "what other processes claimed while a process was idle is used for it, also once earlier records have expired",
                "however a process is killed while it claims, no key is first twice and none is forgotten",
                "while another process is stopped in its claims, each claim is answered by the deadline and no key is first twice",
            ]
        case .forgets:
            [
                "a key is remembered for as long as any policy may accept its token",
                "a key is remembered when time has really passed, whatever its callers' clocks say",
                "no key is first again when the clock goes back",
                "no clock that steps, by seconds or by hours, makes a key first twice",
                "a token issued up to the store's beginning predates it, and a token issued after that is first",
                "a key that was claimed before the store was closed is used when it is open again",
                "what other processes claimed while a process was idle is used for it, also once earlier records have expired",
            ]
        }
    }

    func open(_ place: String, at now: Timestamp) throws(ReplayStoreError) -> BrokenStore {
        BrokenStore(fault: self, directory: try SharedDirectory(place, at: now))
    }
}

/// The store in a file, with a fault.
final class BrokenStore: ReplayStore {
    private let fault: Fault
    private let directory: SharedDirectory

    init(fault: Fault, directory: SharedDirectory) {
        (self.fault, self.directory) = (fault, directory)
    }

    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        do throws(ReplayStoreError) {
            let answers =
                switch fault {
                case .checksThenWrites: try checkThenWrite(group, at: now)
                case .writesLate: try writeLate(group, at: now)
                case .forgets: try forget(group, at: now)
                }
            return answers.map { .success($0) }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    private func checkThenWrite(_ group: [ReplayClaim], at now: Timestamp) throws(ReplayStoreError) -> [ReplayAnswer] {
        let before = try directory.withLock { (uses) throws(ReplayStoreError) in
            try uses.drop(through: ReplayBucket(lastPassedAt: now))
            return group.map { uses.answer(to: $0) }
        }
        usleep(500)
        return try directory.withLock { (uses) throws(ReplayStoreError) in
            var firsts: [ReplayKey: ReplayClaim] = [:]
            let answers = zip(group, before).map { claim, answer in
                guard answer == .first else { return answer }
                if let first = firsts[claim.key] {
                    return FingerprintedUse(first, at: now)?.answer(to: claim) ?? .alreadyUsed
                }
                firsts[claim.key] = claim
                return .first
            }
            for claim in firsts.values { uses.add(claim, at: now) }
            try uses.write()
            return answers
        }
    }

    private func writeLate(_ group: [ReplayClaim], at now: Timestamp) throws(ReplayStoreError) -> [ReplayAnswer] {
        // Time without the lock: a process that is stopped with it keeps the others from every wrong answer.
        usleep(500)
        return try directory.withLock { (uses) throws(ReplayStoreError) in
            try uses.drop(through: ReplayBucket(lastPassedAt: now))
            let answers = group.map { claim in
                let answer = uses.answer(to: claim)
                if answer == .first { uses.add(claim, at: now) }
                return answer
            }
            if uses.unwritten >= 100 { try uses.write() }
            return answers
        }
    }

    private func forget(_ group: [ReplayClaim], at now: Timestamp) throws(ReplayStoreError) -> [ReplayAnswer] {
        try directory.withLock { (uses) throws(ReplayStoreError) in
            try uses.drop(through: ReplayBucket(lastPassedAt: now.advanced(by: VerificationPolicy.largestClockSkew)))
            let answers = group.map { claim in
                let use = uses.use(before: claim)
                if use == nil { uses.add(claim, at: now) }
                return use ?? .first
            }
            try uses.write()
            return answers
        }
    }
}

struct BrokenStoreSubject: ReplayStoreSubject {
    let fault: Fault
    let directory: String

    func makePlace() throws -> String {
        var path = Array("\(directory)/store-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw ReplayStoreError.unavailable("\(directory) takes no directory") }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func open(_ place: String, at now: Timestamp) throws -> BrokenStore { try fault.open(place, at: now) }

    var sharing: ReplayStoreSharing {
        let worker = ReplayStoreWorker.Command(beside: "broken-stores", arguments: [fault.rawValue])
        return .processes(worker: worker, deadline: .seconds(2))
    }

    var claimsInGroup: Int { 40 }
}
