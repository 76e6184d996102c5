internal import CLMDB

/// One transaction of the log: the log as the transactions before it have left it, and what this one appends and
/// deletes.
///
/// A record is kept under its position: the number of the transaction that appended it, and its order among that
/// transaction's records. LMDB numbers the transactions of a file upwards for ever, so no position is used twice.
struct LogTransaction: ~Copyable {
    typealias Position = UInt64

    /// A record, and where it is.
    struct Found {
        let position: Position
        let entries: [LogRecord.Entry]
    }

    /// The number of low bits of a position that count the records of one transaction.
    private static let orderBits: Position = 20

    private let pointer: OpaquePointer
    private let database: MDB_dbi
    /// The position of the first record that this transaction appends.
    let begin: Position
    /// The position of the next record that it appends.
    private var end: Position
    /// The position at which a process that knows this transaction's records continues to read. It is ``begin`` if the
    /// transaction has written nothing, because LMDB then gives its number to the next one too.
    var following: Position { end == begin ? begin : begin + 1 << Self.orderBits }

    init(_ pointer: OpaquePointer) throws(LMDBError) {
        self.pointer = pointer
        var database: MDB_dbi = 0
        try LMDBError.check(mdb_dbi_open(pointer, nil, UInt32(MDB_INTEGERKEY), &database), "open the log")
        self.database = database
        begin = Position(mdb_txn_id(pointer)) << Self.orderBits
        end = begin
    }

    /// The number of pages that hold records.
    func pages() throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try LMDBError.check(mdb_stat(pointer, database, &stat), "count pages")
        return Int(stat.ms_leaf_pages + stat.ms_branch_pages + stat.ms_overflow_pages)
    }

    /// A cursor, before the first record. It must be released before the transaction ends.
    func cursor() throws(LMDBError) -> LogCursor {
        try LogCursor(pointer, database)
    }

    /// Appends a record.
    mutating func append(_ record: LogRecord) throws(LMDBError) {
        var position = end
        let code = record.words.withUnsafeBytes { bytes in
            withUnsafeMutableBytes(of: &position) { position in
                var key = MDB_val(mv_size: position.count, mv_data: position.baseAddress)
                var value = MDB_val(
                    mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                return mdb_put(pointer, database, &key, &value, UInt32(MDB_APPEND))
            }
        }
        try LMDBError.check(code, "append to the log")
        end += 1
    }
}

/// A place in the log, within a transaction.
struct LogCursor: ~Copyable {
    private let pointer: OpaquePointer

    fileprivate init(_ transaction: OpaquePointer, _ database: MDB_dbi) throws(LMDBError) {
        var pointer: OpaquePointer?
        try LMDBError.check(mdb_cursor_open(transaction, database, &pointer), "read the log")
        guard let pointer else { throw LMDBError(code: MDB_CORRUPTED, action: "read the log") }
        self.pointer = pointer
    }

    deinit {
        mdb_cursor_close(pointer)
    }

    /// Moves to the first record that is at `position` or later; `nil` if there is none.
    func move(to position: LogTransaction.Position) throws(LMDBError) -> LogTransaction.Found? {
        try move(MDB_SET_RANGE, position)
    }

    /// Moves to the next record, or from the beginning to the first; `nil` if there is none. After ``delete()``, the
    /// next record is the one that follows the deleted one.
    func next() throws(LMDBError) -> LogTransaction.Found? {
        try move(MDB_NEXT)
    }

    /// Deletes the record that the cursor is at.
    func delete() throws(LMDBError) {
        try LMDBError.check(mdb_cursor_del(pointer, 0), "delete from the log")
    }

    private func move(
        _ operation: MDB_cursor_op, _ position: LogTransaction.Position = 0
    ) throws(LMDBError) -> LogTransaction.Found? {
        var position = position
        return try withUnsafeMutableBytes(of: &position) { (bytes) throws(LMDBError) in
            var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            var value = MDB_val()
            let code = mdb_cursor_get(pointer, &key, &value, operation)
            guard code != MDB_NOTFOUND else { return nil }
            try LMDBError.check(code, "read the log")
            guard key.mv_size == bytes.count, let place = key.mv_data,
                let entries = LogRecord.entries(
                    of: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            else { throw LMDBError(code: MDB_CORRUPTED, action: "read the log") }
            return LogTransaction.Found(
                position: place.loadUnaligned(as: LogTransaction.Position.self), entries: entries)
        }
    }
}
