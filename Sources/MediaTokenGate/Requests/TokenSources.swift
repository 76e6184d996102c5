internal import Basics
internal import HTTP

/// The places where a client's request, as described by a proxy, may carry its token.
package struct TokenSources: Sendable {
    /// The name of the header with the token; `nil` if no header may carry it.
    package var header: String? {
        get { headerField?.description }
        set { headerField = newValue.map { HTTPFieldName($0) } }
    }
    private var headerField: HTTPFieldName? = GateField.streamToken
    /// Whether `Authorization: Bearer` may carry the token (RFC 6750, 2.1).
    package var bearer = true
    /// The name of the cookie with the token; `nil` if no cookie may carry it.
    package var cookie: String? = "media_token"
    /// The name of the query parameter of the original URI with the token; `nil` if no parameter may carry it.
    package var parameter: String? = "media_token"

    package init() {}

    /// The result of looking for a token.
    enum SearchResult: Equatable {
        case none
        case one(ArraySlice<UInt8>)
        /// There are several tokens that differ.
        case several
        /// The query has too many fields to be read in full.
        case tooManyFields
    }

    func find(in request: HTTPRequest, originalQuery: ArraySlice<UInt8>?) -> SearchResult {
        var found: [ArraySlice<UInt8>] = []
        if let headerField { found += request.values(of: headerField) }
        if bearer { found += request.values(of: GateField.authorization).compactMap(HeaderValues.bearer) }
        if let cookie { found += request.values(of: GateField.cookie).flatMap { Self.cookies($0, named: cookie) } }
        if let parameter, let originalQuery {
            let fields = FormFields(originalQuery)
            guard !fields.isTooLong else { return .tooManyFields }
            found += fields.encoded(parameter)
        }
        let tokens = found.filter { !$0.isEmpty }
        guard let first = tokens.first else { return .none }
        return tokens.allSatisfy { $0.hasSameBytes(as: first) } ? .one(first) : .several
    }

    static func cookies(_ header: ArraySlice<UInt8>, named name: String) -> [ArraySlice<UInt8>] {
        HeaderValues.cookies(header).filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }
}
