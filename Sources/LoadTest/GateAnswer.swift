internal import HTTPCalling
package import HTTPMessages
internal import TextEncodings

/// What a gate says in an answer, in its header fields or its body.
extension HTTPAnswerReader.Answer {
    /// The gate's code as it was sent; the HTTP status if the answer has none.
    package var gateCode: String { header("X-Media-Token-Code") ?? member("code") ?? "HTTP \(status)" }

    /// The gate's reason for its code, safe to print; `nil` if the answer gives none.
    package var gateDetail: String? {
        (header("X-Media-Token-Detail") ?? member("detail")).map { printable($0, limit: 256) }
    }

    /// A member of the answer's JSON, such as problem details (RFC 9457).
    private func member(_ name: String) -> String? { (try? StrictJSON.readObject(body[...]).text(name)) ?? nil }
}
