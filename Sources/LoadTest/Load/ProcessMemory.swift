internal import Basics

/// The memory of a process in bytes, from `/proc/PID/status` (proc(5)).
package struct ProcessMemory: Sendable {
    /// The process's memory that is in RAM.
    package let resident: Int
    /// The resident memory without mapped files: heap and stacks.
    package let anonymous: Int

    /// The memory of this process.
    package static var now: ProcessMemory { of("self") }

    /// The memory of the process with this identifier; zero if there is none.
    package static func of(_ process: String) -> ProcessMemory {
        let text = (try? FileBytes.read("/proc/\(process)/status", limit: 1 << 16)).map {
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
