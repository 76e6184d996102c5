internal import Basics
internal import Glibc

/// Creates files that did not exist before, and replaces others as a whole.
package enum NewFile {
    /// Writes `text` to a new file with exactly `mode`. Follows no link, replaces nothing, and leaves no partial file.
    ///
    /// - Parameter ofGroupOfDirectory: Whether the file gets the group of its directory.
    package static func write(
        _ text: String, to path: String, mode: UInt32, ofGroupOfDirectory: Bool = false
    ) throws(CommandError) {
        try write(Array(text.utf8), to: path, mode: mode, ofGroupOfDirectory: ofGroupOfDirectory)
    }

    /// Writes `bytes` to a new file, as ``write(_:to:mode:)`` does with a text.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32, ofGroupOfDirectory: Bool = false
    ) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // The umask reduces the mode that open() is given, and a change of the group the mode.
        guard !ofGroupOfDirectory || fchown(descriptor, uid_t.max, group(ofDirectoryOf: path)) == 0,
            fchmod(descriptor, mode) == 0, FileBytes.write(bytes, to: descriptor)
        else {
            let failure = failure(path)
            unlink(path)
            throw failure
        }
    }

    /// Replaces a file by one with these bytes, and with its mode, owner and group. A program that reads it meanwhile
    /// reads the one or the other. Where a link leads to the file, the link stays.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(CommandError) {
        var status = stat()
        guard let real = realpath(path, nil), stat(real, &status) == 0 else { throw failure(path) }
        defer { free(real) }
        let file = String(cString: real)
        let new = file + ".new"
        try write(bytes, to: new, mode: status.st_mode & 0o7777)
        guard chown(new, status.st_uid, status.st_gid) == 0, chmod(new, status.st_mode & 0o7777) == 0,
            rename(new, file) == 0
        else {
            let failure = failure(path)
            unlink(new)
            throw failure
        }
    }

    /// The group of the directory that a file is in; one that leaves the file's as it is if there is no telling.
    private static func group(ofDirectoryOf path: String) -> gid_t {
        var status = stat()
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        return stat(String(directory), &status) == 0 ? status.st_gid : gid_t.max
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
