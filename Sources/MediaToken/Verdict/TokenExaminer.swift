internal import Timestamps

/// Takes one token apart and goes on after a failure, to find out everything at once.
struct TokenExaminer {
    let keys: KeyRing?

    /// What is told of a token that could be read: reports of its checks, and its issue time if it has one.
    typealias Findings = (format: CheckReport, checks: [CheckReport], issueTime: TokenDate?)

    /// Examines `token`, and has `look` report on what it holds, authentic or not.
    ///
    /// - Parameters:
    ///   - resource: which decision to take from a REST v2 answer that holds several.
    ///   - now: when the certificates of keys must be valid.
    ///   - checks: what cannot be made where the token cannot be read.
    func examine(
        _ token: RawToken, choosing resource: ResourceRule?, at now: Timestamp, checks: [Check],
        look: (TokenElements) throws(FormatProblem) -> Findings
    ) -> Examination {
        let unread = checks.map { CheckReport.notChecked($0, "the token could not be read") }
        let envelope: TokenEnvelope
        switch token.clearText(choosing: resource).flatMap(TokenEnvelope.split) {
        case .success(let opened): envelope = opened
        case .failure(let stop):
            let reports = [.failed(.format, stop), .notChecked(.signature, "the token could not be read")] + unread
            return Examination(reports: reports, key: nil, kind: nil, fields: [], issueTime: nil)
        }
        let (signature, key) = checkSignature(of: envelope, at: now)
        var elements: TokenElements?
        do {
            let read = try TokenElements(readingUnverified: envelope.payload)
            elements = read
            let findings = try look(read)
            return Examination(
                reports: [findings.format, signature] + findings.checks, key: key, kind: read.kind,
                fields: read.fields.fields, issueTime: findings.issueTime)
        } catch {
            let format = CheckReport.failed(.format, Stop(error))
            // A verification reads signed bytes only, so there a bad signature comes before bad XML behind it.
            let reports = signature.result == .failed ? [signature, format] : [format, signature]
            return Examination(
                reports: reports + unread, key: key, kind: elements?.kind, fields: elements?.fields.fields ?? [],
                issueTime: nil)
        }
    }

    private func checkSignature(of envelope: TokenEnvelope, at now: Timestamp) -> (CheckReport, key: String?) {
        guard let keys else { return (.notChecked(.signature, "no key was given"), nil) }
        let workspace: VerificationWorkspace
        do { workspace = try VerificationWorkspace(keys: keys.keys) } catch {
            return (.cannotTell(.signature, .outOfResources("\(error)")), nil)
        }
        let digested = DigestedEnvelope.make(of: envelope, with: workspace.hasher)
        switch keys.authenticate([digested], at: now, with: workspace)[0] {
        case .success(let payload):
            let detail = "verified by \(payload.key.name) (RSA with \(payload.key.bits) bits, SHA-256)"
            return (.passed(.signature, detail), payload.key.name)
        case .failure(let stop):
            return (.failed(.signature, stop), nil)
        }
    }
}
