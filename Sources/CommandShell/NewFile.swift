internal import Basics
internal import Glibc

/// Creates files that did not exist before.
package enum NewFile {
    /// Writes `text` to a new file with exactly `mode`. Follows no link, replaces nothing, and leaves no partial file.
    package static func write(_ text: String, to path: String, mode: UInt32) throws(CommandError) {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    /// Writes `bytes` to a new file, as ``write(_:to:mode:)`` does with a text.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // The umask reduces the mode that open() is given.
        guard fchmod(descriptor, mode) == 0, FileBytes.write(bytes, to: descriptor) else {
            let failure = failure(path)
            unlink(path)
            throw failure
        }
    }

    /// Makes the directory, for its owner alone, if it does not exist. Its parent must exist.
    package static func makeDirectory(_ path: String) throws(CommandError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw failure(path)
    }

    private static func failure(_ path: String) -> CommandError {
        let reason =
            switch errno {
            case EEXIST: "already exists; move it away first"
            case ENOENT: "its directory does not exist; make that first"
            default: String(cString: strerror(errno))
            }
        return CommandError("\(path): \(reason)")
    }
}
