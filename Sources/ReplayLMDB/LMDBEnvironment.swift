internal import CLMDB
internal import Glibc

/// An LMDB environment: one memory-mapped file that the processes of a host share, with one writer at a time.
///
/// Only write transactions are used. They need no slot in LMDB's reader table, so a process that is killed leaves nothing
/// behind that keeps old pages from being used again.
///
/// Not thread-safe: its owner serialises the calls. LMDB itself serialises processes.
final class LMDBEnvironment {
    private let environment: OpaquePointer
    private let reserve: Int
    /// Handles of the numbered databases that are open.
    private var handles: [Int64: MDB_dbi] = [:]
    /// Those that the transaction under way has opened, and that go with it if it is aborted.
    private var fresh: [Int64] = []

    /// Databases open at a time. A bucket is a minute, and a token lives for minutes; this is days.
    private static let databaseLimit: MDB_dbi = 16_384

    /// Without a sync, a commit is a few stores into the page cache. What a process committed survives its death, and is
    /// lost or damaged only with the machine's: the store that owns this finds that out by the kernel's boot ID.
    private static let flags = UInt32(MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS)

    /// Bytes of the map, all of which the file system has set aside.
    private(set) var mapSize: Int

    /// - Parameters:
    ///   - mapSize: bytes of a new map; one that is larger already stays so.
    ///   - reserve: bytes that are set aside beyond the map where the disk has them, for ``grow(to:)`` when it has no more.
    init(directory: String, mapSize: Int, reserve: Int) throws(LMDBError) {
        self.reserve = reserve
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_env_create(&pointer), "create an environment")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "create an environment") }
        environment = pointer
        self.mapSize = mapSize
        // From here on the object is whole, so what is thrown goes through deinit, which closes the environment.
        // Opening makes the file as long as the map, so how long it was has to be asked before.
        let lengthBefore = Self.length(of: directory + "/data.mdb")
        try LMDBError.check(mdb_env_set_mapsize(pointer, mapSize), "set the size of the map")
        try LMDBError.check(mdb_env_set_maxdbs(pointer, Self.databaseLimit), "set the number of databases")
        try LMDBError.check(mdb_env_open(pointer, directory, Self.flags, 0o600), "open the environment")
        try Self.check(lengthBefore, pointer)
        self.mapSize = try Self.currentMapSize(pointer)
        try Self.setAside(self.mapSize, pointer)
        try? Self.setAside(self.mapSize + reserve, pointer)
    }

    deinit {
        mdb_env_close(environment)
    }

    /// Runs `body` in a write transaction, which is committed unless it throws.
    ///
    /// - Throws: what `body` throws, or LMDB's own error; nothing of the transaction has then happened.
    func write<Result>(_ body: (LMDBTransaction) throws(LMDBError) -> Result) throws(LMDBError) -> Result {
        let pointer = try begin()
        let result: Result
        do {
            result = try body(LMDBTransaction(pointer: pointer, environment: self))
        } catch {
            mdb_txn_abort(pointer)
            forgetFresh()
            throw error
        }
        let code = mdb_txn_commit(pointer)
        if code != MDB_SUCCESS { forgetFresh() }
        fresh.removeAll(keepingCapacity: true)
        try LMDBError.check(code, "commit")
        return result
    }

    private func forgetFresh() {
        for number in fresh { handles[number] = nil }
        fresh.removeAll(keepingCapacity: true)
    }

    /// The handle of a numbered database, which is made where it is absent.
    func handle(_ number: Int64, in transaction: OpaquePointer) throws(LMDBError) -> MDB_dbi {
        if let handle = handles[number] { return handle }
        var handle: MDB_dbi = 0
        let code = mdb_dbi_open(transaction, LMDBTransaction.name(number), UInt32(MDB_CREATE), &handle)
        try LMDBError.check(code, "open database \(number)")
        handles[number] = handle
        fresh.append(number)
        return handle
    }

    /// Drops a numbered database and all that is in it. Its handle is gone, whatever becomes of the transaction.
    func drop(_ number: Int64, in transaction: OpaquePointer) throws(LMDBError) {
        let handle = try handle(number, in: transaction)
        let andDelete: Int32 = 1
        try LMDBError.check(mdb_drop(transaction, handle, andDelete), "drop database \(number)")
        handles[number] = nil
        fresh.removeAll { $0 == number }
    }

    /// Closes the handles of databases that another process has dropped; each costs every later transaction a little.
    func forget(through last: Int64) {
        for (number, handle) in handles where number <= last {
            mdb_dbi_close(environment, handle)
            handles[number] = nil
        }
    }

    /// A transaction on a map as large as the largest that any process has made.
    private func begin() throws(LMDBError) -> OpaquePointer {
        var pointer: OpaquePointer?
        var code = mdb_txn_begin(environment, nil, 0, &pointer)
        if code == MDB_MAP_RESIZED {
            let adoptTheirs = 0
            try LMDBError.check(mdb_env_set_mapsize(environment, adoptTheirs), "adopt a grown map")
            mapSize = try Self.currentMapSize(environment)
            code = mdb_txn_begin(environment, nil, 0, &pointer)
        }
        try LMDBError.check(code, "begin a transaction")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "begin a transaction") }
        return pointer
    }

    /// Makes the map `size` bytes large, after the file system has set the space aside.
    ///
    /// The map is written to in memory: a page without space behind it would end the process with SIGBUS.
    func grow(to size: Int) throws(LMDBError) {
        try Self.setAside(size, environment)
        try LMDBError.check(mdb_env_set_mapsize(environment, size), "grow the map")
        mapSize = size
        try? Self.setAside(size + reserve, environment)
    }

    /// Takes back what of the map is beyond `size` and not in use.
    func shrink(to size: Int) throws(LMDBError) {
        guard mapSize > size else { return }
        try LMDBError.check(mdb_env_set_mapsize(environment, size), "shrink the map")
        mapSize = try Self.currentMapSize(environment)
    }

    /// Writes everything to the disk, for a clean end.
    func sync() throws(LMDBError) {
        let force: Int32 = 1
        try LMDBError.check(mdb_env_sync(environment, force), "write to the disk")
    }

    private static func setAside(_ size: Int, _ environment: OpaquePointer) throws(LMDBError) {
        let code = posix_fallocate(try descriptor(environment), 0, off_t(size))
        guard code == 0 else { throw LMDBError(code: code, action: "set \(size >> 20) MiB of disk aside") }
    }

    /// A file shorter than what its own header counts was cut, and reading behind its end would be SIGBUS.
    private static func check(_ length: Int, _ environment: OpaquePointer) throws(LMDBError) {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        try LMDBError.check(mdb_env_info(environment, &info), "read the header")
        try LMDBError.check(mdb_env_stat(environment, &stat), "read the header")
        let isNew = length == 0
        guard isNew || (Int(info.me_last_pgno) + 1) * Int(stat.ms_psize) <= length else {
            throw LMDBError(code: MDB_CORRUPTED, action: "open the environment")
        }
    }

    /// 0 where there is no file yet.
    private static func length(of file: String) -> Int {
        var status = Glibc.stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func currentMapSize(_ environment: OpaquePointer) throws(LMDBError) -> Int {
        var info = MDB_envinfo()
        try LMDBError.check(mdb_env_info(environment, &info), "read the size of the map")
        return Int(info.me_mapsize)
    }

    private static func descriptor(_ environment: OpaquePointer) throws(LMDBError) -> Int32 {
        var descriptor: Int32 = -1
        try LMDBError.check(mdb_env_get_fd(environment, &descriptor), "find the data file")
        return descriptor
    }
}
