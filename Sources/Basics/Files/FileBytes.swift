internal import Glibc

/// Reads and writes whole files.
package enum FileBytes {
    /// Opens a file for reading.
    ///
    /// A pipe or a device could keep the caller waiting indefinitely, and is refused, unless it was handed to this
    /// process and is named by its descriptor, as a shell's `<(…)` is.
    ///
    /// - Parameter onlyRegular: Whether those that were handed to this process are refused as well.
    private static func open(_ path: String, onlyRegular: Bool) throws(FileError) -> Int32 {
        let isHandedOver =
            path == "/dev/stdin"
            || ["/dev/fd/", "/proc/self/fd/"].contains { path.hasPrefix($0) && UInt(path.dropFirst($0.count)) != nil }
        let waits = isHandedOver && !onlyRegular
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK | O_NOCTTY))
        guard descriptor >= 0 else { throw FileError(failedTo: "opened") }
        var status = stat()
        guard waits || fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw FileError(description: "is not a regular file")
        }
        return descriptor
    }

    /// Calls `body` with a path that leads to the very file that was opened here, for a library that opens files itself
    /// and would wait for the writer of a pipe.
    package static func withFile<Value>(_ path: String, _ body: (String) -> Value) throws(FileError) -> Value {
        let descriptor = try open(path, onlyRegular: false)
        defer { close(descriptor) }
        return body("/proc/self/fd/\(descriptor)")
    }

    /// Reads all bytes of a file.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes. If the file is longer, `read` throws instead of truncating it.
    ///   - onlyRegular: Whether a pipe or a device is refused even if it was handed to this process and is named by its
    ///     descriptor.
    package static func read(_ path: String, limit: Int, onlyRegular: Bool = false) throws(FileError) -> [UInt8] {
        let descriptor = try open(path, onlyRegular: onlyRegular)
        defer { close(descriptor) }
        return try read(descriptor, limit: limit)
    }

    /// Reads the rest of an open file.
    package static func read(_ descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(failedTo: "read") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw FileError(description: "is longer than \(limit) bytes") }
        }
    }

    /// Whether a path leads to a directory.
    package static func isDirectory(_ path: String) throws(FileError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError(failedTo: "opened") }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a directory, in no order.
    package static func names(in directory: String) throws(FileError) -> [String] {
        guard let stream = opendir(directory) else { throw FileError(failedTo: "listed") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Bytes of a file without the line break at its end, LF or CRLF, which editors add.
    package static func withoutLastLineBreak(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.last == UInt8(ascii: "\n") else { return bytes }
        return Array(bytes.dropLast(bytes.dropLast().last == UInt8(ascii: "\r") ? 2 : 1))
    }

    /// Whether a path leads to no file: to nothing, to itself, to a directory, or to a device such as `/dev/null`, with
    /// which files are switched off. A pipe may still get its contents, and what may not be looked at is not gone.
    package static func isGone(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return [ENOENT, ENOTDIR, ELOOP].contains(errno) }
        return ![S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT)
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

extension FileError {
    /// What the last call of the system failed to do, and its reason.
    fileprivate init(failedTo action: String) {
        description = "cannot be \(action): \(String(cString: strerror(errno)))"
    }
}
