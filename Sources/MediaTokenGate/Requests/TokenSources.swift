internal import HTTPServer
internal import TextEncodings

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
        /// More than one, and they are not the same; or so much that not all of it was read.
        case several
    }

    func find(in request: HTTPRequest, originalQuery: String?) -> Finding {
        var found: [String] = []
        if let header { found += request.values(of: header) }
        if bearer { found += request.values(of: "Authorization").compactMap(Self.bearerToken) }
        if let cookie { found += request.values(of: "Cookie").flatMap { Self.cookies($0, named: cookie) } }
        if let parameter, let originalQuery {
            let fields = FormFields(originalQuery)
            guard !fields.isTooLong else { return .several }
            found += fields.encoded(parameter)
        }
        let tokens = found.filter { !$0.isEmpty }
        guard let first = tokens.first else { return .none }
        return tokens.allSatisfy { $0.hasSameBytes(as: first) } ? .one(first) : .several
    }

    /// The scheme's case does not count (RFC 9110, 11.1).
    static func bearerToken(_ value: String) -> String? {
        let scheme = value.utf8.prefix { !$0.isBlank }
        guard String(Substring(scheme)).isSame(ignoringCaseOf: "Bearer") else { return nil }
        return String(Substring(value.utf8.dropFirst(scheme.count).drop(while: \.isBlank)))
    }

    static func cookies(_ header: String, named name: String) -> [String] {
        let quote = UInt8(ascii: "\"")
        // An array is gone through several times as fast as a text.
        return Array(header.utf8).split(separator: UInt8(ascii: ";")).compactMap { pair in
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")),
                pair[..<mark].trimmingBlanks().elementsEqual(name.utf8)
            else { return nil }
            let value = pair[mark...].dropFirst().trimmingBlanks()
            // Quotes around it are part of the form, not of the value (RFC 6265, 4.1.1).
            let isQuoted = value.count > 1 && value.first == quote && value.last == quote
            return String(decoding: isQuoted ? value.dropFirst().dropLast() : value, as: UTF8.self)
        }
    }
}
