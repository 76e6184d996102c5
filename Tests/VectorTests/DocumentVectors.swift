import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

/// One good token in whatever it may travel in. `{token|base64|percent}` in an input stands for the token, and what is
/// done to it from left to right.
enum DocumentVectors {
    static func verify(_ vector: Vector) throws -> VectorOutcome {
        let token = try Mint.token()
        let input = try [UInt8](fill(#require(vector.input), token).utf8)
        let outcome = try TokenVectors.verify(input, vector)
        guard outcome.code == VerdictCode.validToken.rawValue else { return outcome }
        // However it came, it is one token: after the clear one it is used up.
        let verifier = try Mint.verifier()
        #expect(try verifier.code(token) == .validToken)
        let again = try verifier.verify(RawToken(input), for: Mint.expectation, at: Mint.now)
        #expect(again.code == .tokenAlreadyUsed)
        return outcome
    }

    /// The text with tokens in the places of `{{token|…}}`.
    static func fill(_ template: String, _ token: String) throws -> String {
        try template.split(separator: "{{", omittingEmptySubsequences: false).enumerated().map { number, part in
            guard number > 0 else { return String(part) }
            let halves = part.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            let steps = halves[0].split(separator: "|")
            return try steps.reduce("") { try apply($1, to: $0, token) } + halves[1]
        }.joined()
    }

    private static func apply(_ step: Substring, to text: String, _ token: String) throws -> String {
        switch step {
        case "token": token
        case "another token": try Mint.token { $0.mvpd = "Other" }
        case "base64": Fixtures.base64(text)
        case "url": text.replacing("+", with: "-").replacing("/", with: "_")
        case "unpadded": text.replacing("=", with: "")
        case "padded": text + "="
        case "lines": String(text.enumerated().flatMap { $0 % 76 == 75 ? [$1, "\n"] : [$1] })
        case "CRLF": text.replacing("\n", with: "\r\n")
        case "CR": text.replacing("\n", with: "\r")
        case "folded": text.replacing("\n", with: " ")
        case "percent": Fixtures.percentEncoded(text)
        case "lower": text.replacing(try Regex("%[0-9A-F]{2}")) { String($0.output[0].substring ?? "").lowercased() }
        // As forms do: a space is a plus sign.
        case "form": Fixtures.percentEncoded(text).replacing("%20", with: "+")
        case "space for plus": text.replacing("+", with: " ")
        case "xml": text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        case "play": "<play><serializedToken>\(text)</serializedToken></play>"
        case "json": text.replacing("\"", with: "\\\"")
        case "unicode": text.unicodeScalars.map { "\\u" + hexadecimal($0.value, digits: 4) }.joined()
        case "half": String(text.prefix(text.count / 2))
        case "short by one": String(text.dropLast())
        default: throw Program.Failure(description: "no such step: \(step)")
        }
    }

    private static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
