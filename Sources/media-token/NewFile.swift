internal import Glibc

/// A file that was not there before.
enum NewFile {
    /// Writes `text` with exactly `mode`. Never follows a link to, or replaces, what is there, and leaves no half of it.
    static func write(_ text: String, to path: String, mode: mode_t) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // The mode of open() is cut by the umask.
        guard fchmod(descriptor, mode) == 0, writeAll(Array(text.utf8), to: descriptor) else {
            let failure = failure(path)
            unlink(path)
            throw failure
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        let reason = errno == EEXIST ? "is there already; move it away first" : String(cString: strerror(errno))
        return CommandFailure("\(path): \(reason)")
    }
}

/// Writes all of `bytes`, in as many pieces as it takes. `false` where that fails; `errno` tells why.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
