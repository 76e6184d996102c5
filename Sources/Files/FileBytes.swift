internal import Glibc

/// Reads and writes whole files.
package enum FileBytes {
    /// Reads all bytes of a file, a pipe or a device.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes. If the file is longer, `read` throws instead of truncating it.
    ///   - onlyRegular: Whether pipes and devices are refused, which could keep the caller waiting indefinitely.
    package static func read(_ path: String, limit: Int, onlyRegular: Bool = false) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (onlyRegular ? O_NONBLOCK : 0))
        guard descriptor >= 0 else {
            throw FileError(description: "cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard !onlyRegular || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(description: "is not a regular file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw FileError(description: "cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw FileError(description: "is longer than \(limit) bytes") }
        }
    }

    /// Writes all of `bytes`, in as many pieces as necessary. Returns `false` if that fails; `errno` then holds the
    /// reason.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                // Another process may have made the pipe non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// The reason why a file could not be read. It completes a line that begins with the file's name.
package struct FileError: Error, CustomStringConvertible {
    package let description: String
}
