internal import Threading

/// Counts the gate's answers, for `/metrics`.
package final class GateMetrics: Sendable {
    /// The upper bounds of the latency histogram, in seconds.
    private static let bounds = [
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
    ]
    /// The most requestors that are counted separately. A backend that keeps sending new ones must not grow the table.
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

    private let state = Guarded(State())

    package init() {}

    /// Counts one answer.
    package func count(_ status: String, requestor: String?, microseconds: Int, isStoreError: Bool = false) {
        let seconds = Double(microseconds) / 1e6
        state.withLock { state in
            var requestor = requestor ?? ""
            if !state.requestors.contains(requestor) {
                if state.requestors.count < Self.mostRequestors {
                    state.requestors.insert(requestor)
                } else {
                    requestor = "other"
                }
            }
            state.verdicts[Label(status: status, requestor: requestor), default: 0] += 1
            state.buckets[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            state.seconds += seconds
            if isStoreError { state.storeErrors += 1 }
        }
    }

    /// All counts as metrics.
    var families: [MetricFamily] {
        let state = state.withLock { $0 }
        var verdicts = MetricFamily(
            "media_token_verdicts_total", .counter, "Requests answered, by status and requestor.")
        let labels = state.verdicts.sorted { ($0.key.status, $0.key.requestor) < ($1.key.status, $1.key.requestor) }
        for (label, count) in labels {
            verdicts.add(count, ["status": label.status, "requestor": label.requestor])
        }
        var latency = MetricFamily(
            "media_token_verdict_seconds", .histogram,
            "Time from the event-loop iteration that brought a request to its answer.")
        var total = 0
        for (bound, count) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], state.buckets) {
            total += count
            latency.add(total, suffix: "_bucket", ["le": bound])
        }
        latency.add(state.seconds, suffix: "_sum")
        latency.add(total, suffix: "_count")
        return [
            verdicts, latency,
            MetricFamily(
                "media_token_store_errors_total", .counter, "Requests left undecided because the replay store failed.",
                state.storeErrors),
        ]
    }
}
