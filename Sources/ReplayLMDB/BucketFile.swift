internal import CLMDB
internal import Glibc

/// The tokens of one bucket: an LMDB environment in one memory-mapped file, which the processes of a host share, with one
/// writer at a time.
///
/// A bucket is dropped by deleting its file. LMDB's own way, to free all pages of a database, leaves a list of them that is
/// written again with every commit until they are used, and finds no room to do so in a full map.
///
/// Only write transactions are used. They need no slot in LMDB's reader table, so a process that is killed leaves nothing
/// behind that keeps old pages from being used again.
///
/// Not thread-safe: its owner serialises the calls. LMDB itself serialises processes.
final class BucketFile {
    /// Without a sync, a commit is a few stores into the page cache. What a process committed survives its death, and is
    /// lost or damaged only with the machine's: the store that owns this finds that out by the kernel's boot ID.
    private static let flags = UInt32(MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NOSUBDIR)
    private static let initialSize = 256 << 10

    private let environment: OpaquePointer
    /// Bytes of the map, all of which the file system has set aside.
    private(set) var size = 0

    /// Opens the file, which is made where it is absent.
    convenience init(making path: String) throws(LMDBError) {
        if access(path, F_OK) != 0 { try Self.make(path) }
        try self.init(opening: path)
    }

    /// Opens a file that is there.
    init(opening path: String) throws(LMDBError) {
        environment = try Self.environment()
        // From here on the object is whole, so what is thrown goes through deinit, which closes the environment.
        // Opening makes the file as long as the map, so how long it was has to be asked before.
        let length = Self.length(of: path)
        try LMDBError.check(mdb_env_open(environment, path, Self.flags, 0o600), "open \(Self.name(path))")
        try checkContent(length, path)
        size = try mapSize()
        try setAside(size)
    }

    deinit {
        mdb_env_close(environment)
    }

    /// Makes a whole file under another name and gives it the right one at once: a process that is killed on the way leaves
    /// no half of it. Where two do so, the first one's stays.
    private static func make(_ path: String) throws(LMDBError) {
        let draft = "\(path).new-\(getpid())"
        defer {
            unlink(draft)
            unlink(draft + "-lock")
        }
        let environment = try environment()
        let code = mdb_env_open(environment, draft, flags, 0o600)
        mdb_env_close(environment)
        try LMDBError.check(code, "make \(name(path))")
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw LMDBError(code: errno, action: "make \(name(path))")
        }
    }

    private static func environment() throws(LMDBError) -> OpaquePointer {
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_env_create(&pointer), "make an environment")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "make an environment") }
        let code = mdb_env_set_mapsize(pointer, initialSize)
        if code != MDB_SUCCESS { mdb_env_close(pointer) }
        try LMDBError.check(code, "set the size of the map")
        return pointer
    }

    /// For each key whether it was not there before; all are there now. One transaction.
    ///
    /// - Throws: LMDB's error; nothing has then happened.
    func insert(_ keys: [SIMD2<UInt64>]) throws(LMDBError) -> [Bool] {
        try write { (transaction, database) throws(LMDBError) in
            var areNew: [Bool] = []
            areNew.reserveCapacity(keys.count)
            for key in keys { areNew.append(try Self.insert(key, database, transaction)) }
            return areNew
        }
    }

    private static func insert(
        _ key: SIMD2<UInt64>, _ database: MDB_dbi, _ transaction: OpaquePointer
    ) throws(LMDBError) -> Bool {
        var bytes = key
        let code = withUnsafeMutableBytes(of: &bytes) { buffer in
            var key = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
            var nothing = MDB_val(mv_size: 0, mv_data: nil)
            return mdb_put(transaction, database, &key, &nothing, UInt32(MDB_NOOVERWRITE))
        }
        guard code != MDB_KEYEXIST else { return false }
        try LMDBError.check(code, "insert")
        return true
    }

    /// How many keys there are.
    func count() throws(LMDBError) -> Int {
        try write { (transaction, database) throws(LMDBError) in
            var stat = MDB_stat()
            try LMDBError.check(mdb_stat(transaction, database, &stat), "count entries")
            return Int(stat.ms_entries)
        }
    }

    private func write<Result>(
        _ body: (OpaquePointer, MDB_dbi) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        let transaction = try begin()
        let result: Result
        do {
            var database: MDB_dbi = 0
            try LMDBError.check(mdb_dbi_open(transaction, nil, 0, &database), "open the database")
            result = try body(transaction, database)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try LMDBError.check(mdb_txn_commit(transaction), "commit")
        return result
    }

    /// A transaction on a map as large as the largest that any process has made.
    private func begin() throws(LMDBError) -> OpaquePointer {
        var pointer: OpaquePointer?
        var code = mdb_txn_begin(environment, nil, 0, &pointer)
        if code == MDB_MAP_RESIZED {
            let adoptTheirs = 0
            try LMDBError.check(mdb_env_set_mapsize(environment, adoptTheirs), "adopt a grown map")
            size = try mapSize()
            code = mdb_txn_begin(environment, nil, 0, &pointer)
        }
        try LMDBError.check(code, "begin a transaction")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "begin a transaction") }
        return pointer
    }

    /// Makes the map larger by half, after the file system has set the space aside.
    ///
    /// The map is written to in memory: a page without space behind it would end the process with SIGBUS.
    func grow() throws(LMDBError) {
        let larger = size + growth
        try setAside(larger)
        try LMDBError.check(mdb_env_set_mapsize(environment, larger), "grow the map")
        size = larger
    }

    /// Bytes that ``grow()`` adds; a multiple of any page's size.
    var growth: Int { max(Self.initialSize, size / 2 / Self.initialSize * Self.initialSize) }

    private func setAside(_ size: Int) throws(LMDBError) {
        var descriptor: Int32 = -1
        try LMDBError.check(mdb_env_get_fd(environment, &descriptor), "find the file")
        let code = posix_fallocate(descriptor, 0, off_t(size))
        guard code == 0 else { throw LMDBError(code: code, action: "set \(size >> 10) KiB of disk aside") }
    }

    private func mapSize() throws(LMDBError) -> Int {
        var info = MDB_envinfo()
        try LMDBError.check(mdb_env_info(environment, &info), "read the size of the map")
        return Int(info.me_mapsize)
    }

    /// A file shorter than what its own header counts was cut, and reading behind its end would be SIGBUS.
    private func checkContent(_ length: Int, _ path: String) throws(LMDBError) {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        try LMDBError.check(mdb_env_info(environment, &info), "read \(Self.name(path))")
        try LMDBError.check(mdb_env_stat(environment, &stat), "read \(Self.name(path))")
        guard (Int(info.me_last_pgno) + 1) * Int(stat.ms_psize) <= length else {
            throw LMDBError(code: MDB_CORRUPTED, action: "read \(Self.name(path))")
        }
    }

    private static func length(of path: String) -> Int {
        var status = Glibc.stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func name(_ path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }
}
