internal import Basics
internal import LoadTest

/// Notes the resident memory of the parts of a run, once per second.
struct MemoryWatch {
    /// A part of the run: its name in the report, and the ID of its process.
    typealias Part = (name: String, process: String)

    struct Series {
        let name: String
        fileprivate let process: String
        /// The bytes in each second; `nil` where the process was not there.
        fileprivate(set) var bytes: [Double?] = []

        private var known: [Double] { bytes.compactMap(\.self) }

        /// The memory at the start, in the middle and at the end, and the most; `nil` if nothing is known.
        var summary: (start: Int, middle: Int, end: Int, most: Int)? {
            guard let first = known.first, let last = known.last, let most = known.max() else { return nil }
            return (Int(first), Int(known[known.count / 2]), Int(last), Int(most))
        }
    }

    private(set) var series: [Series]
    private var next = MonotonicTime.nanoseconds

    init(_ parts: [Part]) { series = parts.map { Series(name: $0.name, process: $0.process) } }

    /// Notes the memory, if a second has passed since the last time.
    mutating func sampleIfDue() {
        guard MonotonicTime.nanoseconds >= next else { return }
        next += 1_000_000_000
        for index in series.indices {
            let resident = ProcessMemory.of(series[index].process).resident
            series[index].bytes.append(resident > 0 ? Double(resident) : nil)
        }
    }
}
