/// Why a policy does not approve a token, in words that are made when somebody asks for them.
///
/// It is a class, so that a result is no larger than a reference: most tokens are approved.
package final class PolicyFailure: Error, Sendable {
    package let code: VerdictCode
    /// One line that says what to do.
    package let advice: String
    private let words: @Sendable () -> String

    /// - Parameter words: makes the line that names the values that differ.
    init(_ code: VerdictCode, advice: String, words: @escaping @Sendable () -> String) {
        (self.code, self.advice, self.words) = (code, advice, words)
    }

    /// One line that names the values that differ.
    package var message: String { words() }
}
