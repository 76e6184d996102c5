internal import Basics
internal import MediaToken

/// A stage in the verification of a token, as a load test times it.
package enum VerificationStage: String, CaseIterable, Sendable {
    /// Unwraps the token and splits it.
    case envelope
    /// Computes the digest of the signed bytes and does the RSA operation.
    case signature
    /// Reads the signed XML.
    case claims
    /// Checks time window, requestor, resource and MVPD.
    case policy
    /// Claims the token in the replay store.
    case replay
}

/// Verifies tokens stage by stage, and adds up the time of each stage.
package struct StageTimes: Sendable {
    private var nanoseconds = [VerificationStage: UInt64]()

    package init() {}

    /// The nanoseconds spent in `stage` so far.
    package subscript(stage: VerificationStage) -> UInt64 { nanoseconds[stage, default: 0] }

    /// Adds the times that another thread measured.
    package mutating func add(_ other: StageTimes) {
        nanoseconds.merge(other.nanoseconds, uniquingKeysWith: +)
    }

    /// Verifies a group like ``MediaTokenVerifier/verify(_:at:)``, and times each stage.
    mutating func verify(
        _ group: [VerificationRequest], at now: Timestamp, with verifier: MediaTokenVerifier
    ) -> [Result<Verdict, VerificationError>] {
        do {
            let approved = try verifier.withPath { path in
                let envelopes = during(.envelope) {
                    group.map { TokenPath.open($0.token, for: $0.expectation.resource) }
                }
                let payloads = during(.signature) { path.authenticate(envelopes, at: now) }
                let claims = during(.claims) { zip(envelopes, payloads).map { path.read($0, $1) } }
                return during(.policy) {
                    zip(claims, group).map { claims, request in
                        claims.flatMap { path.approve($0, for: request.expectation, at: now) }
                    }
                }
            }
            return during(.replay) { verifier.conclude(approved, of: group, at: now) }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    private mutating func during<Made>(_ stage: VerificationStage, _ step: () -> Made) -> Made {
        let start = MonotonicTime.nanoseconds
        defer { nanoseconds[stage, default: 0] += MonotonicTime.nanoseconds - start }
        return step()
    }
}
