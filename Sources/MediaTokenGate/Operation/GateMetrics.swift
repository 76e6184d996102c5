internal import Threading

/// Counts the gate's answers, for `/metrics`.
package final class GateMetrics: Sendable {
    /// The upper bounds of the latency histogram, in seconds.
    private static let bounds = [
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
    ]
    /// The upper bounds of the histogram of groups, in tokens.
    private static let groupBounds: [Double] = [1, 2, 4, 8, 16, 32, 64]
    /// The most requestors that are counted separately. A backend that keeps sending new ones must not grow the table.
    private static let mostRequestors = 100

    private struct Label: Hashable {
        let code: String
        let requestor: String
    }

    private struct State {
        var verdicts: [Label: Int] = [:]
        var requestors: Set<String> = []
        var latency = Histogram(bounds: GateMetrics.bounds)
        var groups = Histogram(bounds: GateMetrics.groupBounds)
        var storeErrors = 0

        /// - Parameter requestor: The requestor; empty if the answer has none.
        mutating func count(
            _ answers: Int, _ code: String, of requestor: String, afterMicroseconds microseconds: Int?
        ) {
            var requestor = requestor
            if !requestors.contains(requestor) {
                if requestors.count < GateMetrics.mostRequestors {
                    requestors.insert(requestor)
                } else {
                    requestor = "other"
                }
            }
            verdicts[Label(code: code, requestor: requestor), default: 0] += answers
            if let microseconds { latency.count(Double(microseconds) / 1e6, times: answers) }
        }
    }

    /// How often values came up to each bound.
    private struct Histogram {
        let bounds: [Double]
        var counts: [Int]
        var sum = 0.0

        init(bounds: [Double]) { (self.bounds, counts) = (bounds, [Int](repeating: 0, count: bounds.count + 1)) }

        mutating func count(_ value: Double, times: Int = 1) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += times
            sum += value * Double(times)
        }

        func family(_ name: String, _ help: String) -> MetricFamily {
            var (family, total) = (MetricFamily(name, .histogram, help), 0)
            for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], counts) {
                total += count
                family.add(total, suffix: "_bucket", ["le": bound])
            }
            family.add(sum, suffix: "_sum")
            family.add(total, suffix: "_count")
            return family
        }
    }

    private let state = Guarded(State())

    package init() {}

    /// Counts the answers of a group. Neighbours of one code and requestor, as a group's members mostly are, are counted
    /// together.
    func count(_ group: AnswerRecords) {
        let records = group.records
        state.withLock { state in
            var begin = 0
            while begin < records.count {
                var end = begin + 1
                while end < records.count, records[end].countsLike(records[begin]) { end += 1 }
                let first = records[begin]
                state.count(
                    end - begin, first.code, of: first.requestor, afterMicroseconds: group.microseconds)
                if first.isStoreError { state.storeErrors += end - begin }
                begin = end
            }
        }
    }

    /// Counts a group of so many tokens that were verified together.
    func countVerified(_ tokens: Int) {
        state.withLock { $0.groups.count(Double(tokens)) }
    }

    /// All counts as metrics.
    var families: [MetricFamily] {
        let state = state.withLock { $0 }
        var verdicts = MetricFamily(
            "media_token_verdicts_total", .counter, "Answers by code and requestor, also those whose client had gone."
        )
        let labels = state.verdicts.sorted { ($0.key.code, $0.key.requestor) < ($1.key.code, $1.key.requestor) }
        for (label, count) in labels {
            verdicts.add(count, ["code": label.code, "requestor": label.requestor])
        }
        return [
            verdicts,
            state.latency.family(
                "media_token_verdict_seconds",
                "Time from the event-loop iteration that brought a request to its answer."),
            state.groups.family("media_token_group_tokens", "Tokens whose signatures were verified together."),
            MetricFamily(
                "media_token_store_errors_total", .counter, "Requests left undecided because the replay store failed.",
                state.storeErrors),
        ]
    }
}
