/// Everything that can be said about a token, for the person who has it in hand: each check's result, and what it holds.
///
/// It accepts nothing and uses nothing up. It may hold personal data.
public struct Examination: Sendable {
    /// One check's outcome.
    public struct Report: Sendable {
        /// What became of it.
        public enum Result: String, Sendable {
            case passed, failed
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
        /// The status that a failed check stands for.
        public let status: VerdictStatus?

        static func passed(_ check: Check, _ detail: String) -> Report {
            Report(check: check, result: .passed, detail: detail, advice: nil, status: nil)
        }

        static func notChecked(_ check: Check, _ detail: String) -> Report {
            Report(check: check, result: .notChecked, detail: detail, advice: nil, status: nil)
        }

        static func failed(_ rejection: Rejection, as check: Check? = nil) -> Report {
            Report(
                check: check ?? rejection.check, result: .failed, detail: rejection.message, advice: rejection.advice,
                status: rejection.code)
        }
    }

    /// Every check, in order.
    public let reports: [Report]
    /// Name of the key that verified the signature; `nil` where none did, and then nothing below is to be believed.
    public let key: String?
    /// Which kind of token it is, where that could be read.
    public let kind: TokenKind?
    /// Its fields in their order.
    public let fields: [TokenField]
    /// When it was issued; media tokens only.
    public let issueTime: TokenDate?

    /// Of the first check that failed; ``VerdictStatus/validToken`` where none did.
    public var status: VerdictStatus {
        reports.lazy.compactMap(\.status).first ?? .validToken
    }

    /// The same with the outcome of a verification of the token filled in for the replay check.
    public func concluded(by outcome: Result<Verdict, CannotTell>) -> Examination {
        let replay: Report =
            switch outcome {
            case .success(.accepted): .passed(.replay, "this was its first use, and now it is used up")
            case .success(.rejected(let rejection)) where rejection.check == .replay: .failed(rejection)
            case .success(.rejected): .notChecked(.replay, "refused before, so it was not used up")
            case .failure(let error):
                Report(
                    check: .replay, result: .failed, detail: error.description,
                    advice: "refuse for now; try again once the store answers", status: .errorUnknown)
            }
        return Examination(
            reports: reports.map { $0.check == .replay ? replay : $0 }, key: key, kind: kind, fields: fields,
            issueTime: issueTime)
    }
}
