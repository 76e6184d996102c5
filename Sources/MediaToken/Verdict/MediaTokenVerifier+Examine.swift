extension MediaTokenVerifier {
    /// Makes every check that ``verify(_:for:at:)`` makes except the replay claim, goes on after a failure, and reports
    /// each. Claims nothing, accepts nothing.
    ///
    /// - Returns: reports, whose ``Examination/status`` is what `verify` would say up to the replay check.
    public func examine(_ token: RawToken, for expectation: Expectation, at now: Timestamp) -> Examination {
        switch TokenExaminer(keys: keys).open(token, choosing: expectation.resource) {
        case .failure(let rejection): TokenExaminer.unreadable(rejection)
        case .success(let parts): examine(parts, for: expectation, at: now)
        }
    }

    private func examine(
        _ parts: TokenExaminer.Parts, for expectation: Expectation, at now: Timestamp
    ) -> Examination {
        let claims: MediaTokenClaims
        do {
            claims = try MediaTokenClaims(parts.elements)
        } catch {
            // verify() reads claims from signed bytes only, so there a bad signature comes before what it signs.
            let unread = (VerificationPolicy.checks + [.replay]).map {
                Examination.Report.notChecked($0, "the claims could not be read")
            }
            let format = Examination.Report.failed(Rejection(.format(error)))
            return parts.examination(
                parts.signature.result == .failed
                    ? [parts.signature, format] + unread : [format, parts.signature] + unread)
        }
        let format = Examination.Report.passed(.format, "a short media token, un-wrapped and strictly read")
        let policyReports = VerificationPolicy.checks.map { report($0, of: claims, for: expectation, at: now) }
        let replay = Examination.Report.notChecked(.replay, "an examination claims nothing")
        return parts.examination([format, parts.signature] + policyReports + [replay], issueTime: claims.issueTime)
    }

    private func report(
        _ check: Check, of claims: MediaTokenClaims, for expectation: Expectation, at now: Timestamp
    ) -> Examination.Report {
        if let rejection = policy.refusal(check, of: claims, for: expectation, at: now) { return .failed(rejection) }
        switch check {
        case .window:
            let window = TimeWindow(
                issued: claims.issueTime, expiry: policy.expiry(of: claims), skew: policy.clockSkewMilliseconds,
                now: now)
            return .passed(check, window.validMessage)
        case .requestor:
            return .passed(check, "'\(claims.requestor)'")
        case .resource where expectation.resource.comparison == .unchecked:
            return .notChecked(check, "signed for '\(claims.resource)'; any resource is allowed")
        case .resource:
            return .passed(check, "'\(claims.resource)'")
        case .mvpd where policy.allowedMVPDs[claims.requestor] == nil:
            return .notChecked(check, "signed for '\(claims.mvpd)'; requestor '\(claims.requestor)' has no allow-list")
        case .mvpd, .format, .signature, .replay, .device:
            return .passed(check, "'\(claims.mvpd)'" + (claims.proxyMVPD.map { " by way of proxy '\($0)'" } ?? ""))
        }
    }
}

extension TokenExaminer.Parts {
    func examination(_ reports: [Examination.Report], issueTime: TokenDate? = nil) -> Examination {
        Examination(reports: reports, key: key, kind: elements.kind, fields: elements.fields, issueTime: issueTime)
    }
}
