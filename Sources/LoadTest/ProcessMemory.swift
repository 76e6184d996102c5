internal import Files

/// The memory of this process in bytes, from `/proc/self/status` (proc(5)).
package struct ProcessMemory: Sendable {
    /// The process's memory that is in RAM.
    package let resident: Int
    /// The resident memory without mapped files: heap and stacks.
    package let anonymous: Int

    package static var now: ProcessMemory {
        let text = (try? FileBytes.read("/proc/self/status", limit: 1 << 16)).map {
            String(decoding: $0, as: UTF8.self)
        }
        let lines = (text ?? "").split(separator: "\n")
        func bytes(_ name: String) -> Int {
            let line = lines.first { $0.hasPrefix(name + ":") }
            let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
            return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
        }
        return ProcessMemory(resident: bytes("VmRSS"), anonymous: bytes("RssAnon"))
    }
}
