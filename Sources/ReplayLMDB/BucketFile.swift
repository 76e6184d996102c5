internal import CLMDB
internal import Glibc
internal import MediaToken
internal import Timestamps

/// The tokens of one bucket: an LMDB environment in one memory-mapped file, which the processes of a host share, with one
/// writer at a time.
///
/// A bucket is dropped by deleting its file. LMDB's own way, to free all pages of a database, leaves a list of them that is
/// written again with every commit until they are used, and finds no room to do so in a full map.
///
/// Only write transactions are used. They need no slot in LMDB's reader table, so a process that is killed leaves nothing
/// behind that keeps old pages from being used again.
///
/// The map has one size for ever and for everybody: LMDB cuts the file to the size of the map that an opener asks for, under
/// the feet of all others. The file is sparse; disk is set aside before LMDB can touch it, since writing to a page without
/// space behind it ends the process with SIGBUS.
///
/// Not thread-safe: its owner serialises the calls. LMDB itself serialises processes.
final class BucketFile {
    /// Without a sync, a commit is a few stores into the page cache. What a process committed survives its death, and is
    /// lost or damaged only with the machine's: the store that owns this finds that out by the kernel's boot ID.
    private static let flags = UInt32(MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS | MDB_NOSUBDIR)
    /// Bytes of the map and length of the file: 16 GiB, for some 400 million tokens that expire in one minute.
    private static let mapSize = 16 << 30
    /// Disk is set aside in steps of this many bytes.
    static let step = 256 << 10
    /// More than LMDB's lock file needs for the readers that it is told to expect.
    private static let lockFileSize: off_t = 4096
    private static let readers: UInt32 = 8

    private let environment: OpaquePointer
    private let pageSize: Int
    /// Bytes from the start of the file for which this process knows that there is disk.
    private var setAside: Int
    /// LMDB counts the transactions of a bucket. This is the last one as all users know it, and as this process does: a file
    /// that tells an earlier one was overwritten by an older copy of itself.
    private let watermark: Horizon.Watermark
    private var last: Int

    /// Opens a file that is there.
    convenience init(opening path: String, _ watermark: Horizon.Watermark) throws(StoreFault) {
        // Asked before LMDB opens it, which would make a file that was cut as long again.
        try Self.checkLength(of: path)
        try self.init(making: path, watermark)
    }

    /// Opens the file, which is made where it is absent. A process that is killed on the way leaves half of it.
    init(making path: String, _ watermark: Horizon.Watermark) throws(StoreFault) {
        self.watermark = watermark
        // Before what it is compared to, which another process may raise.
        let known = watermark.value
        environment = try Self.open(path)
        var stat = MDB_stat()
        mdb_env_stat(environment, &stat)
        pageSize = Int(stat.ms_psize)
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        // What is in use was set aside by whoever wrote it.
        setAside = (Int(info.me_last_pgno) + 1) * pageSize
        last = Int(info.me_last_txnid)
        guard last >= known else { throw .lost }
    }

    deinit {
        mdb_env_close(environment)
    }

    private static func open(_ path: String) throws(StoreFault) -> OpaquePointer {
        try setAsideLockFile(path + "-lock")
        var pointer: OpaquePointer?
        try StoreFault.check(mdb_env_create(&pointer), "make an environment")
        guard let pointer else { throw StoreFault(code: ENOMEM, action: "make an environment") }
        do {
            try StoreFault.check(mdb_env_set_mapsize(pointer, mapSize), "set the size of the map")
            try StoreFault.check(mdb_env_set_maxreaders(pointer, readers), "set the number of readers")
            try StoreFault.check(mdb_env_open(pointer, path, flags, 0o600), "open \(name(path))")
        } catch {
            mdb_env_close(pointer)
            throw error
        }
        return pointer
    }

