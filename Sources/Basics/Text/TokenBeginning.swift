/// How the text of a media token begins: with its first tag in clear, and in the encodings in which it travels. This
/// serves messages alone; what is a token, its strict reader decides.
package enum TokenBeginning {
    /// The first tag in Base64 without its last digits, which also depend on what follows it.
    package static let base64 = "PHNpZ25hdHVyZUluZm8"

    package static let all = [
        "<signatureInfo>", base64, "%3CsignatureInfo", "%3csignatureInfo", "%253CsignatureInfo", "%253csignatureInfo",
        "&lt;signatureInfo",
    ]

    /// Whether a value begins as a token does.
    package static func isAt(startOf value: some Sequence<UInt8>) -> Bool {
        all.contains { value.starts(with: $0.utf8) }
    }
}
