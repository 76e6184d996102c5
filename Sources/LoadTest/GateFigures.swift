internal import HTTPClient

/// What a load test of a gate has measured.
package struct GateFigures: Sendable {
    private static let turnsPerSecond = 5.0

    /// Answers that came, whatever they said.
    package private(set) var answers = 0
    /// Requests to which none came.
    package private(set) var unanswered = 0
    /// Requests that were due when time was up, and still waited for a connection.
    package internal(set) var unsent = 0
    /// How many answers had each status; one without is counted by its HTTP code.
    package private(set) var statuses: [String: Int] = [:]
    /// From when a request was due to its answer.
    package private(set) var latency = LatencyHistogram()
    /// How long it took until the last answer.
    package private(set) var seconds = 0.0
    private var turns: [Int]

    init(seconds: Double) {
        turns = Array(repeating: 0, count: max(1, Int((seconds * Self.turnsPerSecond).rounded(.up))))
    }

    package var answersPerSecond: Double { seconds > 0 ? Double(answers) / seconds : 0 }

    /// Answers a second, over time.
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
