internal import ClaimsStage
internal import PolicyStage

extension MediaTokenVerifier {
    /// Makes every check that ``verify(_:for:at:)`` makes except the replay claim, and reports on each, also after a
    /// failure. The token is neither accepted nor consumed.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - requestors: the requestors, one of which the token must have been issued to; `nil` for no such check.
    ///   - resource: the resource that the token must have been issued for; `nil` for no such check.
    ///   - now: the time of the check.
    /// - Returns: the report on each check. The first failure is the one for which `verify` would reject the token, up
    ///   to the replay check.
    package func examine(
        _ token: RawToken, for requestors: [RequestorID]?, _ resource: ResourceRule?, at now: Timestamp
    ) -> Examination {
        let expectation = Expectation(requestors: requestors ?? [], resource: resource ?? .unsafeAnyResource)
        let request = VerificationRequest(token: token, expectation: expectation)
        let replay = CheckReport.notChecked(.replay, "an examination does not consume the token")
        return examinations(
            of: steps(of: [request], at: now), [request], at: now, namesRequestor: requestors != nil
        ) { _ in replay }[0]
    }

    /// Makes the checks for a full expectation, without a replay claim.
    package func examine(_ token: RawToken, for expectation: Expectation, at now: Timestamp) -> Examination {
        examine(token, for: expectation.requestors, expectation.resource, at: now)
    }

    /// Verifies a group of tokens like ``verify(_:at:)``, and reports on every check of each token, for a person: also on where a
    /// signature comes from that no key verifies.
    package func verifyAndExamine(
        _ group: [VerificationRequest], at now: Timestamp
    ) -> [(outcome: Result<Verdict, VerificationError>, examination: Examination)] {
        let steps = steps(of: group, at: now)
        let outcomes = conclude(steps, of: group, at: now)
        let examinations = examinations(of: steps, group, at: now, seeksOrigin: true) { .replay(outcomes[$0]) }
        return Array(zip(outcomes, examinations))
    }

    /// - Parameters:
    ///   - namesRequestor: whether the expectations name requestors; otherwise no requestor is checked.
    ///   - seeksOrigin: whether to find out why no key verifies a signature.
    ///   - replay: the report on the replay claim of the token at an index.
    private func examinations(
        of steps: GroupSteps, _ group: [VerificationRequest], at now: Timestamp, namesRequestor: Bool = true,
        seeksOrigin: Bool = false, replay: (Int) -> CheckReport
    ) -> [Examination] {
        group.indices.map { index in
            let unread = PolicyCheck.allCases.map { CheckReport.unread($0.check) } + [replay(index)]
            let examiner = TokenExaminer(
                envelope: steps.envelopes[index], payload: steps.payloads[index], unread: unread, time: now,
                seeksOrigin: seeksOrigin)
            return examiner.examination { (elements) throws(ClaimsError) in
                let claims = try MediaTokenClaims(elements)
                let reports = PolicyCheck.allCases.map { check in
                    guard check != .requestor || namesRequestor else {
                        return CheckReport.notAsked(.requestor, "signed for '\(claims.requestor)'; not asked for")
                    }
                    return report(check, of: claims, for: group[index].expectation, at: now)
                }
                return (reports + [replay(index)], claims.issueTime, policy.expiryDate(of: claims))
            }
        }
    }

    private func report(
        _ check: PolicyCheck, of claims: MediaTokenClaims, for expectation: Expectation, at now: Timestamp
    ) -> CheckReport {
        do {
            try policy.check(check, of: claims, for: expectation, at: now)
        } catch {
            return .failed(Rejection(.policy(error)))
        }
        switch check {
        case .window:
            return .passed(.window, policy.window(of: claims, at: now).message)
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

extension PolicyCheck {
    fileprivate var check: Check {
        switch self {
        case .window: .window
        case .requestor: .requestor
        case .resource: .resource
        case .mvpd: .mvpd
        }
    }
}

extension CheckReport {
    /// The report on the replay claim of a token that was verified.
    fileprivate static func replay(_ outcome: Result<Verdict, VerificationError>) -> CheckReport {
        switch outcome {
        case .success(.accepted): .passed(.replay, "this was its first use, and it is now consumed")
        case .success(.rejected(let rejection)) where rejection.check == .replay: .failed(rejection)
        case .success(.rejected): .notChecked(.replay, "rejected by an earlier check, so not consumed")
        case .failure(let error): .undecided(.replay, error)
        }
    }
}
