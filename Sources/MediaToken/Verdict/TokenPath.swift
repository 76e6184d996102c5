internal import Basics
internal import TokenXML
package import ClaimsStage
package import EnvelopeStage
package import PolicyStage
package import SignatureStage

/// The path of a token from the bytes that arrived to a policy's approval. Each step takes a type that only the step
/// before it makes, so no step can be left out.
///
/// A path keeps the contexts of libcrypto and libxml2 from group to group. It is not thread-safe: a ``PathPool`` gives
/// it to one caller at a time.
package final class TokenPath {
    private let policy: VerificationPolicy
    private let signatures: SignatureWorkspace
    private let reader: StrictXMLReader

    init(keys: KeyRing, policy: VerificationPolicy) throws(VerificationError) {
        self.policy = policy
        do { signatures = try SignatureWorkspace(keys: keys) } catch { throw .outOfResources(error.message) }
        do { reader = try StrictXMLReader() } catch {
            throw .outOfResources("cannot make an XML context: out of memory")
        }
    }

    /// Takes every step up to the replay store, for a group of tokens.
    func steps(of group: [VerificationRequest], at now: Timestamp) -> GroupSteps {
        let envelopes = group.map { Self.open($0.token, for: $0.expectation.resource) }
        let digested = envelopes.map(signatures.digest)
        let payloads = signatures.authenticate(digested: digested, at: now)
        let members = group.indices.map { index in
            PendingGroup.Member(
                retries: group[index].retries, id: digested[index].id,
                approved: read(envelopes[index], payloads[index]).flatMap {
                    approve($0, for: group[index].expectation, at: now)
                })
        }
        return GroupSteps(envelopes: envelopes, payloads: payloads, members: members)
    }

    /// Unwraps a token and splits it into signature and signed bytes.
    ///
    /// - Parameter resource: the expected resource. If the token is in a REST v2 answer that has several decisions, the
    ///   one with the same bytes is taken; with `nil`, such an answer is refused.
    package static func open(_ token: RawToken, for resource: ResourceRule?) -> Result<TokenEnvelope, EnvelopeError> {
        do {
            return .success(try TokenEnvelope(opening: token) { resource?.names($0) ?? false })
        } catch {
            return .failure(error)
        }
    }

    /// Verifies the signatures of a group.
    package func authenticate(
        _ envelopes: [Result<TokenEnvelope, EnvelopeError>], at now: Timestamp
    ) -> [Result<AuthenticPayload, SignatureError>?] {
        signatures.authenticate(envelopes, at: now)
    }

    /// Reads the claims, from signed bytes only, or passes on the failure of an earlier step.
    package func read(
        _ envelope: Result<TokenEnvelope, EnvelopeError>, _ payload: Result<AuthenticPayload, SignatureError>?
    ) -> StageResult<SignedClaims> {
        switch payload {
        case .success(let payload)?:
            do { return .success(try SignedClaims(reading: payload, with: reader)) } catch {
                return .failure(StageError(error))
            }
        case .failure(let error)?: return .failure(StageError(error))
        case nil: return .failure(StageError(unopened: envelope))
        }
    }

    /// Checks the time window, requestor, resource and MVPD.
    package func approve(
        _ claims: SignedClaims, for expectation: Expectation, at now: Timestamp
    ) -> StageResult<ApprovedToken> {
        do {
            return .success(try policy.approve(claims, for: expectation, at: now))
        } catch {
            return .failure(StageError(error, of: claims))
        }
    }
}

/// What the steps of a group have come to. An examination shows what the first steps found; a verdict needs the members
/// alone.
struct GroupSteps {
    let envelopes: [Result<TokenEnvelope, EnvelopeError>]
    /// The result of verifying each signature; `nil` for a token that has no envelope.
    let payloads: [Result<AuthenticPayload, SignatureError>?]
    let members: [PendingGroup.Member]
}

extension Optional<Result<DigestedEnvelope, SignatureError>> {
    fileprivate var id: TokenID? {
        if case .success(let token)? = self { token.id } else { nil }
    }
}
