package import MediaToken

/// The results of a load test of the verification.
package struct VerifyFigures: Sendable {
    /// The rates of all threads together in one turn of the timeline.
    package struct Turn: Sendable {
        package let verificationsPerSecond: Double
        package let bareSignaturesPerSecond: Double
        package let latency: LatencyHistogram
    }

    package let threads: Int
    package let verifications: Int
    package let verificationsPerSecond: Double
    /// The verifications in a second of a processor, which other programs change less than those in a second.
    package let verificationsPerProcessorSecond: Double
    package let processor: ProcessorTime
    /// libcrypto's bare RSA verifications per second on the same threads; `nil` if none were measured, because one of
    /// the sampled tokens has no valid signature.
    package let bareSignaturesPerSecond: Double?
    /// The latency of one call, which verifies a group.
    package let latency: LatencyHistogram
    /// The median of the nanoseconds for a token in each stage.
    package let stages: [(stage: VerificationStage, nanoseconds: Double)]
    package let codes: [VerdictCode: Int]
    package let turns: [Turn]
    /// The duration of the whole test, in seconds.
    package let seconds: Double
    package let before: ProcessMemory
    package let after: ProcessMemory

    /// The rate of verification divided by that of libcrypto's bare RSA operations. It is above 1 where several
    /// signatures at once gain more than all else costs.
    package var ratio: Double? { bareSignaturesPerSecond.map { verificationsPerSecond / $0 } }

    init(of parts: [ThreadFigures], seconds: Double, before: ProcessMemory, after: ProcessMemory) {
        threads = parts.count
        let all = parts.map { $0.turns.reduce(into: ThreadFigures.Turn()) { $0.add($1) } }
        verifications = all.reduce(0) { $0 + $1.verifications }
        verificationsPerSecond = all.reduce(0) { $0 + $1.verificationsPerSecond }
        let used = all.reduce(0) { $0 + $1.processorNanoseconds }
        verificationsPerProcessorSecond = used == 0 ? 0 : Double(verifications) * 1e9 / Double(used)
        processor = parts.reduce(into: ProcessorTime()) { $0.add($1.processor) }
        let bare = all.reduce(0) { $0 + $1.bareSignaturesPerSecond }
        bareSignaturesPerSecond = bare > 0 ? bare : nil
        latency = all.reduce(into: LatencyHistogram()) { $0.add($1.latency) }
        let times = parts.reduce(into: StageTimes()) { $0.add($1.stages) }
        stages = VerificationStage.allCases.map { ($0, Double(times[$0])) }
        codes = parts.reduce(into: [:]) { $0.merge($1.codeCounts, uniquingKeysWith: +) }
        let turnCount = parts.map(\.turns.count).min() ?? 0
        turns = (0..<turnCount).map { turn in
            Turn(
                verificationsPerSecond: parts.reduce(0) { $0 + $1.turns[turn].verificationsPerSecond },
                bareSignaturesPerSecond: parts.reduce(0) { $0 + $1.turns[turn].bareSignaturesPerSecond },
                latency: parts.reduce(into: LatencyHistogram()) { $0.add($1.turns[turn].latency) })
        }
        (self.seconds, self.before, self.after) = (seconds, before, after)
    }
}

extension ThreadFigures.Turn {
    fileprivate var verificationsPerSecond: Double { Self.rate(verifications, verificationNanoseconds) }
    fileprivate var bareSignaturesPerSecond: Double { Self.rate(bareSignatures, bareNanoseconds) }

    private static func rate(_ count: Int, _ nanoseconds: UInt64) -> Double {
        nanoseconds == 0 ? 0 : Double(count) * 1e9 / Double(nanoseconds)
    }

    fileprivate mutating func add(_ other: Self) {
        verifications += other.verifications
        verificationNanoseconds += other.verificationNanoseconds
        processorNanoseconds += other.processorNanoseconds
        bareSignatures += other.bareSignatures
        bareNanoseconds += other.bareNanoseconds
        latency.add(other.latency)
    }
}
