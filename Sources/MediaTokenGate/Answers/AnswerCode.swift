package import MediaToken

/// The code of an answer, and what it tells programs: the row of a verdict, or of a ``GateCode``.
package struct AnswerCode: Sendable {
    package let name: String
    /// The number of the verdict; `nil` if there is none.
    let number: Int?
    /// Whether the token is used up; `nil` if the answer is about no token.
    let consumed: Consumption?
    /// What has to be done; `nil` if nothing has to.
    let action: Action?

    package init(_ name: String, number: Int? = nil, consumed: Consumption? = nil, action: Action? = nil) {
        (self.name, self.number, self.consumed, self.action) = (name, number, consumed, action)
    }

    init(_ code: VerdictCode) {
        self.init(code.rawValue, number: code.number, consumed: code.consumed, action: code.action)
    }

    init(_ code: GateCode) { self.init(code.rawValue, consumed: code.consumed, action: code.action) }

    /// The code of an answer that allows what this code would refuse, with the same consequence for the token.
    var reportedOnly: AnswerCode { AnswerCode(GateCode.reportOnly.rawValue, consumed: consumed) }

    /// The table of the codes of verdicts, in Markdown.
    package static var page: String {
        let rows = VerdictCode.allCases.map { code in
            let exit = code == .validToken ? 0 : code == .errorUnknown ? 2 : 1
            let action = code.action.map { "`\($0.rawValue)`" } ?? ""
            return "| `\(code.rawValue)` | \(code.number) | \(code.title) | \(exit) | \(code.httpStatus) | "
                + "\(code.consumed.rawValue) | \(action) |"
        }
        let head = [
            "| code | number | meaning | exit | HTTP | consumed | action |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        return (head + rows).joined(separator: "\n")
    }

    /// The answer of `/v1/explain`, whatever was found, since it is no verdict.
    static let explained = AnswerCode("EXPLAINED", consumed: .no)
}

/// The code of an answer without a verdict, because the gate needed no token or had none to verify. Its codes differ
/// from those of all verdicts, but its HTTP statuses may be the same.
package enum GateCode: String, Sendable, CaseIterable {
    /// The media is unprotected, so the request is allowed.
    case tokenNotRequired = "TOKEN_NOT_REQUIRED"
    /// The request has a playback grant that opens the stream, so it needs no token.
    case grantValid = "GRANT_VALID"
    /// The request has no token, and its playback grants do not open the stream.
    case grantRefused = "GRANT_REFUSED"
    /// The request gets no media, and its token passes every check; it is not consumed.
    case tokenNotConsumed = "TOKEN_NOT_CONSUMED"
    /// The request gets no media, its token is not consumed, and its route does not allow such requests.
    case methodWithoutMedia = "METHOD_WITHOUT_MEDIA"
    /// The media is protected, and the request has no token.
    case tokenMissing = "TOKEN_MISSING"
    /// The request has several tokens that differ, or a query too long to be read in full.
    case tokenAmbiguous = "TOKEN_AMBIGUOUS"
    /// No route names the path, the path could be read in two ways, or the proxy's request is malformed.
    case routeUnknown = "ROUTE_UNKNOWN"
    /// The gate does not understand the request.
    case requestInvalid = "REQUEST_INVALID"
    /// The gate only reports: it would refuse the request by another code, which the answer names, and allows it.
    case reportOnly = "REPORT_ONLY"
    /// A browser asks whether a page may send a request, to the gate or for a stream.
    case corsPreflight = "CORS_PREFLIGHT"

    /// Whether the token of the request is used up; `nil` if the answer is about no token.
    var consumed: Consumption? { row.consumed }
    /// What has to be done so that the request is allowed; `nil` if it is.
    var action: Action? { row.action }

    /// All that a code says, in one place.
    private var row: (consumed: Consumption?, action: Action?) {
        switch self {
        case .tokenNotRequired, .grantValid, .reportOnly, .corsPreflight: (nil, nil)
        case .tokenNotConsumed: (.no, nil)
        case .grantRefused, .tokenMissing: (nil, .newToken)
        case .methodWithoutMedia, .routeUnknown: (.no, .operator)
        case .tokenAmbiguous, .requestInvalid: (.no, .fixRequest)
        }
    }
}
