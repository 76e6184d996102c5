internal import EventLoops
internal import HTTPCalling
internal import HTTPMessages
internal import LoadTest
internal import Threading

/// Notes the resident memory of the parts of a run, once per second.
final class MemoryWatch {
    enum Source: Sendable {
        case process(id: String)
        /// The admin address of a gate, whose `/metrics` have its memory.
        case metrics(ServerURL)
    }

    struct Series {
        let name: String
        /// The bytes in each second; `nil` where the process gave no answer.
        fileprivate(set) var bytes: [Double?] = []

        private var known: [Double] { bytes.compactMap(\.self) }

        /// The memory at the start, in the middle and at the end, and the most; `nil` if nothing is known.
        var summary: (start: Int, middle: Int, end: Int, most: Int)? {
            guard let first = known.first, let last = known.last, let most = known.max() else { return nil }
            return (Int(first), Int(known[known.count / 2]), Int(last), Int(most))
        }
    }

    private let sources: [Source]
    private let loop: EventLoop
    private(set) var series: [Series]
    private var next = MonotonicTime.nanoseconds

    init(_ sources: [(name: String, source: Source)]) throws(EventLoopError) {
        loop = try EventLoop()
        self.sources = sources.map(\.source)
        series = sources.map { Series(name: $0.name) }
    }

    /// Notes the memory, if a second has passed since the last time.
    func sampleIfDue() {
        guard MonotonicTime.nanoseconds >= next else { return }
        next = MonotonicTime.nanoseconds + 1_000_000_000
        for (index, source) in sources.enumerated() { series[index].bytes.append(bytes(source)) }
    }

    private func bytes(_ source: Source) -> Double? {
        switch source {
        case .process(let id):
            let resident = ProcessMemory.of(id).resident
            return resident > 0 ? Double(resident) : nil
        case .metrics(let url):
            let answer = HTTPClient(loop, address: url.host, port: url.port, timeout: 2).ask("/metrics")
            let lines = answer.map { String(decoding: $0.body, as: UTF8.self).split(separator: "\n") } ?? []
            let line = lines.first { $0.hasPrefix("process_resident_memory_bytes ") }
            return line?.split(separator: " ").last.flatMap { Double($0) }
        }
    }
}
