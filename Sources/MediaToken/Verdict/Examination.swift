/// Everything that can be said about a token, for the person who has it in hand: each check's result, and what it holds.
///
/// It accepts nothing and uses nothing up; that no check of it failed does not mean that the token is valid. It may hold
/// personal data.
public struct Examination: Sendable {
    /// Every check, in order.
    public let reports: [CheckReport]
    /// Name of the key that verified the signature; `nil` where none did, and then nothing below is to be believed.
    public let key: String?
    /// Which kind of token it is, where that could be read.
    public let kind: TokenKind?
    /// Its fields in their order.
    public let fields: [TokenField]
    /// When it was issued; media tokens only.
    public let issueTime: TokenDate?

    /// The first check that failed; `nil` where none did.
    public var firstFailure: CheckReport? {
        reports.first { $0.result == .failed }
    }

    /// The same with the outcome of a verification of the token filled in for the replay check.
    public func concluded(by outcome: Result<Verdict, CannotTell>) -> Examination {
        let replay: CheckReport =
            switch outcome {
            case .success(.accepted): .passed(.replay, "this was its first use, and now it is used up")
            case .success(.rejected(let rejection)) where rejection.check == .replay: .failed(rejection)
            case .success(.rejected): .notChecked(.replay, "refused before, so it was not used up")
            case .failure(let error): .cannotTell(.replay, error)
            }
        return Examination(
            reports: reports.map { $0.check == .replay ? replay : $0 }, key: key, kind: kind, fields: fields,
            issueTime: issueTime)
    }
}

/// One check's outcome.
public struct CheckReport: Sendable {
    /// What became of a check.
    public enum Result: String, Sendable {
        /// It passes.
        case passed
        /// It does not, or it could not be told.
        case failed
        /// It was not asked for, or could not be made.
        case notChecked = "not checked"
    }

    /// Which check.
    public let check: Check
    /// Its outcome.
    public let result: Result
    /// One line: the values that were compared.
    public let detail: String
    /// One line: what to do; for a failed check only.
    public let advice: String?
    /// The status that a failed check stands for; `nil` for one that only an inspection makes.
    public let status: VerdictStatus?

    static func passed(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, result: .passed, detail: detail, advice: nil, status: nil)
    }

    static func notChecked(_ check: Check, _ detail: String) -> CheckReport {
        CheckReport(check: check, result: .notChecked, detail: detail, advice: nil, status: nil)
    }

    static func failed(_ rejection: Rejection) -> CheckReport {
        failed(rejection.check, rejection.message, advice: rejection.advice, status: rejection.code)
    }

    static func failed(_ check: Check, _ detail: String, advice: String, status: VerdictStatus? = nil) -> CheckReport {
        CheckReport(check: check, result: .failed, detail: detail, advice: advice, status: status)
    }

    static func cannotTell(_ check: Check, _ error: CannotTell) -> CheckReport {
        failed(check, error.description, advice: "refuse for now, and try again", status: .errorUnknown)
    }

    static func failed(_ check: Check, _ stop: Stop) -> CheckReport {
        switch stop {
        case .rejected(let rejection): .failed(rejection)
        case .cannotTell(let error): .cannotTell(check, error)
        }
    }
}
