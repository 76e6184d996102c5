public import Timestamps

extension MediaTokenVerifier {
    /// Makes every check that ``verify(_:for:at:)`` makes except the replay claim, goes on after a failure, and reports
    /// each. Claims nothing, accepts nothing.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - expectation: what it must have been issued for.
    ///   - now: the time of the check.
    /// - Returns: reports, of which the first failure is what `verify` would say, up to the replay check.
    public func examine(_ token: RawToken, for expectation: Expectation, at now: Timestamp) -> Examination {
        let checks = PolicyCheck.allCases.map(\.check) + [.replay]
        let examiner = TokenExaminer(keys: keys)
        return examiner.examine(token, choosing: expectation.resource, at: now, checks: checks) {
            (elements) throws(FormatProblem) in
            let claims = try MediaTokenClaims(elements)
            let reports = PolicyCheck.allCases.map { report($0, of: claims, for: expectation, at: now) }
            return (
                format: .passed(.format, "\(elements.kind.title), strictly read"),
                checks: reports + [.notChecked(.replay, "an examination claims nothing")], issueTime: claims.issueTime
            )
        }
    }

    private func report(
        _ check: PolicyCheck, of claims: MediaTokenClaims, for expectation: Expectation, at now: Timestamp
    ) -> CheckReport {
        if let rejection = policy.refusal(check, of: claims, for: expectation, at: now) { return .failed(rejection) }
        switch check {
        case .window:
            return .passed(.window, policy.window(of: claims, at: now).validMessage)
        case .requestor:
            return .passed(.requestor, "'\(claims.requestor)'")
        case .resource where expectation.resource.comparison == .unchecked:
            return .notChecked(.resource, "signed for '\(claims.resource)'; any resource is allowed")
        case .resource:
            return .passed(.resource, "'\(claims.resource)'")
        case .mvpd where policy.allowedMVPDs[claims.requestor] == nil:
            return .notChecked(.mvpd, "signed for '\(claims.mvpd)'; requestor '\(claims.requestor)' has no allow-list")
        case .mvpd:
            return .passed(.mvpd, "'\(claims.mvpd)'" + (claims.proxyMVPD.map { " by way of proxy '\($0)'" } ?? ""))
        }
    }
}
