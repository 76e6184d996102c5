/// The result of every check of a token, and the token's fields, for a person who examines a captured token.
///
/// An examination neither accepts nor consumes a token: that no check failed does not mean that the token is valid. It
/// may contain personal data.
public struct Examination: Sendable {
    /// The report on each check, in order.
    public let reports: [CheckReport]
    /// The name of the key that verified the signature; `nil` if none did, and then nothing below is proven.
    public let key: String?
    /// The kind of the token; `nil` if it could not be read.
    public let kind: TokenKind?
    /// The token's fields, in order.
    public let fields: [TokenField]
    /// When the token was issued; `nil` if it is not a media token or could not be read.
    public let issueTime: TokenDate?

    /// The first check that failed; `nil` if none did.
    public var firstFailure: CheckReport? {
        reports.first { $0.outcome == .failed }
    }
}

/// The report on one check.
public struct CheckReport: Sendable {
    /// The outcome of a check.
    public enum Outcome: String, Sendable {
        /// The token passes the check.
        case passed
        /// The token fails the check, or the check could not be decided.
        case failed
        /// The check was not requested, or could not be made.
        case notChecked = "not checked"
    }

    /// The check.
    public let check: Check
    /// The outcome.
    public let outcome: Outcome
    /// One line that names the values that were compared.
    public let detail: String
    /// One line that says what to do; `nil` unless the check failed.
    public let advice: String?
    /// The status that a verification gives for this failure; `nil` for a check that only an inspection makes.
    public let status: VerdictStatus?

    static func passed(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, outcome: .passed, detail: detail, advice: nil, status: nil)
    }

    static func notChecked(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, outcome: .notChecked, detail: detail, advice: nil, status: nil)
    }

    static func unread(_ check: Check) -> CheckReport { notChecked(check, "the token could not be read") }

    static func failed(_ rejection: Rejection) -> CheckReport {
        failed(rejection.check, rejection.message, advice: rejection.advice, status: rejection.status)
    }

    static func failed(_ check: Check, _ detail: String, advice: String, status: VerdictStatus? = nil) -> CheckReport {
        CheckReport(check: check, outcome: .failed, detail: detail, advice: advice, status: status)
    }

    static func undecided(_ check: Check, _ error: VerificationError) -> CheckReport {
        failed(check, error.description, advice: "reject the token for now, and try again", status: .errorUnknown)
    }

    static func failed(_ check: Check, _ failure: StageError) -> CheckReport {
        switch failure {
        case .rejected(let rejection): .failed(rejection)
        case .undecided(let error): .undecided(check, error)
        }
    }
}
