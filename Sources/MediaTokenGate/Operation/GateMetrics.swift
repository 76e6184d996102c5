internal import Basics

/// What made the gate reload.
package enum ReloadCause: String, CaseIterable, Sendable {
    /// SIGHUP, at which the gate reads its configuration file and all files that this names.
    case signal
    /// A change of files that the settings name; the configuration file is not read.
    case files
}

/// Counts the gate's answers and reloads, for `/metrics`.
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
        let endpoint: String
    }

    private struct State {
        var verdicts: [Label: Int] = [:]
        /// The answers that a gate in earnest would not have given, by the code that it would have given.
        var wouldBe: [Label: Int] = [:]
        var requestors: Set<String> = []
        /// The requests that grants opened, by the IDs of the keys.
        var grants: [String: Int] = [:]
        /// The times of answers by endpoint.
        var latency: [String: Histogram] = [:]
        var store = Histogram(bounds: GateMetrics.bounds)
        var groups = Histogram(bounds: GateMetrics.groupBounds)
        var storeErrors = 0
        var failedReloads: Set<ReloadCause> = []
        var reloadTime = Timestamp.now

        /// Counts `answers` answers that have the labels of `first`.
        mutating func count(_ answers: Int, like first: AnswerRecord, afterMicroseconds microseconds: Int?) {
            var requestor = first.requestor
            if !requestors.contains(requestor) {
                if requestors.count < GateMetrics.mostRequestors {
                    requestors.insert(requestor)
                } else {
                    requestor = "other"
                }
            }
            let endpoint = first.place?.path ?? ""
            verdicts[Label(code: first.code.name, requestor: requestor, endpoint: endpoint), default: 0] += answers
            if let code = first.wouldBe {
                wouldBe[Label(code: code.name, requestor: requestor, endpoint: endpoint), default: 0] += answers
            }
            if let microseconds {
                latency[endpoint, default: Histogram(bounds: GateMetrics.bounds)]
                    .count(Double(microseconds) / 1e6, times: answers)
            }
            if first.isStoreError { storeErrors += answers }
            if first.code.name == GateCode.grantValid.rawValue, let key = first.grant?.keyID {
                grants[key, default: 0] += answers
            }
        }

        /// All counts as metrics.
        var families: [MetricFamily] {
            func family(_ metric: GateMetric, _ counts: [Label: Int]) -> MetricFamily {
                var family = MetricFamily(metric)
                let rows = counts.map { ([$0.code, $0.requestor, $0.endpoint], $1) }
                for (labels, count) in rows.sorted(by: { $0.0.lexicographicallyPrecedes($1.0) }) {
                    family.add(count, labels)
                }
                return family
            }
            var latency = MetricFamily(.verdictSeconds)
            for (endpoint, histogram) in self.latency.sorted(by: { $0.key < $1.key }) {
                histogram.add(to: &latency, [endpoint])
            }
            var grants = MetricFamily(.grants)
            for (key, count) in self.grants.sorted(by: { $0.key < $1.key }) { grants.add(count, [key]) }
            var reloads = MetricFamily(.reloadSuccessful)
            for cause in ReloadCause.allCases {
                reloads.add(failedReloads.contains(cause) ? 0 : 1, [cause.rawValue])
            }
            return [
                family(.verdicts, verdicts), family(.wouldBe, wouldBe), latency, grants, groups.family(.groupTokens),
                store.family(.storeSeconds),
                MetricFamily(.storeErrors, storeErrors), reloads, MetricFamily(.reloadTime, reloadTime.seconds),
            ]
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

        func add(to family: inout MetricFamily, _ labels: [String] = []) {
            var total = 0
            for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], counts) {
                total += count
                family.add(total, suffix: "_bucket", labels, upTo: bound)
            }
            family.add(sum, suffix: "_sum", labels)
            family.add(total, suffix: "_count", labels)
        }

        func family(_ metric: GateMetric) -> MetricFamily {
            var family = MetricFamily(metric)
            add(to: &family)
            return family
        }
    }

    private let state = Guarded(State())
    private let start = Timestamp.now

    package init() {}

    /// Counts the answers of a group. Neighbours that have the same labels, as a group's members mostly have, are
    /// counted together.
    func count(_ group: AnswerRecords) {
        let records = group.records
        state.withLock { state in
            var begin = 0
            while begin < records.count {
                var end = begin + 1
                while end < records.count, records[end].countsLike(records[begin]) { end += 1 }
                state.count(end - begin, like: records[begin], afterMicroseconds: group.microseconds)
                begin = end
            }
        }
    }

    /// Counts a group of so many tokens that were verified together.
    func countVerified(_ tokens: Int) {
        state.withLock { $0.groups.count(Double(tokens)) }
    }

    /// Counts how long the replay store took for the claims of a group.
    func countStore(_ duration: Duration) {
        state.withLock { $0.store.count(duration / .seconds(1)) }
    }

    /// Records a reload, and whether it took effect.
    ///
    /// - Returns: Whether no reload has failed since one of its kind took effect.
    @discardableResult
    package func recordReload(_ cause: ReloadCause, isSuccessful: Bool) -> Bool {
        state.withLock { state in
            guard isSuccessful else {
                state.failedReloads.insert(cause)
                return false
            }
            state.reloadTime = .now
            // Files that load again say nothing of a configuration file that did not.
            state.failedReloads.subtract(cause == .signal ? ReloadCause.allCases : [cause])
            return state.failedReloads.isEmpty
        }
    }

    /// All counts as metrics. They are put together under the lock: a copy of the counts would share their buffers with
    /// the threads that go on counting.
    var families: [MetricFamily] {
        state.withLock { $0.families } + [MetricFamily(.processStart, start.seconds)]
    }
}

extension Timestamp {
    /// The time in seconds since 1970.
    var seconds: Double { Double(milliseconds) / 1000 }
}
