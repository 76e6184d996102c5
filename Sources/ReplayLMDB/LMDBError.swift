internal import CLMDB
internal import Glibc

/// What is wrong with a store. The text completes a line that begins with the path of the store's directory.
struct LMDBError: Error {
    let what: String
    /// Whether the store's size limit leaves no room for more entries.
    private(set) var isFull = false
    /// Why files of the store can no longer be believed; `nil` if that is not what is wrong.
    private(set) var loss: FenceCause?
    /// Whether another process kept a lock for longer than this one waits.
    private(set) var isHeldUp = false

    init(_ what: String) { self.what = what }

    /// An error of LMDB, or of the file system below it.
    init(code: Int32, action: String) {
        let said = "cannot \(action): \(String(cString: mdb_strerror(code)))"
        let isDamaged = [MDB_INVALID, MDB_CORRUPTED, MDB_VERSION_MISMATCH, MDB_PAGE_NOTFOUND].contains(code)
        what = isDamaged ? "is damaged (\(said)); move the directory away, and a new store begins" : said
    }

    static func check(_ code: Int32, _ action: @autoclosure () -> String) throws(LMDBError) {
        guard code == MDB_SUCCESS else { throw LMDBError(code: code, action: action()) }
    }

    static var full: LMDBError {
        var fault = LMDBError("has reached its limit of disk space")
        fault.isFull = true
        return fault
    }

    static func heldUp(for patience: Duration) -> LMDBError {
        var fault = LMDBError("is locked by another process; waited \(patience) for it")
        fault.isHeldUp = true
        return fault
    }

    /// - Parameter loss: What happened to the files.
    static func lost(_ loss: FenceCause) -> LMDBError {
        var fault = LMDBError("had its files removed or replaced while it was in use")
        fault.loss = loss
        return fault
    }
}

extension Result where Failure == LMDBError {
    /// Whether another process kept a lock for longer than this one waits.
    var isHeldUp: Bool { if case .failure(let error) = self { error.isHeldUp } else { false } }
}

func lastError() -> String {
    String(cString: strerror(errno))
}
