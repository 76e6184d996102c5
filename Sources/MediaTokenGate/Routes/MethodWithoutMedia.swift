/// A method whose response has no media (RFC 9110, 9.3.2 and 9.3.7). A request with it consumes no token.
package enum MethodWithoutMedia: String, Sendable {
    case head = "HEAD"
    /// Browsers send it before a request of a page of another origin (Fetch standard, CORS preflight), without a token.
    case options = "OPTIONS"

    init?(_ method: ArraySlice<UInt8>?) {
        guard let method, let found = Self(rawValue: String(decoding: method, as: UTF8.self)) else { return nil }
        self = found
    }

    /// The setting of a route that allows it.
    var setting: String {
        switch self {
        case .head: "allow-head"
        case .options: "allow-preflight"
        }
    }
}
