internal import Basics
internal import MediaToken

/// What a store did otherwise than a clause demands.
public struct ReplayStoreViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the clause demands.
    public let expected: String
    /// What came of the store, or became of it.
    public let found: String

    /// The violation in one line.
    public var description: String {
        let text = "expected \(expected), found \(found)"
        return String(text.map { $0.isNewline ? " " : $0 })
    }
}

/// An answer of a store, or the error in its place.
typealias ClaimResult = Result<ReplayAnswer, ReplayStoreError>

/// - Throws: ``ReplayStoreViolation`` if `answer` is another than `expected`.
func demand(_ expected: ReplayAnswer, is answer: ClaimResult, _ circumstance: String) throws(ReplayStoreViolation) {
    guard answer != .success(expected) else { return }
    throw ReplayStoreViolation(
        expected: "\(text(of: .success(expected))) for \(circumstance)", found: text(of: answer))
}

/// - Throws: ``ReplayStoreViolation`` if there are not `expected` answers.
func demand(count expected: Int, of answers: [ClaimResult], _ circumstance: String) throws(ReplayStoreViolation) {
    guard answers.count != expected else { return }
    throw ReplayStoreViolation(expected: "\(expected) answers for \(circumstance)", found: "\(answers.count)")
}

/// An answer in words, with its time to the millisecond.
func text(of answer: ClaimResult) -> String {
    switch answer {
    case .success(.first): "first"
    case .success(.alreadyUsed): "alreadyUsed"
    case .success(.repeated(let time)): "repeated(since: \(time.internetText))"
    case .success(.predatesStore(let time)): "predatesStore(since: \(time.internetText))"
    case .failure(let error): "an error: \(error)"
    }
}
