internal import Basics
internal import HTTP
package import StreamPaths

/// An origin whose pages may call the gate from a browser.
package enum CORSOrigin: Sendable {
    case any
    case one(StreamOrigin)

    static let forms = "https://HOST[:PORT], http://HOST[:PORT] or *"

    /// Reads an origin, or `*`; `nil` for any other text.
    package init?(_ text: String) {
        if text == "*" {
            self = .any
        } else if let origin = StreamOrigin(text) {
            self = .one(origin)
        } else {
            return nil
        }
    }
}

/// The origins whose pages may call the gate from a browser (Fetch standard, CORS protocol).
package struct CORSOrigins: Sendable, Equatable {
    /// As a browser writes them: in lower case, and without the usual port of the scheme.
    private let origins: [String]
    private let isAny: Bool

    package init(_ origins: [CORSOrigin] = []) {
        self.origins = origins.compactMap { if case .one(let origin) = $0 { origin.text } else { nil } }
        isAny = origins.contains { if case .any = $0 { true } else { false } }
    }

    /// Whether no page may call the gate.
    var isEmpty: Bool { origins.isEmpty && !isAny }

    /// The header fields of an answer to a page: those that let the page read it, if its origin may, and `Vary` in any
    /// case.
    ///
    /// - Parameter origin: The `Origin` of the request, which browsers write in lower case.
    func fields(for origin: ArraySlice<UInt8>) -> [(name: StaticString, value: String)] {
        let exposed =
            "X-Media-Token-Code, X-Media-Token-Action, X-Media-Token-Consumed, X-Media-Token-Would-Be, X-Request-Id, "
            + "WWW-Authenticate, Retry-After"
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
