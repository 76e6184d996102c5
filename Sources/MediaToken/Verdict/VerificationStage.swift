internal import Threading

/// A step of a token's way, as load tests time it.
package enum VerificationStage: String, CaseIterable, Sendable {
    /// Percent-encoding, Base64 or a document around the token is taken off.
    case unwrap
    /// The clear text is split into signature and signed bytes.
    case envelope
    case digest
    /// The RSA operation.
    case signature
    /// The signed XML is read.
    case claims
    /// Window, requestor, resource and MVPD are checked.
    case policy
    /// The replay store is asked.
    case replay
}

/// Looks on while tokens go their way, and changes nothing.
protocol StageWatch {
    /// Does `step`, which belongs to `stage`.
    mutating func during<Made>(_ stage: VerificationStage, _ step: () -> Made) -> Made
}

/// The watch of those who want verdicts.
struct NobodyWatching: StageWatch {
    @inline(__always)
    func during<Made>(_ stage: VerificationStage, _ step: () -> Made) -> Made { step() }
}

/// Adds up how long each stage took.
package struct StageTimes: StageWatch, Sendable {
    private var nanoseconds = [VerificationStage: UInt64]()

    package init() {}

    /// Nanoseconds spent in `stage` so far.
    package subscript(stage: VerificationStage) -> UInt64 { nanoseconds[stage, default: 0] }

    mutating func during<Made>(_ stage: VerificationStage, _ step: () -> Made) -> Made {
        let begin = MonotonicTime.nanoseconds
        defer { nanoseconds[stage, default: 0] += MonotonicTime.nanoseconds - begin }
        return step()
    }

    /// Adds what another thread has measured.
    package mutating func add(_ other: StageTimes) {
        nanoseconds.merge(other.nanoseconds, uniquingKeysWith: +)
    }
}
