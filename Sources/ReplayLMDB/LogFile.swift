internal import CLMDB
internal import Glibc

/// The file of a store's log: an LMDB environment in one memory-mapped file, which the processes of a host share.
///
/// There are only write transactions, one at a time, under a lock of our own (``FileLock``). LMDB's lock is not used:
/// it knows its holder by a thread number, which threads of two containers may share, and its callers wait without a
/// deadline.
///
/// The map always has the same size in every process: LMDB truncates the file to the map size that an opener asks for,
/// even while other processes use it. The file is sparse; disk is set aside before LMDB can write to it
/// (``DiskSpace``).
///
/// Not thread-safe: its owner serialises the calls.
final class LogFile {
    /// Without a sync, a commit is a few stores into the page cache. What a process committed survives the death of the
    /// process. Only a crash of the machine can lose or damage it; the store that owns this file recognises that by the
    /// boot ID.
    ///
    /// Without read-ahead, the kernel gives a claim that comes to a new page that page alone, and not megabytes of
    /// zeros.
    private static let flags = UInt32(MDB_NOSYNC | MDB_WRITEMAP | MDB_NOLOCK | MDB_NOSUBDIR | MDB_NORDAHEAD)
    /// The bytes of the map and of the file: 16 GiB, for some 500 million tokens.
    private static let mapSize = 16 << 30
    /// How long a claim waits for the transactions of other processes, which take milliseconds at most.
    static let patience = Duration.milliseconds(250)
    /// LMDB's pages are as large as the processor's.
    static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

    private let environment: OpaquePointer
    private let space: DiskSpace
    /// The largest number of bytes that records may take.
    private let capacity: Int
    /// LMDB counts the transactions of a file. The horizon holds the highest count known to all users of the store, and
    /// `last` the highest known to this process. A file with a lower count was overwritten by an older copy of itself.
    private let horizon: Horizon
    private var last: Int

    /// Opens an existing log.
    convenience init(opening directory: StoreDirectory, _ horizon: Horizon, sizeLimit: Int) throws(LMDBError) {
        let file = try directory.open(StoreDirectory.logName, O_RDWR)
        // Checked before LMDB opens the file, because LMDB would extend a truncated file to its full length again.
        var status = Glibc.stat()
        guard fstat(file, &status) == 0, Int(status.st_size) == Self.mapSize else {
            close(file)
            throw LMDBError(code: MDB_CORRUPTED, action: "read \(StoreDirectory.logName)")
        }
        try self.init(file, horizon, sizeLimit: sizeLimit)
        space.readAhead()
    }

    /// Opens the log, which is created if absent. A process that is killed on the way leaves an incomplete file.
    convenience init(making directory: StoreDirectory, _ horizon: Horizon, sizeLimit: Int) throws(LMDBError) {
        try self.init(
            try directory.open(StoreDirectory.logName, O_RDWR | O_CREAT), horizon, sizeLimit: sizeLimit)
    }

    /// - Parameter file: the open file, which this object closes.
    private init(_ file: Int32, _ horizon: Horizon, sizeLimit: Int) throws(LMDBError) {
        self.horizon = horizon
        // Read before the count that it is compared with, because another process may raise it meanwhile.
        let known = horizon.transactions
        do throws(LMDBError) { environment = try Self.open(file) } catch {
            close(file)
            throw error
        }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        last = Int(info.me_last_txnid)
        // The process that wrote the pages in use has set disk aside for them.
        let used = (Int(info.me_last_pgno) + 1) * Self.pageSize
        space = DiskSpace(of: file, from: used, limit: sizeLimit)
        // The rest is for LMDB's own pages, and for disk that is set aside and not used yet.
        let limit = min(sizeLimit, Self.mapSize)
        capacity = limit - max(limit / 16, 3 << 20)
        guard last >= known else { throw .lost(.copied) }
    }

    deinit {
        mdb_env_close(environment)
    }

    /// Has LMDB open the very file that is open already.
    private static func open(_ file: Int32) throws(LMDBError) -> OpaquePointer {
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_env_create(&pointer), "make an environment")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "make an environment") }
        do {
            try LMDBError.check(mdb_env_set_mapsize(pointer, mapSize), "set the size of the map")
            let place = "/proc/self/fd/\(file)"
            try LMDBError.check(mdb_env_open(pointer, place, flags, 0o600), "open \(StoreDirectory.logName)")
        } catch {
            mdb_env_close(pointer)
            throw error
        }
        return pointer
    }

    /// Runs `body` in a transaction, which is undone if `body` throws.
    ///
    /// - Throws: an error also if another process stays in a transaction for longer than `patience`.
    func write<Value>(
        patience: Duration, _ body: (inout LogTransaction) throws(LMDBError) -> Value
    ) throws(LMDBError) -> Value {
        try FileLock.hold(space.descriptor, patience: patience, pause: 20) { () throws(LMDBError) in
            guard try count() >= max(last, horizon.transactions) else { throw LMDBError.lost(.copied) }
            var pointer: OpaquePointer?
            try LMDBError.check(mdb_txn_begin(environment, nil, 0, &pointer), "begin a transaction")
            guard let pointer else { throw LMDBError(code: ENOMEM, action: "begin a transaction") }
            let result: Value
            do throws(LMDBError) {
                var transaction = try LogTransaction(pointer)
                result = try body(&transaction)
            } catch {
                mdb_txn_abort(pointer)
                throw error
            }
            try LMDBError.check(mdb_txn_commit(pointer), "commit")
            last = try count()
            horizon.count(transactions: last)
            return result
        }
    }

    /// The count of the last transaction that was committed.
    private func count() throws(LMDBError) -> Int {
        var info = MDB_envinfo()
        try LMDBError.check(mdb_env_info(environment, &info), "read the header")
        return info.me_last_txnid
    }

    /// Whether the log may have that many more entries.
    func hasRoom(for entries: Int, in transaction: borrowing LogTransaction) throws(LMDBError) -> Bool {
        try transaction.pages() * Self.pageSize + entries * Self.largestEntry <= capacity
    }

    /// Whether the log is much larger than that many entries need.
    func isSparse(for entries: Int, in transaction: borrowing LogTransaction) throws(LMDBError) -> Bool {
        try transaction.pages() * Self.pageSize > 2 * entries * Self.largestEntry + Self.overhead
    }

    /// Sets disk aside for a transaction that writes for that many entries.
    func setDiskAside(for entries: Int) throws(LMDBError) {
        var info = MDB_envinfo()
        try LMDBError.check(mdb_env_info(environment, &info), "read the header")
        try space.setAside((Int(info.me_last_pgno) + 1) * Self.pageSize + entries * Self.largestEntry + Self.overhead)
    }

    /// The largest number of bytes of an entry: one with the use that a retry must match, in a record of its own.
    private static let largestEntry = 72
    /// The bytes of the pages that a transaction copies or fills for itself.
    private static let overhead = 128 * pageSize
}
