/// Why a server does not take a request: the status of its answer, and what was expected, in one line for the client.
///
/// The answer to a refused request ends the connection, because bytes that follow may be part of what was refused.
package struct HTTPRefusal: Error, Sendable, Equatable {
    package let status: Int
    package let reason: String

    init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }

    /// The refusal of a request for which no memory is left, because others wait for their answers. The request is not
    /// handled.
    package static let overloaded = Self(
        503, "too many requests wait for their answers; nothing was done for this one, so ask again")

    /// A refusal of what two programs could read in two ways.
    static func ambiguous(_ reason: String) -> Self { Self(400, reason) }
}
