internal import Files

/// Memory of this process, in bytes, as `/proc/self/status` has it (proc(5)).
package struct ProcessMemory: Sendable {
    /// What lies in the machine's memory for it.
    package let resident: Int
    /// The same without files that are mapped: heap and stacks.
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
