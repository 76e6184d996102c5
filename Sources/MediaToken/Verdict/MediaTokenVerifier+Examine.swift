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
    ///   - seeksCause: whether to find out why no key verifies a signature. It takes an operation for each key.
    /// - Returns: the report on each check. The first failure is the one for which `verify` would reject the token, up
    ///   to the replay check.
    package func examine(
        _ token: RawToken, for requestors: [RequestorID]?, _ resource: ResourceRule?, at now: Timestamp,
        seeksCause: Bool = false
    ) -> Examination {
        let expectation = Expectation(requestors: requestors ?? [], resource: resource ?? .unsafeAnyResource)
        let steps = steps(of: [VerificationRequest(token: token, expectation: expectation)], at: now)
        return examination(
            of: 0, in: steps, for: expectation, at: now, namesRequestor: requestors != nil,
            seeksCause: seeksCause, .notChecked(.replay, "an examination does not consume the token"))
    }

    /// Makes the checks for a full expectation, without a replay claim.
    package func examine(_ token: RawToken, for expectation: Expectation, at now: Timestamp) -> Examination {
        examine(token, for: expectation.requestors, expectation.resource, at: now)
    }

    /// Verifies a group of tokens like ``verify(_:at:)``, and reports on every check of each token, for a person: also
    /// on where a signature comes from that no key verifies.
    package func verifyAndExamine(
        _ group: [VerificationRequest], at now: Timestamp
    ) -> [(outcome: Result<Verdict, VerificationError>, examination: Examination)] {
        let steps = steps(of: group, at: now)
        let outcomes = PendingGroup(steps.members, at: now).verdicts(by: replays)
        return outcomes.enumerated().map { index, outcome in
            let expectation = group[index].expectation
            return (
                outcome,
                examination(of: index, in: steps, for: expectation, at: now, seeksCause: true, .replay(outcome))
            )
        }
    }

    /// - Parameters:
    ///   - index: which token of the group.
    ///   - namesRequestor: whether the expectation names requestors; otherwise no requestor is checked.
    ///   - seeksCause: whether to find out why no key verifies a signature.
    ///   - replay: the report on the replay claim.
    private func examination(
        of index: Int, in steps: GroupSteps, for expectation: Expectation, at now: Timestamp,
        namesRequestor: Bool = true, seeksCause: Bool = false,
        _ replay: CheckReport
    ) -> Examination {
        let examiner = TokenExaminer(
            envelope: steps.envelopes[index], payload: steps.payloads[index],
            unread: PolicyCheck.inOrder.map { .unread($0.name) } + [replay], time: now, seeksCause: seeksCause)
        return examiner.examination { (elements) throws(ClaimsError) in
            let claims = try MediaTokenClaims(elements)
            let reports = PolicyCheck.inOrder.map { check in
                check.report(
                    isAsked: check.name != .requestor || namesRequestor, policy, claims, expectation, now)
            }
            return (reports + [replay], claims.issueTime, policy.expiryDate(of: claims))
        }
    }
}

extension PolicyCheck {
    /// Makes the check, if it is asked for, and reports on it.
    func report(
        isAsked: Bool, _ policy: VerificationPolicy, _ claims: MediaTokenClaims, _ expectation: Expectation,
        _ now: Timestamp
    ) -> CheckReport {
        let signed = signed(policy, claims, expectation, now)
        guard isAsked else { return .notAsked(name, signed) }
        if let failure = failure(policy, claims, expectation, now) {
            return .failed(Rejection(.policy(failure, of: claims)))
        }
        if let exemption = exemption(policy, claims, expectation, now) {
            return .notChecked(name, "\(signed); \(exemption)")
        }
        return .passed(name, signed + (note(policy, claims, expectation, now).map { "; \($0)" } ?? ""))
    }
}

extension CheckReport {
    /// The report on the replay claim of a token that was verified.
    fileprivate static func replay(_ outcome: Result<Verdict, VerificationError>) -> CheckReport {
        switch outcome {
        case .success(.accepted): .passed(.replay, "this was its first use, as far as the replay store remembers")
        case .success(.rejected(let rejection)) where rejection.check == .replay: .failed(rejection)
        case .success(.rejected): .notChecked(.replay, "rejected by an earlier check, so not consumed")
        case .failure(let error): .undecided(.replay, error)
        }
    }
}
