internal import Basics
internal import Glibc
public import MediaToken

/// A further process that uses the store under test. The author of a store has an executable whose main is one call of
/// ``run(_:open:close:)``, and names it in ``ReplayStoreSharing/processes(worker:deadline:)``.
public enum ReplayStoreWorker {
    /// The command that starts a worker.
    public struct Command: Sendable {
        /// The path of the executable.
        public let executable: String
        /// The arguments before those that the contract adds.
        public let arguments: [String]

        /// Creates the command of the executable at a path.
        ///
        /// - Parameters:
        ///   - executable: the path.
        ///   - arguments: what precedes the arguments that ``ReplayStoreWorker/run(_:open:close:)`` reads.
        public init(_ executable: String, arguments: [String] = []) {
            (self.executable, self.arguments) = (executable, arguments)
        }

        /// Creates the command of an executable that was built with this program, in the same directory.
        ///
        /// - Parameters:
        ///   - name: the executable's name.
        ///   - arguments: what precedes the arguments that ``ReplayStoreWorker/run(_:open:close:)`` reads.
        public init(beside name: String, arguments: [String] = []) {
            let own = realpath("/proc/self/exe", nil)
            defer { free(own) }
            let directory = own.map { String(cString: $0).split(separator: "/").dropLast().joined(separator: "/") }
            self.init("/\(directory ?? "")/\(name)", arguments: arguments)
        }
    }

    /// Does the work that the contract asks of a worker, and ends the process.
    ///
    /// - Parameters:
    ///   - arguments: the process's arguments, without those of the ``Command``.
    ///   - open: opens the store at a place; a new one begins at the time, with its fence there.
    ///   - close: closes the store at the end of work that ends; by default the store closes itself when nobody refers
    ///     to it.
    public static func run<Store: ReplayStore>(
        _ arguments: some Sequence<String>, open: (_ place: String, _ now: Timestamp) throws -> Store,
        close: (Store) throws -> Void = { _ in }
    ) -> Never {
        guard let work = Work(Array(arguments)) else {
            fail("expected the arguments that the contract of replay stores gives its workers")
        }
        do {
            try perform(work, open, close)
        } catch {
            fail("\(error)")
        }
        exit(0)
    }

    /// Opens the store and does the work. The store is released before this returns, so that one that closes itself has
    /// done so when the process ends.
    private static func perform<Store: ReplayStore>(
        _ work: Work, _ open: (_ place: String, _ now: Timestamp) throws -> Store, _ close: (Store) throws -> Void
    ) throws {
        let store = try open(work.place, work.opened)
        switch work.kind {
        case .race(let threads, let keys, let group):
            say("\(try ReplayRace.run(store, threads: threads, keys: keys, group: group, at: work.issued))")
            try close(store)
        case .series(let start):
            claimSeries(of: store, from: start, at: work.issued)
        }
    }

    /// Claims one key after the other, prints the number of each that was first before it claims the next one, and ends
    /// with the first that cannot be decided.
    private static func claimSeries(of store: some ReplayStore, from start: UInt64, at now: Timestamp) -> Never {
        var number = start
        while true {
            do throws(ReplayStoreError) {
                if try store.claim(ReplayRace.claim(number, at: now), at: now) == .first { say("\(number)") }
            } catch {
                say("undecided: \(error)")
                exit(0)
            }
            number += 1
        }
    }

    /// Prints a line in one call; ends the process if nobody reads it.
    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        guard write(1, bytes, bytes.count) == bytes.count else { exit(1) }
    }

    private static func fail(_ message: String) -> Never {
        let bytes = Array("replay store worker: \(message)\n".utf8)
        _ = write(2, bytes, bytes.count)
        exit(1)
    }
}

extension ReplayStoreWorker {
    /// What a worker does, and where and when.
    struct Work: Equatable {
        enum Kind: Equatable {
            /// Threads claim keys, eight threads each key, and the number of first claims is printed.
            case race(threads: Int, keys: Int, group: Int)
            /// Keys are claimed one after the other without an end, and the number of each that was first is printed.
            case series(from: UInt64)
        }

        let place: String
        /// The time at which the store is opened.
        let opened: Timestamp
        /// The time at which the tokens are issued and claimed.
        let issued: Timestamp
        let kind: Kind

        init(_ kind: Kind, at place: String, opened: Timestamp, issued: Timestamp) {
            (self.kind, self.place, self.opened, self.issued) = (kind, place, opened, issued)
        }

        /// Reads the form that ``arguments`` has.
        init?(_ arguments: [String]) {
            guard arguments.count > 4, let opened = Int64(arguments[1]), let issued = Int64(arguments[2])
            else { return nil }
            (place, self.opened) = (arguments[0], Timestamp(milliseconds: opened))
            self.issued = Timestamp(milliseconds: issued)
            let numbers = arguments[4...].compactMap { Int($0) }
            switch (arguments[3], numbers.count) {
            case ("race", 3): kind = .race(threads: numbers[0], keys: numbers[1], group: numbers[2])
            case ("series", 1): kind = .series(from: UInt64(max(0, numbers[0])))
            default: return nil
            }
        }

        /// The work in words of a command line.
        var arguments: [String] {
            let common = [place, "\(opened.milliseconds)", "\(issued.milliseconds)"]
            return switch kind {
            case .race(let threads, let keys, let group): common + ["race", "\(threads)", "\(keys)", "\(group)"]
            case .series(let start): common + ["series", "\(start)"]
            }
        }
    }
}
