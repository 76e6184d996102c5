internal import HTTPMessages
internal import StreamPaths
internal import TextEncodings

/// The origins whose pages may call the gate from a browser (Fetch standard, CORS protocol).
package struct CORSOrigins: Sendable, Equatable {
    private var origins: [String] = []
    private var isAny = false

    /// No page may call the gate.
    package init() {}

    /// - Parameters:
    ///   - texts: Origins, or `*` for any of them.
    ///   - refuse: Called with what is wrong with one of the texts.
    package init(_ texts: [String], refuse: (String) -> Void) {
        for text in texts {
            if text == "*" {
                isAny = true
            } else if let origin = StreamOrigin(text) {
                // As a browser writes it: in lower case, and without the usual port of the scheme.
                origins.append(origin.text)
            } else {
                refuse("is '\(printable(text))'; expected https://HOST[:PORT], http://HOST[:PORT] or *")
            }
        }
    }

    /// Whether no page may call the gate.
    var isEmpty: Bool { origins.isEmpty && !isAny }

    /// The header fields of an answer to a page: those that let the page read it, if its origin may, and `Vary` in any case.
    ///
    /// - Parameter origin: The `Origin` of the request, which browsers write in lower case.
    func fields(for origin: ArraySlice<UInt8>) -> [(name: StaticString, value: String)] {
        let exposed = "X-Media-Token-Code, X-Request-Id, WWW-Authenticate, Retry-After"
        if let named = origins.first(where: { origin.elementsEqual($0.utf8) }) {
            return [
                ("Access-Control-Allow-Origin", named), ("Access-Control-Allow-Credentials", "true"),
                ("Access-Control-Expose-Headers", exposed), ("Vary", "Origin"),
            ]
        }
        guard isAny else { return [("Vary", "Origin")] }
        return [
            ("Access-Control-Allow-Origin", "*"), ("Access-Control-Expose-Headers", exposed), ("Vary", "Origin"),
        ]
    }

    /// The header fields that the answer to a preflight request has in addition to those of other answers.
    ///
    /// - Parameters:
    ///   - methods: The methods with which the page may ask.
    ///   - names: The header fields that the endpoint reads, in addition to those of all endpoints.
    static func preflight(_ methods: [String], reading names: [String]) -> [(name: StaticString, value: String)] {
        let common = ["Content-Type", "Idempotency-Key", "X-Request-Id"]
        return [
            ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
            ("Access-Control-Allow-Headers", (common + names).joined(separator: ", ")),
            ("Access-Control-Max-Age", "86400"),
        ]
    }
}
