internal import Basics
package import HTTP

/// The ID that joins the gate's log line of a request to those of the programs in front of the gate.
package enum RequestID {
    /// The longest ID. Every token is longer: its signature alone takes 172 characters.
    private static let longest = 64

    /// The value of `X-Request-Id`, or else the trace ID of `traceparent`; `nil` if the request has neither, or if what
    /// it has does not look like an ID.
    package static func of(_ request: HTTPRequest) -> String? {
        let named = request.onlyValue(of: GateField.request).flatMap { isID($0) ? $0 : nil }
        return (named ?? request.onlyValue(of: GateField.traceParent).flatMap(traceID)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Whether a text consists of the characters of usual IDs: UUIDs, hexadecimal and Base64 texts, and several of
    /// these joined by punctuation.
    private static func isID(_ text: ArraySlice<UInt8>) -> Bool {
        (1...longest).contains(text.count)
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"),
                    UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "_"):
                    true
                default: byte.isLetterOrDigit
                }
            }
    }

    /// The trace ID of a `traceparent` (W3C Trace Context, 3.2): version, trace ID, parent ID and flags in lower-case
    /// hexadecimal, with more behind them in a later version; `nil` for any other text.
    private static func traceID(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let parts = text.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ isHexadecimal($0, digits: $1) }),
            !parts[0].isSame(as: "ff"), parts.count == 4 || !parts[0].isSame(as: "00"),
            !parts[1].allSatisfy({ $0 == UInt8(ascii: "0") }), !parts[2].allSatisfy({ $0 == UInt8(ascii: "0") })
        else { return nil }
        return parts[1]
    }

    private static func isHexadecimal(_ text: ArraySlice<UInt8>, digits: Int) -> Bool {
        text.count == digits && text.allSatisfy { $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }
}
