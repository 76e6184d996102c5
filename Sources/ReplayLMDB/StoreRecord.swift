internal import Glibc

/// What a store's text file tells: the boot of the kernel under which the store was used last, whether it was closed
/// cleanly, the fence, and which files there must be.
struct StoreRecord: Equatable {
    static let name = "store"
    private static let format = "media-token replay store, format 2"

    var boot: String
    var isClosed = false
    /// Tokens issued up to then may have been used before the store began to remember. Milliseconds since 1970.
    var fence: Int64
    /// How many records the store has had, this one included.
    var number: Int64 = 0
    /// The files that the store consists of, the record itself included: their names, and which files they are.
    var files: [String: String] = [:]

    init(boot: String, fence: Int64) {
        (self.boot, self.fence) = (boot, fence)
    }

    /// Reads ``text``.
    init(_ text: String) throws(StoreFault) {
        let lines = text.split(separator: "\n")
        guard lines.first == Self.format[...] else {
            throw StoreFault(
                "is of another format than '\(Self.format)'; use the version that made it, or another directory")
        }
        var values: [Substring: Substring] = [:]
        var files: [String: String] = [:]
        for line in lines.dropFirst().map({ $0.split(separator: " ") }) {
            if line.count == 3, line[0] == "file" { files[String(line[1])] = String(line[2]) }
            if line.count == 2 { values[line[0]] = line[1] }
        }
        guard let boot = values["boot"], let fence = values["fence"].flatMap({ Int64($0) }),
            let number = values["number"].flatMap({ Int64($0) }), let state = values["state"],
            ["open", "closed"].contains(state), Self.essential.allSatisfy(files.keys.contains)
        else { throw StoreFault("has a damaged file '\(Self.name)'; move the directory away, and a new store begins") }
        (self.boot, self.fence, self.number, self.files) = (String(boot), fence, number, files)
        isClosed = state == "closed"
    }

    private static let essential = [name, StoreDirectory.usersName, StoreDirectory.horizonName]

    var text: String {
        """
        \(Self.format)
        boot \(boot)
        fence \(fence)
        number \(number)
        state \(isClosed ? "closed" : "open")

        """ + files.sorted { $0.key < $1.key }.map { "file \($0.key) \($0.value)\n" }.joined()
    }
}

/// A record and the file that it was read from or written to. The file is held open, so that no other gets its inode number.
final class RecordFile {
    let record: StoreRecord
    private let descriptor: Int32
    private let identity: FileIdentity?

    /// - Parameter descriptor: the file; closed in the end.
    init(_ record: StoreRecord, in descriptor: Int32) {
        (self.record, self.descriptor) = (record, descriptor)
        identity = FileIdentity(in: descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Whether `path` leads to this file, and nobody has written to it or moved it since.
    func isAt(_ path: String) -> Bool {
        guard let identity else { return false }
        return FileIdentity(path, in: AT_FDCWD) == identity
    }
}
