internal import CLMDB

/// One write transaction. Valid within ``LMDBEnvironment/write(_:)`` only.
///
/// It sees databases that are numbered, and a few numbers that are stored beside them under names.
struct LMDBTransaction {
    fileprivate static let prefix = "b"

    let pointer: OpaquePointer
    let environment: LMDBEnvironment

    /// Under which LMDB knows a numbered database.
    static func name(_ number: Int64) -> String { prefix + String(number) }

    /// Whether `key` was not in the database. It is now, with no value.
    func insert(_ key: SIMD2<UInt64>, into number: Int64) throws(LMDBError) -> Bool {
        let database = try environment.handle(number, in: pointer)
        var bytes = key
        let code = withUnsafeMutableBytes(of: &bytes) { buffer in
            var key = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
            var nothing = MDB_val(mv_size: 0, mv_data: nil)
            return mdb_put(pointer, database, &key, &nothing, UInt32(MDB_NOOVERWRITE))
        }
        guard code != MDB_KEYEXIST else { return false }
        try LMDBError.check(code, "insert")
        return true
    }

    /// A number that was stored under `name`; `nil` where there is none.
    func stored(_ name: StaticString) throws(LMDBError) -> Int64? {
        var value = MDB_val()
        var key = Self.value(name)
        let code = mdb_get(pointer, try root(), &key, &value)
        guard code != MDB_NOTFOUND else { return nil }
        try LMDBError.check(code, "read '\(name)'")
        guard value.mv_size == MemoryLayout<Int64>.size, let data = value.mv_data else {
            throw LMDBError(code: MDB_CORRUPTED, action: "read '\(name)'")
        }
        return Int64(littleEndian: data.loadUnaligned(as: Int64.self))
    }

    func store(_ number: Int64, under name: StaticString) throws(LMDBError) {
        let root = try root()
        var key = Self.value(name)
        var bytes = number.littleEndian
        let code = withUnsafeMutableBytes(of: &bytes) { buffer in
            var value = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
            return mdb_put(pointer, root, &key, &value, 0)
        }
        try LMDBError.check(code, "store '\(name)'")
    }

    /// The numbers of all databases.
    func databases() throws(LMDBError) -> [Int64] {
        var cursor: OpaquePointer?
        try LMDBError.check(mdb_cursor_open(pointer, try root(), &cursor), "open a cursor")
        defer { mdb_cursor_close(cursor) }
        var numbers: [Int64] = []
        var (key, value) = (MDB_val(), MDB_val())
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
            let name = String(decoding: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size), as: UTF8.self)
            if name.hasPrefix(Self.prefix), let number = Int64(name.dropFirst()) { numbers.append(number) }
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        guard code == MDB_NOTFOUND else { throw LMDBError(code: code, action: "list databases") }
        return numbers
    }

    /// Drops a database and all that is in it.
    func drop(_ number: Int64) throws(LMDBError) {
        try environment.drop(number, in: pointer)
    }

    func count(_ number: Int64) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try LMDBError.check(mdb_stat(pointer, try environment.handle(number, in: pointer), &stat), "count an entry")
        return Int(stat.ms_entries)
    }

    /// The unnamed database, which is always there and costs nothing to open.
    private func root() throws(LMDBError) -> MDB_dbi {
        var root: MDB_dbi = 0
        try LMDBError.check(mdb_dbi_open(pointer, nil, 0, &root), "open the root")
        return root
    }

    private static func value(_ name: StaticString) -> MDB_val {
        MDB_val(mv_size: name.utf8CodeUnitCount, mv_data: UnsafeMutableRawPointer(mutating: name.utf8Start))
    }
}

/// LMDB, or the file system below it, said no.
struct LMDBError: Error, Equatable {
    let code: Int32
    let action: String

    static func check(_ code: Int32, _ action: @autoclosure () -> String) throws(LMDBError) {
        guard code == MDB_SUCCESS else { throw LMDBError(code: code, action: action()) }
    }

    /// Whether there is no room for another page.
    var isMapFull: Bool { code == MDB_MAP_FULL }
    /// Whether what lies there is no store, or a broken one.
    var isDamaged: Bool { [MDB_INVALID, MDB_CORRUPTED, MDB_VERSION_MISMATCH, MDB_PAGE_NOTFOUND].contains(code) }

    var reason: String { "cannot \(action): \(String(cString: mdb_strerror(code)))" }
}
