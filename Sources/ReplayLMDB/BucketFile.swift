internal import CLMDB
internal import Glibc
internal import MediaToken

/// The tokens of one expiry bucket: an LMDB environment in one memory-mapped file, which the processes of a host share,
/// with one writer at a time.
///
/// A bucket is deleted by deleting its file. LMDB's own way, freeing all pages of a database, leaves a list of the
/// pages that is written again with every commit until they are reused, and that finds no room in a full map.
///
/// Only write transactions are used. They need no slot in LMDB's reader table, so a process that is killed leaves
/// nothing behind that keeps old pages from being reused.
///
/// The map always has the same size in every process: LMDB truncates the file to the map size that an opener asks for,
/// even while other processes use it. The file is sparse; disk is set aside before LMDB can write to it, because
/// writing to a page without disk space ends the process with SIGBUS.
///
/// Not thread-safe: its owner serialises the calls. LMDB itself serialises processes.
final class BucketFile {
    /// Without a sync, a commit is a few stores into the page cache. What a process committed survives the death of the
    /// process. Only a crash of the machine can lose or damage it; the store that owns this file recognises that by the
    /// boot ID.
    private static let flags = UInt32(MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NOSUBDIR)
    /// The bytes of the map and of the file: 16 GiB, for some 400 million tokens that expire in one minute.
    private static let mapSize = 16 << 30
    /// Disk is set aside in steps of this many bytes.
    static let step = 256 << 10
    /// The size in bytes that is set aside for LMDB's lock file; it is more than ``readers`` readers need.
    private static let lockFileSize: off_t = 4096
    private static let readers: UInt32 = 8

    private let environment: OpaquePointer
    private let pageSize: Int
    /// The number of bytes from the start of the file for which this process knows that disk is set aside.
    private var setAside: Int
    /// LMDB counts the transactions of a bucket. `watermark` holds the highest count known to all users, and `last` the
    /// highest known to this process. A file with a lower count was overwritten by an older copy of itself.
    private let watermark: Horizon.Watermark
    private var last: Int

    /// Opens an existing file.
    convenience init(opening path: String, _ watermark: Horizon.Watermark) throws(LMDBError) {
        // Checked before LMDB opens the file, because LMDB would extend a truncated file to its full length again.
        try Self.checkLength(of: path)
        try self.init(making: path, watermark)
    }

    /// Opens the file, which is created if absent. A process that is killed on the way leaves an incomplete file.
    init(making path: String, _ watermark: Horizon.Watermark) throws(LMDBError) {
        self.watermark = watermark
        // Read before the count that it is compared with, because another process may raise the watermark meanwhile.
        let known = watermark.value
        environment = try Self.open(path)
        var stat = MDB_stat()
        mdb_env_stat(environment, &stat)
        pageSize = Int(stat.ms_psize)
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        // The process that wrote the pages in use has set disk aside for them.
        setAside = (Int(info.me_last_pgno) + 1) * pageSize
        last = Int(info.me_last_txnid)
        guard last >= known else { throw .lost }
    }

    deinit {
        mdb_env_close(environment)
    }

