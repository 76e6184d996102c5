internal import Files
internal import Glibc

/// A file that was not there before.
enum NewFile {
    /// Writes `text` with exactly `mode`. Never follows a link to, or replaces, what is there, and leaves no half of it.
    static func write(_ text: String, to path: String, mode: mode_t) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // The mode of open() is cut by the umask.
        guard fchmod(descriptor, mode) == 0, FileBytes.write(Array(text.utf8), to: descriptor) else {
            let failure = failure(path)
            unlink(path)
            throw failure
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        let reason =
            switch errno {
            case EEXIST: "is there already; move it away first"
            case ENOENT: "its directory does not exist; make that first"
            default: String(cString: strerror(errno))
            }
        return CommandFailure("\(path): \(reason)")
    }
}
