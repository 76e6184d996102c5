internal import ClaimsStage
internal import EnvelopeStage
internal import PolicyStage
internal import ReplayStage
internal import SignatureStage
internal import TokenXML

/// Why a token gets no further. A failure of one token never affects the others of its group.
///
/// Indirect, so that a stage which succeeds moves no more than it made.
package indirect enum StageFailure: Error, Sendable {
    /// The token is rejected.
    case rejected(Rejection)
    /// Nothing can be said about the token.
    case undecided(VerificationError)

    /// A document that could not be parsed because memory ran out is not a malformed one.
    init(_ error: EnvelopeError) {
        switch error {
        case .document(_, .xml(.outOfMemory)): self = .undecided(.outOfResources("libxml2: out of memory"))
        default: self = .rejected(Rejection(.envelope(error)))
        }
    }

    /// The failure of a token whose signature was not looked at.
    init(unopened envelope: Result<TokenEnvelope, EnvelopeError>) {
        switch envelope {
        case .failure(let error): self.init(error)
        case .success: self = .undecided(.outOfResources("the signature was not verified"))
        }
    }

    init(_ error: SignatureError) {
        switch error {
        case .outOfResources(let what): self = .undecided(.outOfResources(what))
        case .noKeyVerifies, .keyOutsideValidity: self = .rejected(Rejection(.signature(error)))
        }
    }

    /// XML that could not be parsed because memory ran out is not malformed.
    init(_ error: ClaimsError) {
        switch error {
        case .xml(.outOfMemory): self = .undecided(.outOfResources("libxml2: out of memory"))
        default: self = .rejected(Rejection(.claims(error)))
        }
    }

    init(_ error: PolicyError) {
        self = .rejected(Rejection(.policy(error)))
    }

    init(_ error: ReplayCacheError) {
        self = .undecided(VerificationError(error))
    }

    /// What the caller of a verification is told.
    var outcome: Result<Verdict, VerificationError> {
        switch self {
        case .rejected(let rejection): .success(.rejected(rejection))
        case .undecided(let error): .failure(error)
        }
    }
}

/// What a stage made of a token, or why the token gets no further.
package typealias StageResult<Made> = Result<Made, StageFailure>
