internal import Basics
internal import ClaimsStage
internal import EnvelopeStage
internal import SignatureStage

/// Reports on every step and check of one token, including those after the first failure.
struct TokenExaminer {
    let envelope: Result<TokenEnvelope, EnvelopeError>
    /// The result of verifying the signature; `nil` if it was not verified.
    let payload: Result<AuthenticPayload, SignatureError>?
    /// The reports on the other checks if the token cannot be read.
    let unread: [CheckReport]
    /// The time of the check.
    let time: Timestamp
    /// Whether to find out what happened to a token whose signature no key verifies, which nobody but a person asks
    /// for.
    var seeksCause = false

    /// The reports on a token that could be read, its issue time if it has one, and its expiry.
    typealias Findings = (checks: [CheckReport], issueTime: TokenDate?, expires: TokenDate?)

    /// Reads the token, signed or not, and has `look` report on its claims.
    func examination(_ look: (TokenElements) throws(ClaimsError) -> Findings) -> Examination {
        let examination = plainExamination(look)
        guard seeksCause, examination.key == nil, [.format, .signature].contains(examination.firstFailure?.check),
            let loss = try? envelope.get().loss
        else { return examination }
        return examination.saying(loss.cause, advice: loss.advice)
    }

    private func plainExamination(_ look: (TokenElements) throws(ClaimsError) -> Findings) -> Examination {
        let opened: TokenEnvelope
        switch envelope {
        case .success(let envelope): opened = envelope
        case .failure(let error):
            let reports =
                [.failed(.format, StageError(error)), .unread(.signature)] + unread
            return Examination(
                reports: reports, id: nil, key: nil, kind: nil, fields: [], issueTime: nil, expires: nil, time: time)
        }
        let (signature, key) = signatureReport(opened)
        let id = TokenID(digesting: opened.payload)
        var elements: TokenElements?
        do {
            let read = try TokenElements(readingUnverified: opened.payload)
            elements = read
            let findings = try look(read)
            let format = CheckReport.passed(.format, "\(read.kind.title), strictly read")
            return Examination(
                reports: [format, signature] + findings.checks, id: id, key: key, kind: read.kind,
                fields: read.fields.fields(), issueTime: findings.issueTime, expires: findings.expires, time: time)
        } catch {
            let format = CheckReport.failed(.format, StageError(error))
            // A verification reads signed bytes only, so a bad signature is reported before malformed XML.
            let reports = signature.outcome == .failed ? [signature, format] : [format, signature]
            return Examination(
                reports: reports + unread, id: id, key: key, kind: elements?.kind,
                fields: elements?.fields.fields() ?? [], issueTime: nil, expires: nil, time: time)
        }
    }

    private func signatureReport(_ envelope: TokenEnvelope) -> (CheckReport, key: String?) {
        switch payload {
        case nil: return (.notChecked(.signature, "no key was given"), nil)
        case .success(let payload)?:
            let detail = "verified by \(payload.key.name) (RSA with \(payload.key.bits) bits, SHA-256)"
            return (.passed(.signature, detail), payload.key.name)
        case .failure(let error)?:
            let report = CheckReport.failed(.signature, StageError(error))
            guard seeksCause, let origin = error.origin(of: envelope.signature) else { return (report, nil) }
            return (report.saying(origin.cause, advice: origin.advice), nil)
        }
    }
}
