internal import HTTPCalling
internal import HTTPMessages

/// The results of a load test of a gate.
package struct GateFigures: Sendable {
    private static let turnsPerSecond = 5.0

    /// The number of answers, whatever their status.
    package private(set) var answers = 0
    /// The number of requests without an answer.
    package private(set) var unanswered = 0
    /// The number of requests that were due when time was up and had no free connection.
    package internal(set) var unsent = 0
    /// The number of answers by status. An answer without a status header is counted by its HTTP code.
    package private(set) var statuses: [String: Int] = [:]
    /// The time from when a request was due until its answer.
    package private(set) var latency = LatencyHistogram()
    /// The time until the last answer, in seconds.
    package private(set) var seconds = 0.0
    private var turns: [Int]

    init(seconds: Double) {
        turns = Array(repeating: 0, count: max(1, Int((seconds * Self.turnsPerSecond).rounded(.up))))
    }

    package var answersPerSecond: Double { seconds > 0 ? Double(answers) / seconds : 0 }

    /// The answers per second over time.
    package var timeLine: [Double] {
        turns.prefix(max(1, Int((seconds * Self.turnsPerSecond).rounded(.up)))).map { Double($0) * Self.turnsPerSecond }
    }

    mutating func count(_ answer: HTTPClient.Answer?, nanoseconds: UInt64, at moment: Double) {
        guard let answer else { return unanswered += 1 }
        answers += 1
        statuses[answer.header("X-Media-Token-Status") ?? "HTTP \(answer.status)", default: 0] += 1
        latency.record(nanoseconds)
        let turn = Int(moment * Self.turnsPerSecond)
        if turn < turns.count { turns[turn] += 1 }
    }

    mutating func end(after seconds: Double) { self.seconds = seconds }
}