    /// LMDB maps its lock file too. Closing a descriptor of it takes this process's locks on it away, of which there are
    /// none yet: nobody opens a bucket twice.
    private static func setAsideLockFile(_ path: String) throws(StoreFault) {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreFault(code: errno, action: "open \(name(path))") }
        defer { close(file) }
        try StoreFault.check(posix_fallocate(file, 0, lockFileSize), "set disk aside for \(name(path))")
    }

    private static func checkLength(of path: String) throws(StoreFault) {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else { throw StoreFault(code: errno, action: "open \(name(path))") }
        guard Int(status.st_size) == mapSize else {
            throw StoreFault(code: MDB_CORRUPTED, action: "read \(name(path))")
        }
    }

    private static func name(_ path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }

    /// Answers claims whose keys belong here; all are here now. One transaction.
    ///
    /// - Parameters:
    ///   - now: kept beside a key that is claimed under a mark.
    ///   - mayGrow: whether that many more bytes of disk may be used.
    /// - Throws: LMDB's error; nothing has then happened.
    func insert(
        _ claims: [ReplayClaim], at now: Timestamp, mayGrow: (Int) -> Bool
    ) throws(StoreFault) -> [ReplayAnswer] {
        try write { (transaction, database, pages) throws(StoreFault) in
            try self.setAsidePages(for: claims.count, beyond: pages, mayGrow)
            var answers: [ReplayAnswer] = []
            answers.reserveCapacity(claims.count)
            for claim in claims {
                let (code, present) = Self.put(claim, FingerprintedUse(claim, at: now), database, transaction)
                if code != MDB_KEYEXIST { try StoreFault.check(code, "insert") }
                answers.append(code != MDB_KEYEXIST ? .first : present?.answer(to: claim) ?? .alreadyUsed)
            }
            return answers
        }
    }

    /// Has disk for every page that a transaction may add. Called within it: nobody else adds pages meanwhile.
    private func setAsidePages(for keys: Int, beyond used: Int, _ mayGrow: (Int) -> Bool) throws(StoreFault) {
        // Each key copies at most a page of each level, of which there are five at the most; and there are LMDB's own lists.
        let pages = used + keys * 5 + 32
        let needed = (pages * pageSize + Self.step - 1) / Self.step * Self.step
        guard needed > setAside else { return }
        guard needed <= Self.mapSize, mayGrow(needed - setAside) else {
            throw StoreFault(code: MDB_MAP_FULL, action: "grow")
        }
        var descriptor: Int32 = -1
        try StoreFault.check(mdb_env_get_fd(environment, &descriptor), "find the file")
        try StoreFault.check(posix_fallocate(descriptor, 0, off_t(needed)), "set \(needed >> 10) KiB of disk aside")
        setAside = needed
    }

    /// Puts a key where it is not yet, with nothing beside it or with a marked use. LMDB's code, and the marked use that lies
    /// beside a key that is there already.
    private static func put(
        _ claim: ReplayClaim, _ use: FingerprintedUse?, _ database: MDB_dbi, _ transaction: OpaquePointer
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
                // LMDB has then made it point to what is there.
                let present =
                    code == MDB_KEYEXIST ? UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size) : nil
                return (code, present.flatMap { FingerprintedUse(String(decoding: $0, as: UTF8.self)) })
            }
        }
    }

    /// How many keys there are.
    func count() throws(StoreFault) -> Int {
        try write { (transaction, database, _) throws(StoreFault) in
            var stat = MDB_stat()
            try StoreFault.check(mdb_stat(transaction, database, &stat), "count entries")
            return Int(stat.ms_entries)
        }
    }

    /// Does `body` in a transaction, and tells it how many pages are in use.
    private func write<Result>(
        _ body: (OpaquePointer, MDB_dbi, _ pages: Int) throws(StoreFault) -> Result
    ) throws(StoreFault) -> Result {
        var pointer: OpaquePointer?
        try StoreFault.check(mdb_txn_begin(environment, nil, 0, &pointer), "begin a transaction")
        guard let transaction = pointer else { throw StoreFault(code: ENOMEM, action: "begin a transaction") }
        let result: Result
        do throws(StoreFault) {
            var info = MDB_envinfo()
            try StoreFault.check(mdb_env_info(environment, &info), "read the header")
            guard info.me_last_txnid >= max(last, watermark.value) else { throw StoreFault.lost }
            var database: MDB_dbi = 0
            try StoreFault.check(mdb_dbi_open(transaction, nil, 0, &database), "open the database")
            result = try body(transaction, database, Int(info.me_last_pgno) + 1)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try StoreFault.check(mdb_txn_commit(transaction), "commit")
        try remember()
        return result
    }

    /// Takes note of the last transaction. It may be another process's by now.
    private func remember() throws(StoreFault) {
        var info = MDB_envinfo()
        try StoreFault.check(mdb_env_info(environment, &info), "read the header")
        last = max(last, info.me_last_txnid)
        watermark.raise(to: last)
    }
}
