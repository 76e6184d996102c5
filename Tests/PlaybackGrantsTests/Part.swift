import Foundation
import PlaybackGrants
import TestSupport

/// Parts that know nothing of this project's code.
enum Part {
    /// The message of a ``GrantError``; `nil` where there is none.
    static func problem(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch let problem as GrantError {
            return "\(problem)"
        } catch {
            return "another error: \(error)"
        }
    }

    /// The MAC that openssl computes.
    static func hmac(_ message: String, hexadecimalKey key: String, _ digest: String) throws -> String {
        let arguments = ["dgst", "-\(digest)", "-mac", "HMAC", "-macopt", "hexkey:\(key)"]
        let outcome = try Program("openssl").run(arguments, input: Data(message.utf8))
        let words = outcome.output.split(separator: " ").last.map(String.init) ?? ""
        return words.trimmingCharacters(in: .newlines)
    }
}

extension [UInt8] {
    /// The text in Foundation's Base64, changed to that of RFC 4648, 5, without padding.
    var letters: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
