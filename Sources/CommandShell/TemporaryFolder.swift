internal import FoundationEssentials
internal import Glibc

/// A temporary folder of a command, for its owner alone. It is removed when this object is freed, and at the latest
/// when the program exits, as it does when its output can no longer be written.
package final class TemporaryFolder {
    package let path: String

    /// - Parameter name: What the folder's name begins with.
    package init(_ name: String) throws(CommandError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError("\(parent): cannot make a folder: \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        Self.made.append(path)
        atexit { TemporaryFolder.made.forEach { TemporaryFolder.remove($0) } }
    }

    deinit { Self.remove(path) }

    /// Writes a file into this folder, and returns its path.
    package func write(_ text: String, to name: String, mode: UInt32 = 0o600) throws(CommandError) -> String {
        try NewFile.write(text, to: "\(path)/\(name)", mode: mode)
        return "\(path)/\(name)"
    }

    // Used by the main thread only.
    private nonisolated(unsafe) static var made: [String] = []

    private static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        made.removeAll { $0 == path }
    }
}
