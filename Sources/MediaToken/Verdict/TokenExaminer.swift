internal import TokenCrypto

/// Takes one token apart and goes on after a failure, to find out everything at once.
struct TokenExaminer {
    let keys: KeyRing?

    /// A token's parts, as far as they could be read.
    struct Parts {
        var signature: Examination.Report
        var key: String?
        var elements: TokenElements
    }

    /// Reads the token, authentic or not. A failure is what keeps it from being read at all.
    func open(_ token: RawToken, choosing resource: ResourceRule?) -> Result<Parts, Rejection> {
        token.openEnvelope(choosing: resource).flatMap { envelope in
            let (signature, key) = checkSignature(of: envelope)
            do throws(FormatProblem) {
                let elements = try TokenElements(readingUnverified: envelope.payload)
                return .success(Parts(signature: signature, key: key, elements: elements))
            } catch {
                return .failure(Rejection(.format(error)))
            }
        }
    }

    private func checkSignature(of envelope: TokenEnvelope) -> (Examination.Report, key: String?) {
        guard let keys else { return (.notChecked(.signature, "no key was given"), nil) }
        do {
            let workspace = try VerificationWorkspace(keys: keys.keys)
            switch try keys.authenticate([.success(envelope)], with: workspace)[0] {
            case .success(let payload):
                let detail = "verified by \(payload.key.name) (RSA with \(payload.key.bits) bits, SHA-256)"
                return (.passed(.signature, detail), payload.key.name)
            case .failure(let rejection):
                return (.failed(rejection), nil)
            }
        } catch {
            return (.notChecked(.signature, "\(error)"), nil)
        }
    }

    /// Nothing could be read behind `rejection`.
    static func unreadable(_ rejection: Rejection) -> Examination {
        let rest = Check.allCases.filter { $0 != .format && $0 != .device }
        return Examination(
            reports: [.failed(rejection)] + rest.map { .notChecked($0, "the token could not be read") },
            key: nil, kind: nil, fields: [], issueTime: nil)
    }
}
