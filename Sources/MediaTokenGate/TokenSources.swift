internal import HTTPServer
internal import MediaToken

/// Where a request that a proxy asks about may carry its token.
package struct TokenSources: Sendable, Equatable {
    /// A header that holds it; `nil` for none.
    package var header: String? = "X-Media-Token"
    /// Whether `Authorization: Bearer` may (RFC 6750, 2.1).
    package var bearer = true
    /// A cookie of this name; `nil` for none.
    package var cookie: String? = "media_token"
    /// A parameter of the original URI's query; `nil` for none.
    package var parameter: String? = "media_token"

    package init() {}

    /// What was found.
    enum Finding: Equatable {
        case none
        case one(String)
        /// More than one, and they are not the same.
        case several
    }

    func find(in request: HTTPRequest, originalQuery: String?) -> Finding {
        var found: [String] = []
        if let header { found += request.values(of: header) }
        if bearer { found += request.values(of: "Authorization").compactMap(Self.bearerToken) }
        if let cookie { found += request.values(of: "Cookie").flatMap { Self.cookies($0, named: cookie) } }
        if let parameter, let originalQuery { found += FormFields(originalQuery).encoded(parameter) }
        let tokens = found.filter { !$0.isEmpty }
        guard let first = tokens.first else { return .none }
        return tokens.allSatisfy { $0.hasSameBytes(as: first) } ? .one(first) : .several
    }

    /// The scheme's case does not count (RFC 9110, 11.1).
    static func bearerToken(_ value: String) -> String? {
        guard value.utf8.count > 7, value.prefix(7).lowercased() == "bearer " else { return nil }
        return String(value.dropFirst(7).drop { $0 == " " })
    }

    private static func cookies(_ header: String, named name: String) -> [String] {
        header.split(separator: ";").compactMap { pair in
            let pair = pair.drop { $0 == " " || $0 == "\t" }
            guard pair.hasPrefix(name + "=") else { return nil }
            let value = pair.dropFirst(name.count + 1)
            // Quotes around it are part of the form, not of the value (RFC 6265, 4.1.1).
            return String(
                value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"") ? value.dropFirst().dropLast() : value
            )
        }
    }
}
