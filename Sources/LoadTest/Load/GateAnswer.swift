internal import Basics
package import HTTP

/// What a gate says in an answer, in its header fields or its body.
extension HTTPAnswerReader.Answer {
    /// The gate's code as it was sent; the HTTP status if the answer has none.
    package var gateCode: String { header("X-Media-Token-Code") ?? member("code") ?? "HTTP \(status)" }

    /// Whether a client could treat the answer as an acceptance: it has a status of success, or a grant, which is a
    /// cookie or a URL in the body.
    package var opens: Bool {
        (200..<300).contains(status) || !values(of: "Set-Cookie").isEmpty || member("url") != nil
    }

    /// Whether header and body name the same code.
    package var isConsistent: Bool {
        header("X-Media-Token-Code") == nil || member("code").map { $0 == gateCode } ?? true
    }

    /// The gate's reason for its code, safe to print; `nil` if the answer gives none.
    package var gateDetail: String? {
        (header("X-Media-Token-Detail") ?? member("detail")).map { printable($0, limit: 256) }
    }

    /// A member of the answer's JSON, such as problem details (RFC 9457).
    private func member(_ name: String) -> String? { (try? StrictJSON.readObject(body[...]).text(name)) ?? nil }
}