    private static func open(_ path: String) throws(LMDBError) -> OpaquePointer {
        try setAsideLockFile(path + "-lock")
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_env_create(&pointer), "make an environment")
        guard let pointer else { throw LMDBError(code: ENOMEM, action: "make an environment") }
        do {
            try LMDBError.check(mdb_env_set_mapsize(pointer, mapSize), "set the size of the map")
            try LMDBError.check(mdb_env_set_maxreaders(pointer, readers), "set the number of readers")
            try LMDBError.check(mdb_env_open(pointer, path, flags, 0o600), "open \(name(path))")
        } catch {
            mdb_env_close(pointer)
            throw error
        }
        return pointer
    }

    /// Sets disk aside for LMDB's lock file, which LMDB maps too. Closing a descriptor of the lock file releases this
    /// process's locks on it, but there are none yet: no process opens a bucket twice.
    private static func setAsideLockFile(_ path: String) throws(LMDBError) {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError(code: errno, action: "open \(name(path))") }
        defer { close(file) }
        try LMDBError.check(posix_fallocate(file, 0, lockFileSize), "set disk aside for \(name(path))")
    }

    private static func checkLength(of path: String) throws(LMDBError) {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else { throw LMDBError(code: errno, action: "open \(name(path))") }
        guard Int(status.st_size) == mapSize else {
            throw LMDBError(code: MDB_CORRUPTED, action: "read \(name(path))")
        }
    }

    private static func name(_ path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }

    /// Answers claims whose keys belong to this bucket, in one transaction. All keys are in the bucket afterwards.
    ///
    /// - Parameters:
    ///   - now: stored with a key that is claimed with a fingerprint.
    ///   - mayGrow: whether the store may use that many more bytes of disk.
    /// - Throws: the fault of LMDB or of the store; nothing has then been recorded.
    func insert(
        _ claims: [ReplayClaim], at now: Timestamp, mayGrow: (Int) -> Bool
    ) throws(LMDBError) -> [ReplayAnswer] {
        try write { (transaction, database, pages) throws(LMDBError) in
            try self.setAsidePages(for: claims.count, beyond: pages, mayGrow)
            var answers: [ReplayAnswer] = []
            answers.reserveCapacity(claims.count)
            for claim in claims {
                let (code, present) = Self.put(
                    claim, use: FingerprintedUse(claim, at: now), into: database, in: transaction)
                if code != MDB_KEYEXIST { try LMDBError.check(code, "insert") }
                answers.append(code != MDB_KEYEXIST ? .first : present?.answer(to: claim) ?? .alreadyUsed)
            }
            return answers
        }
    }

    /// Sets disk aside for every page that the current transaction may add. No other process adds pages meanwhile.
    private func setAsidePages(for keys: Int, beyond used: Int, _ mayGrow: (Int) -> Bool) throws(LMDBError) {
        // Each key copies at most one page of each of at most five levels; the rest is for LMDB's own lists.
        let pages = used + keys * 5 + 32
        let needed = (pages * pageSize + Self.step - 1) / Self.step * Self.step
        guard needed > setAside else { return }
        guard needed <= Self.mapSize, mayGrow(needed - setAside) else {
            throw LMDBError(code: MDB_MAP_FULL, action: "grow")
        }
        var descriptor: Int32 = -1
        try LMDBError.check(mdb_env_get_fd(environment, &descriptor), "find the file")
        try LMDBError.check(posix_fallocate(descriptor, 0, off_t(needed)), "set \(needed >> 10) KiB of disk aside")
        setAside = needed
    }

    /// Inserts a key that does not exist yet, with an empty value or with a fingerprinted use. Returns LMDB's code and,
    /// for a claim with a fingerprint, the fingerprinted use that is stored with an existing key.
    private static func put(
        _ claim: ReplayClaim, use: FingerprintedUse?, into database: MDB_dbi, in transaction: OpaquePointer
    ) -> (code: Int32, present: FingerprintedUse?) {
        var bytes = claim.key.half
        return withUnsafeMutableBytes(of: &bytes) { buffer in
            var key = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
            guard var text = use?.text else {
                var nothing = MDB_val(mv_size: 0, mv_data: nil)
                return (mdb_put(transaction, database, &key, &nothing, UInt32(MDB_NOOVERWRITE)), nil)
            }
            return text.withUTF8 { digits in
                var value = MDB_val(
                    mv_size: digits.count, mv_data: UnsafeMutableRawPointer(mutating: digits.baseAddress))
                let code = mdb_put(transaction, database, &key, &value, UInt32(MDB_NOOVERWRITE))
                // LMDB has then made `value` point to the existing value.
                let present =
                    code == MDB_KEYEXIST ? UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size) : nil
                return (code, present.flatMap { FingerprintedUse(String(decoding: $0, as: UTF8.self)) })
            }
        }
    }

    /// The number of keys.
    func count() throws(LMDBError) -> Int {
        try write { (transaction, database, _) throws(LMDBError) in
            var stat = MDB_stat()
            try LMDBError.check(mdb_stat(transaction, database, &stat), "count entries")
            return Int(stat.ms_entries)
        }
    }

    /// Runs `body` in a transaction, with the number of pages in use.
    private func write<Value>(
        _ body: (OpaquePointer, MDB_dbi, _ pages: Int) throws(LMDBError) -> Value
    ) throws(LMDBError) -> Value {
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment, nil, 0, &pointer), "begin a transaction")
        guard let transaction = pointer else { throw LMDBError(code: ENOMEM, action: "begin a transaction") }
        let result: Value
        do throws(LMDBError) {
            var info = MDB_envinfo()
            try LMDBError.check(mdb_env_info(environment, &info), "read the header")
            guard info.me_last_txnid >= max(last, watermark.value) else { throw LMDBError.lost }
            var database: MDB_dbi = 0
            try LMDBError.check(mdb_dbi_open(transaction, nil, 0, &database), "open the database")
            result = try body(transaction, database, Int(info.me_last_pgno) + 1)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try LMDBError.check(mdb_txn_commit(transaction), "commit")
        try remember()
        return result
    }

    /// Records the count of the last transaction, which may be another process's by now.
    private func remember() throws(LMDBError) {
        var info = MDB_envinfo()
        try LMDBError.check(mdb_env_info(environment, &info), "read the header")
        last = max(last, info.me_last_txnid)
        watermark.raise(to: last)
    }
}
