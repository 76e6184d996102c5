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

/// Verifies tokens stage by stage, and notes the time of each stage.
struct StageTimes: Sendable {
    /// The nanoseconds for each token of a group, by stage.
    private var times: [VerificationStage: LatencyHistogram] = [:]

    /// The median of the nanoseconds for a token in `stage`, which a few interrupted calls do not change.
    subscript(stage: VerificationStage) -> UInt64 { times[stage]?.quantile(.p50) ?? 0 }

    /// Adds the times that another thread measured.
    mutating func add(_ other: StageTimes) {
        times.merge(other.times) { $0.adding($1) }
    }

    /// Verifies a group like ``MediaTokenVerifier/verify(_:at:)``, and times each stage.
    mutating func verify(
        _ group: [VerificationRequest], at now: Timestamp, with verifier: MediaTokenVerifier
    ) -> [Result<Verdict, VerificationError>] {
        do {
            let approved = try verifier.withPath { path in
                let envelopes = during(.envelope, of: group.count) {
                    group.map { TokenPath.open($0.token, for: $0.expectation.resource) }
                }
                let payloads = during(.signature, of: group.count) { path.authenticate(envelopes, at: now) }
                let claims = during(.claims, of: group.count) { zip(envelopes, payloads).map { path.read($0, $1) } }
                return during(.policy, of: group.count) {
                    zip(claims, group).map { claims, request in
                        claims.flatMap { path.approve($0, for: request.expectation, at: now) }
                    }
                }
            }
            return during(.replay, of: group.count) { verifier.conclude(approved, of: group, at: now) }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    private mutating func during<Made>(_ stage: VerificationStage, of count: Int, _ step: () -> Made) -> Made {
        let start = MonotonicTime.nanoseconds
        let made = step()
        let time = MonotonicTime.nanoseconds - start
        times[stage, default: LatencyHistogram()].record(time / UInt64(max(1, count)))
        return made
    }
}
