internal import Basics
internal import Glibc

/// The contents of a store's text file: the boot ID of the kernel under which the store was last used, whether it was
/// closed cleanly, the fence, and the files that must exist.
struct StoreRecord: Equatable {
    static let name = "store"
    private static let format = "media-token replay store, format 3"

    var boot: String
    var isClosed = false
    /// The fence in milliseconds since 1970: tokens issued up to then may have been used before records began.
    var fence: Int64
    /// The record's number: 0 for the store's first record, and one more for each record that replaces it.
    var number: Int64 = 0
    /// The names and identities of the files that make up the store, the record itself included.
    var files: [String: String] = [:]
    /// Why the store has its fence.
    var cause: FenceCause
    /// The directory that the store's directory is in, and who owned the store, when this record was written; `nil` in
    /// a record of an earlier version.
    var surroundings: String?

    init(boot: String, fence: Int64, cause: FenceCause) {
        (self.boot, self.fence, self.cause) = (boot, fence, cause)
    }

    /// Parses what ``text`` returns.
    init(_ text: String) throws(LMDBError) {
        let lines = text.split(separator: "\n")
        guard lines.first == Self.format[...] else {
            throw LMDBError(
                "is '\(printable(String(lines.first ?? "")))', expected '\(Self.format)'; use the version that made it, or "
                    + "another directory")
        }
        var values: [Substring: Substring] = [:]
        var files: [String: String] = [:]
        for line in lines.dropFirst().map({ $0.split(separator: " ") }) {
            if line.count == 3, line[0] == "file" { files[String(line[1])] = String(line[2]) }
            if line.count == 2 { values[line[0]] = line[1] }
        }
        guard let boot = values["boot"], let fence = values["fence"].flatMap({ Int64($0) }),
            let number = values["number"].flatMap({ Int64($0) }), let state = values["state"],
            ["open", "closed"].contains(state),
            ([Self.name] + StoreDirectory.fileNames).allSatisfy(files.keys.contains)
        else { throw LMDBError("has a damaged file '\(Self.name)'; move the directory away, and a new store begins") }
        (self.boot, self.fence, self.number, self.files) = (String(boot), fence, number, files)
        isClosed = state == "closed"
        cause = values["cause"].flatMap { FenceCause(rawValue: String($0)) } ?? .unknown
        surroundings = values["surroundings"].map(String.init)
    }

    var text: String {
        """
        \(Self.format)
        boot \(boot)
        fence \(fence)
        number \(number)
        state \(isClosed ? "closed" : "open")
        cause \(cause.rawValue)

        """ + (surroundings.map { "surroundings \($0)\n" } ?? "")
            + files.sorted { $0.key < $1.key }.map { "file \($0.key) \($0.value)\n" }.joined()
    }
}

/// A record and the file that it was read from or written to. The file is held open, so that no other file gets its
/// inode number.
final class RecordFile {
    let record: StoreRecord
    private let descriptor: Int32
    private let identity: FileIdentity?

    /// - Parameter descriptor: the record's file, which is closed when this object is freed.
    init(_ record: StoreRecord, in descriptor: Int32) {
        (self.record, self.descriptor) = (record, descriptor)
        identity = FileIdentity(in: descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Whether `path` leads to this file, and the file was not written to since this object was created. If it was
    /// moved away and back, the times of its directory show that.
    func isAt(_ path: String) -> Bool {
        guard let identity, let found = FileIdentity(path, in: AT_FDCWD) else { return false }
        return found.isSameFile(as: identity) && found.modified == identity.modified
    }
}
