internal import Basics
internal import Glibc

/// How much of a processor threads got, and how much they had to wait for. A load test on a busy machine measures the
/// other programs too, and this tells it.
package struct ProcessorTime: Sendable {
    /// The nanoseconds for which the threads ran.
    package private(set) var used: UInt64 = 0
    /// The nanoseconds for which they were ready to run, and others ran.
    private var waited: UInt64 = 0
    /// The nanoseconds that passed.
    private var passed: UInt64 = 0
    /// The time that this machine's processors ran, and that the host of a virtual machine gave to others, in ticks.
    private var ran: UInt64 = 0
    private var stolen: UInt64 = 0

    package init() {}

    /// The time of the calling thread since it began: proc_pid_schedstat(5), proc_stat(5).
    package static var ofThisThread: ProcessorTime {
        var time = ProcessorTime()
        (time.used, time.passed) = (MonotonicTime.ofThisThread, MonotonicTime.nanoseconds)
        time.waited = numbers("/proc/thread-self/schedstat").dropFirst().first ?? 0
        // user, nice, system, idle, iowait, irq, softirq, steal
        let ticks = numbers("/proc/stat")
        guard ticks.count >= 8 else { return time }
        time.ran = ticks[0..<3].reduce(0, +) + ticks[5] + ticks[6]
        time.stolen = ticks[7]
        return time
    }

    /// The numbers of a file's first line.
    private static func numbers(_ path: String) -> [UInt64] {
        let bytes = (try? FileBytes.read(path, limit: 1 << 20)) ?? []
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.split(separator: " ").compactMap { UInt64($0) }
    }

    /// The part of the time for which the threads had a processor whenever they wanted one, from 0 to 1.
    package var share: Double {
        func part(_ lost: UInt64, of all: UInt64) -> Double { all == 0 ? 0 : min(1, Double(lost) / Double(all)) }
        return (1 - part(waited, of: passed)) * (1 - part(stolen, of: ran + stolen))
    }

    package mutating func add(_ other: ProcessorTime) {
        used += other.used
        waited += other.waited
        passed += other.passed
        ran += other.ran
        stolen += other.stolen
    }

    /// What a thread got, and waited for, between two readings.
    package static func from(_ start: ProcessorTime, to end: ProcessorTime) -> ProcessorTime {
        var time = end
        for path in [\ProcessorTime.used, \.waited, \.passed, \.ran, \.stolen] {
            time[keyPath: path] -= min(start[keyPath: path], end[keyPath: path])
        }
        return time
    }
}
