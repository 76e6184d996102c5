internal import CLMDB

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

    var reason: String {
        isDamaged
            ? "is damaged (cannot \(action): \(String(cString: mdb_strerror(code)))); "
                + "move the directory away, and a new store begins"
            : "cannot \(action): \(String(cString: mdb_strerror(code)))"
    }
}
