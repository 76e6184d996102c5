internal import Basics
internal import MediaToken
internal import TokenCrypto

/// One thread of a load test of the verification.
struct VerifyWorker {
    /// One in so many calls is timed stage by stage, which costs one clock reading per stage.
    private static let timedCalls = 64
    /// The first call to be timed. The very first call creates contexts, so it is not timed.
    private static let firstTimedCall = 2

    private let groups: [[VerificationRequest]]
    private let verifiers: PassVerifiers
    private let time: Timestamp?
    private let bare: (signatures: BareSignatures, verifiers: [ObjectIdentifier: GeneralVerifier])?
    private(set) var figures = ThreadFigures()

    private var pass: UInt64 = 0
    private var next = 0
    private var calls = 0
    private var verifier: MediaTokenVerifier

    init(
        _ groups: [[VerificationRequest]], verifiers: PassVerifiers, time: Timestamp?, bare: BareSignatures?
    ) throws {
        (self.groups, self.verifiers, self.time) = (groups, verifiers, time)
        self.bare = try bare.map { ($0, try $0.makeVerifiers()) }
        verifier = verifiers.verifier(of: 0)
    }

    mutating func run(_ turns: Turns, isCancelled: () -> Bool) {
        guard !groups.isEmpty else { return }
        let start = ProcessorTime.ofThisThread
        defer { figures.processor = .from(start, to: .ofThisThread) }
        for turn in 0..<turns.count {
            let ends = turns.ends(of: turn)
            var point = ThreadFigures.Turn()
            verify(until: bare == nil ? ends.bare : ends.verification, isCancelled, &point)
            bareSignatures(until: ends.bare, isCancelled, &point)
            figures.turns.append(point)
            if isCancelled() { return }
        }
    }

    private mutating func verify(until end: UInt64, _ isCancelled: () -> Bool, _ point: inout ThreadFigures.Turn) {
        let (begin, used) = (MonotonicTime.nanoseconds, MonotonicTime.ofThisThread)
        var now = begin
        while now < end, !isCancelled() {
            let group = groups[next]
            figures.count(verify(group))
            let done = MonotonicTime.nanoseconds
            point.latency.record(done - now)
            point.verifications += group.count
            now = done
            advance()
        }
        point.verificationNanoseconds = now - begin
        point.processorNanoseconds = MonotonicTime.ofThisThread - used
    }

    private mutating func verify(_ group: [VerificationRequest]) -> [Result<Verdict, VerificationError>] {
        calls += 1
        guard calls % Self.timedCalls == Self.firstTimedCall else { return verifier.verify(group, at: time ?? .now) }
        return figures.stages.verify(group, at: time ?? .now, with: verifier)
    }

    private mutating func advance() {
        next += 1
        guard next == groups.count else { return }
        (next, pass) = (0, pass + 1)
        verifier = verifiers.verifier(of: pass)
    }

    private func bareSignatures(until end: UInt64, _ isCancelled: () -> Bool, _ point: inout ThreadFigures.Turn) {
        guard let bare else { return }
        let begin = MonotonicTime.nanoseconds
        var now = begin
        while now < end, !isCancelled() {
            point.bareSignatures += bare.signatures.verifyAll(with: bare.verifiers)
            now = MonotonicTime.nanoseconds
        }
        point.bareNanoseconds = now - begin
    }
}

/// The measurements of one thread.
struct ThreadFigures: Sendable {
    struct Turn: Sendable {
        var verifications = 0
        var verificationNanoseconds: UInt64 = 0
        /// The time for which a processor verified.
        var processorNanoseconds: UInt64 = 0
        var bareSignatures = 0
        var bareNanoseconds: UInt64 = 0
        /// The latencies of the calls that verify a group.
        var latency = LatencyHistogram()
    }

    var turns: [Turn] = []
    var stages = StageTimes()
    var processor = ProcessorTime()
    private(set) var codes: [VerdictCode: Int] = [:]
    /// The number of accepted tokens, kept apart because updating a dictionary takes longer than some of the stages.
    private var accepted = 0

    /// The number of tokens by code.
    var codeCounts: [VerdictCode: Int] {
        accepted == 0 ? codes : codes.merging([.validToken: accepted], uniquingKeysWith: +)
    }

    mutating func count(_ outcomes: [Result<Verdict, VerificationError>]) {
        for outcome in outcomes {
            switch outcome {
            case .success(.accepted): accepted += 1
            case .success(let verdict): codes[verdict.code, default: 0] += 1
            case .failure: codes[.errorUnknown, default: 0] += 1
            }
        }
    }
}
