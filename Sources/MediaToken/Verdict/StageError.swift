internal import ClaimsStage
internal import EnvelopeStage
internal import PolicyStage
internal import ReplayStage
internal import SignatureStage
internal import TokenXML

/// Why a token gets no further. A failure of one token never affects the others of its group.
///
/// The enum is indirect, so that the result of a stage that succeeds is no larger than what the stage made.
package indirect enum StageError: Error, Sendable {
    /// The token is rejected.
    case rejected(Rejection)
    /// There is no verdict on the token.
    case undecided(VerificationError)

    /// Creates the failure of a token that could not be unwrapped. A document that could not be parsed because memory
    /// ran out is undecided, not malformed.
    init(_ error: EnvelopeError) {
        switch error {
        case .document(_, .xml(.outOfMemory)): self = .undecided(.outOfResources("libxml2: out of memory"))
        default: self = .rejected(Rejection(.envelope(error)))
        }
    }

    /// Creates the failure of a token whose signature was not verified.
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

    /// Creates the failure of a token whose claims could not be read. XML that could not be parsed because memory ran
    /// out is undecided, not malformed.
    init(_ error: ClaimsError) {
        switch error {
        case .xml(.outOfMemory): self = .undecided(.outOfResources("libxml2: out of memory"))
        default: self = .rejected(Rejection(.claims(error)))
        }
    }

    init(_ failure: PolicyFailure, of claims: SignedClaims) {
        self = .rejected(Rejection(.policy(failure, of: claims.claims)))
    }

    init(_ error: ReplayStoreError) {
        self = .undecided(VerificationError(error))
    }

    /// The reason in one line.
    package var message: String {
        switch self {
        case .rejected(let rejection): rejection.message
        case .undecided(let error): "\(error)"
        }
    }

    /// The result that the caller of a verification gets.
    ///
    /// - Parameter id: the short ID of the token; `nil` if it has no envelope.
    func outcome(of id: TokenID?) -> Result<Verdict, VerificationError> {
        switch self {
        case .rejected(var rejection):
            rejection.id = id
            return .success(.rejected(rejection))
        case .undecided(let error): return .failure(error)
        }
    }
}

/// The result of one stage for a token: what the stage made, or why the token gets no further.
package typealias StageResult<Made> = Result<Made, StageError>
