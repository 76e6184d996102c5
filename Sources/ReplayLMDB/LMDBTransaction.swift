internal import CLMDB

/// One write transaction. Valid within ``LMDBEnvironment/write(_:)`` only.
final class LMDBTransaction {
    private let pointer: OpaquePointer
    /// Handles of the databases that are open, by name.
    private(set) var databases: [String: MDB_dbi]

    init(_ pointer: OpaquePointer, _ databases: [String: MDB_dbi]) {
        self.pointer = pointer
        self.databases = databases
    }

    /// The database of that name, which is made where it is absent.
    func database(_ name: String) throws(LMDBError) -> MDB_dbi {
        if let database = databases[name] { return database }
        var database: MDB_dbi = 0
        try LMDBError.check(mdb_dbi_open(pointer, name, UInt32(MDB_CREATE), &database), "open database \(name)")
        databases[name] = database
        return database
    }

    /// Whether `key` was not there before. It is now, with no value.
    func insert(_ key: SIMD2<UInt64>, into database: MDB_dbi) throws(LMDBError) -> Bool {
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

    /// A number that was stored under `key`; `nil` where there is none.
    func number(_ key: String, in database: MDB_dbi) throws(LMDBError) -> Int64? {
        var value = MDB_val()
        let code = withValue(of: Array(key.utf8)) { mdb_get(pointer, database, &$0, &value) }
        guard code != MDB_NOTFOUND else { return nil }
        try LMDBError.check(code, "read \(key)")
        guard value.mv_size == MemoryLayout<Int64>.size, let data = value.mv_data else {
            throw LMDBError(code: MDB_CORRUPTED, action: "read \(key)")
        }
        return Int64(littleEndian: data.loadUnaligned(as: Int64.self))
    }

    func store(_ number: Int64, under key: String, in database: MDB_dbi) throws(LMDBError) {
        var bytes = number.littleEndian
        let code = withUnsafeMutableBytes(of: &bytes) { buffer in
            var value = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
            return withValue(of: Array(key.utf8)) { mdb_put(pointer, database, &$0, &value, 0) }
        }
        try LMDBError.check(code, "store \(key)")
    }

    /// The names of all databases, in the order of their bytes.
    func names() throws(LMDBError) -> [String] {
        var root: MDB_dbi = 0
        try LMDBError.check(mdb_dbi_open(pointer, nil, 0, &root), "open the root")
        var cursor: OpaquePointer?
        try LMDBError.check(mdb_cursor_open(pointer, root, &cursor), "open a cursor")
        defer { mdb_cursor_close(cursor) }
        var names: [String] = []
        var (key, value) = (MDB_val(), MDB_val())
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
            names.append(
                String(decoding: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size), as: UTF8.self))
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        guard code == MDB_NOTFOUND else { throw LMDBError(code: code, action: "list databases") }
        return names
    }

    /// Drops the database and all that is in it.
    func drop(_ name: String) throws(LMDBError) {
        let database = try database(name)
        let andDelete: Int32 = 1
        try LMDBError.check(mdb_drop(pointer, database, andDelete), "drop database \(name)")
        databases[name] = nil
    }

    func count(_ name: String) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try LMDBError.check(mdb_stat(pointer, try database(name), &stat), "count database \(name)")
        return Int(stat.ms_entries)
    }

    private func withValue(of bytes: [UInt8], _ body: (inout MDB_val) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var value = MDB_val(mv_size: buffer.count, mv_data: UnsafeMutableRawPointer(mutating: buffer.baseAddress))
            return body(&value)
        }
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
