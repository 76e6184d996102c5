internal import MediaToken
internal import Threading

/// What is counted, in Prometheus' text format (exposition formats, 0.0.4).
package final class GateMetrics: Sendable {
    /// Upper bounds of the latency histogram in seconds.
    private static let bounds = [
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
    ]
    /// Requestors that are told apart; a backend that sends ever new ones must not grow the table.
    private static let mostRequestors = 100

    private struct Label: Hashable {
        let status: String
        let requestor: String
    }

    private struct State {
        var verdicts: [Label: Int] = [:]
        var requestors: Set<String> = []
        var buckets = [Int](repeating: 0, count: bounds.count + 1)
        var seconds = 0.0
        var storeErrors = 0
    }

    private let lock = Lock()
    private nonisolated(unsafe) var state = State()

    package init() {}

    /// Counts one answer.
    package func count(_ status: String, requestor: String?, microseconds: Int, isStoreError: Bool = false) {
        let seconds = Double(microseconds) / 1e6
        lock.withLock {
            var requestor = requestor ?? ""
            if state.requestors.count < Self.mostRequestors { state.requestors.insert(requestor) }
            if !state.requestors.contains(requestor) { requestor = "other" }
            state.verdicts[Label(status: status, requestor: requestor), default: 0] += 1
            state.buckets[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            state.seconds += seconds
            if isStoreError { state.storeErrors += 1 }
        }
    }

    /// - Parameter gauges: further values, with their help.
    package func text(gauges: [(name: String, help: String, value: Int)]) -> String {
        let state = lock.withLock { self.state }
        var lines = [
            "# HELP media_token_verdicts_total Requests answered, by status and requestor.",
            "# TYPE media_token_verdicts_total counter",
        ]
        for (label, count) in state.verdicts.sorted(by: {
            ($0.key.status, $0.key.requestor) < ($1.key.status, $1.key.requestor)
        }) {
            let labels = "status=\"\(label.status)\",requestor=\"\(Self.escaped(label.requestor))\""
            lines.append("media_token_verdicts_total{\(labels)} \(count)")
        }
        lines += [
            "# HELP media_token_verdict_seconds Time from the turn of the loop that brought a request to its answer.",
            "# TYPE media_token_verdict_seconds histogram",
        ]
        var total = 0
        for (bound, count) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], state.buckets) {
            total += count
            lines.append("media_token_verdict_seconds_bucket{le=\"\(bound)\"} \(total)")
        }
        lines += [
            "media_token_verdict_seconds_sum \(state.seconds)", "media_token_verdict_seconds_count \(total)",
            "# HELP media_token_store_errors_total Verdicts that the replay store could not tell.",
            "# TYPE media_token_store_errors_total counter", "media_token_store_errors_total \(state.storeErrors)",
        ]
        for gauge in gauges {
            lines += [
                "# HELP \(gauge.name) \(gauge.help)", "# TYPE \(gauge.name) gauge", "\(gauge.name) \(gauge.value)",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func escaped(_ label: String) -> String {
        printable(label).map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
