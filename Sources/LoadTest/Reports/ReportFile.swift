internal import Basics
package import CommandShell
internal import Glibc

/// The file that a report goes to.
package enum ReportFile {
    /// Throws if the file cannot be written, which is better known before a long run than after it.
    package static func check(_ path: String) throws(CommandError) { close(try open(path)) }

    /// Writes a file, replacing an existing one, because users repeat a report after each change.
    package static func write(_ text: String, to path: String) throws(CommandError) {
        let descriptor = try open(path, O_TRUNC)
        defer { close(descriptor) }
        guard FileBytes.write(Array(text.utf8), to: descriptor) else { throw failure(path) }
    }

    private static func open(_ path: String, _ flags: Int32 = 0) throws(CommandError) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        return descriptor
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError("\(path): \(String(cString: strerror(errno)))")
    }
}
