package import Basics

/// The result of every check of a token, and the token's fields, for a person who examines a captured token.
///
/// An examination neither accepts nor consumes a token: that no check failed does not mean that the token is valid. It
/// may contain personal data.
package struct Examination: Sendable {
    /// The report on each check, in order.
    package let reports: [CheckReport]
    /// The short ID of the token; `nil` if it could not be split into a signature and signed bytes.
    package let id: TokenID?
    /// The name of the key that verified the signature; `nil` if none did, and then nothing below is proven.
    package let key: String?
    /// The kind of the token; `nil` if it could not be read.
    package let kind: TokenKind?
    /// The token's fields, in order.
    package let fields: [TokenField]
    /// When the token was issued; `nil` if it is not a media token or could not be read.
    package let issueTime: TokenDate?
    /// When the token expires, without clock skew, at the offset of the token's own dates; `nil` if it could not be
    /// read.
    package let expires: TokenDate?
    /// The time of the check, from which the distances are counted.
    package let time: Timestamp

    /// The first check that failed; `nil` if none did.
    package var firstFailure: CheckReport? {
        reports.first { $0.outcome == .failed }
    }

    /// Whether the token passes every check that a verification makes, but the replay claim, which an examination
    /// cannot make.
    package var passesAllButUse: Bool {
        // With a key, a check is left out only if the policy and the request exempt the token from it.
        key != nil && reports.allSatisfy { [.passed, .notChecked].contains($0.outcome) }
    }

    /// The examination with other words about each check that failed; `nil` leaves the detail that it has.
    package func saying(_ detail: String?, advice: String) -> Examination {
        Examination(
            reports: reports.map { $0.saying(detail, advice: advice) }, id: id, key: key, kind: kind, fields: fields,
            issueTime: issueTime, expires: expires, time: time)
    }

    /// The examination of a token that was repaired, which does not say that it was strictly read.
    package func saying(repaired repairs: [String]) -> Examination {
        let said = reports.map { report in
            guard report.check == .format, report.outcome == .passed, let kind else { return report }
            return .passed(.format, "\(kind.title), read with repairs: \(repairs.joined(separator: ", "))")
        }
        return Examination(
            reports: said, id: id, key: key, kind: kind, fields: fields, issueTime: issueTime, expires: expires,
            time: time)
    }

    /// The code of the first failure. It is never `VALID_TOKEN`, because an examination accepts nothing: a token
    /// without a failure is `VERIFIED`, or `UNVERIFIED` if its signature was not checked. It is `NOT_AS_ASKED` if the
    /// failed check has no code.
    package var code: String {
        if let firstFailure { return firstFailure.code?.rawValue ?? "NOT_AS_ASKED" }
        return key == nil ? "UNVERIFIED" : "VERIFIED"
    }
}

/// The report on one check.
package struct CheckReport: Sendable {
    /// The outcome of a check.
    package enum Outcome: Sendable {
        /// The token passes the check.
        case passed
        /// The token fails the check, or the check could not be decided.
        case failed
        /// The check could be made, and was not requested.
        case notAsked
        /// The check could not be made, as the token could not be read.
        case unread
        /// The check was not made for another reason, which the detail says.
        case notChecked

        /// The outcome in JSON, where a check that was not made is `not checked`, for whatever reason.
        package var name: String {
            switch self {
            case .passed: "passed"
            case .failed: "failed"
            case .notAsked, .unread, .notChecked: "not checked"
            }
        }
    }

    /// The check.
    package let check: Check
    /// The outcome.
    package let outcome: Outcome
    /// One line that names the values that were compared.
    package let detail: String
    /// One line that says what to do; `nil` unless the check failed.
    package let advice: String?
    /// The code that a verification gives for this failure; `nil` for a check that only an inspection makes.
    package let code: VerdictCode?

    /// The report on a check that failed, in other words; `nil` leaves those that it has.
    func saying(_ detail: String?, advice: String?) -> CheckReport {
        guard outcome == .failed else { return self }
        return CheckReport(
            check: check, outcome: outcome, detail: detail ?? self.detail, advice: advice ?? self.advice, code: code)
    }

    static func passed(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, outcome: .passed, detail: detail, advice: nil, code: nil)
    }

    static func notChecked(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, outcome: .notChecked, detail: detail, advice: nil, code: nil)
    }

    /// - Parameter signed: what the token says about it; `nil` if it says nothing.
    static func notAsked(_ check: Check, _ signed: String?) -> CheckReport {
        let detail = signed.map { "\($0); not asked for" } ?? "not asked for"
        return CheckReport(check: check, outcome: .notAsked, detail: detail, advice: nil, code: nil)
    }

    static func unread(_ check: Check) -> CheckReport {
        CheckReport(check: check, outcome: .unread, detail: "the token could not be read", advice: nil, code: nil)
    }

    static func failed(_ rejection: Rejection) -> CheckReport {
        failed(rejection.check, rejection.message, advice: rejection.advice, code: rejection.code)
    }

    static func failed(_ check: Check, _ detail: String, advice: String, code: VerdictCode? = nil) -> CheckReport {
        CheckReport(check: check, outcome: .failed, detail: detail, advice: advice, code: code)
    }

    static func undecided(_ check: Check, _ error: VerificationError) -> CheckReport {
        failed(
            check, error.description,
            advice: "reject the token, which may count as used; the app has to fetch a new one", code: .errorUnknown)
    }

    static func failed(_ check: Check, _ failure: StageError) -> CheckReport {
        switch failure {
        case .rejected(let rejection): .failed(rejection)
        case .undecided(let error): .undecided(check, error)
        }
    }
}
