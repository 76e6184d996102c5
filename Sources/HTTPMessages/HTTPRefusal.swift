/// Why a server does not take a request: the status of its answer, and what was expected, in one line for the client.
///
/// The answer to a refused request ends the connection, because bytes that follow may be part of what was refused.
package struct HTTPRefusal: Error, Sendable, Equatable {
    package let status: Int
    package let reason: String

    init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }

    /// A refusal of what two programs could read in two ways.
    static func ambiguous(_ reason: String) -> Self { Self(400, reason) }
}
