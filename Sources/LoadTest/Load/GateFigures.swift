internal import Basics
internal import HTTP

/// The results of a load test of a gate.
package struct GateFigures: Sendable {
    private static let mostCodes = 64

    /// The number of answers, whatever their code.
    package private(set) var answers = 0
    /// The number of requests without an answer.
    package private(set) var unanswered = 0
    /// The number of requests that were due when time was up and had no free connection.
    package internal(set) var unsent = 0
    /// The seconds after which no signed token was left, which ended the test; `nil` if tokens sufficed.
    package internal(set) var ranOutAfter: Double?
    /// The number of answers by code. An answer without a code is counted by its HTTP status.
    package private(set) var codes: [String: Int] = [:]
    /// The reason that the gate gave with the first answer of each code, by code.
    package private(set) var details: [String: String] = [:]
    /// The time until the last answer, in seconds.
    package private(set) var seconds = 0.0
    /// The processor time of the thread that sent.
    package private(set) var processor = ProcessorTime()
    private var turns: [LatencyHistogram]
    private let turnSeconds: Double
    /// The latencies of answers after the last turn.
    private var late = LatencyHistogram()

    init(seconds: Double) {
        turnSeconds = max(0.2, seconds / 200)
        turns = Array(repeating: LatencyHistogram(), count: max(1, Int((seconds / turnSeconds).rounded(.up))))
    }

    /// The part of the time for which the thread that sent was busy, from 0 to 1.
    package var busyPart: Double { seconds > 0 ? min(1, Double(processor.used) / 1e9 / seconds) : 0 }

    package var answersPerSecond: Double { seconds > 0 ? Double(answers) / seconds : 0 }

    /// The time from when a request was due until its answer.
    package var latency: LatencyHistogram { turns.reduce(into: late) { $0.add($1) } }

    /// The latencies of each turn, and the turn's length in seconds. A turn that the end of the test cut short is left
    /// out, because its rate would seem to fall.
    package var timeLine: (turns: [LatencyHistogram], turnSeconds: Double) {
        let whole = Int(seconds / turnSeconds)
        return whole == 0 ? (Array(turns.prefix(1)), seconds) : (Array(turns.prefix(whole)), turnSeconds)
    }

    /// The answers a second in each turn of the timeline.
    package var rates: [Double] {
        let (turns, turnSeconds) = timeLine
        return turns.map { Double($0.count) / turnSeconds }
    }

    mutating func count(_ answer: HTTPClient.Answer?, nanoseconds: UInt64, at time: Double) {
        guard let answer else { return unanswered += 1 }
        answers += 1
        let named = printable(answer.gateCode, limit: 80)
        // A gate that answers with ever other codes must not fill the memory.
        let code = codes[named] == nil && codes.count >= Self.mostCodes ? "other codes" : named
        if codes[code] == nil { details[code] = answer.gateDetail }
        codes[code, default: 0] += 1
        let turn = Int(time / turnSeconds)
        if turn < turns.count { turns[turn].record(nanoseconds) } else { late.record(nanoseconds) }
    }

    mutating func end(after seconds: Double, _ processor: ProcessorTime = ProcessorTime()) {
        (self.seconds, self.processor) = (seconds, processor)
    }
}
