internal import Glibc

/// A file that was not there before.
enum NewFile {
    /// Writes `text` with exactly `mode`. Never follows a link to, or replaces, what is there.
    static func write(_ text: String, to path: String, mode: mode_t) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        let reason = errno == EEXIST ? "is there already; move it away first" : String(cString: strerror(errno))
        return CommandFailure("\(path): \(reason)")
    }
}
