package import HTTPMessages
package import MediaToken

/// What the log says of an authentic playback grant that a client sent.
struct UsedGrant: Sendable {
    /// The short ID of the media token that the grant was made for; `nil` if the grant does not have it.
    let token: TokenID?
    /// The ID of the key that the grant was made with.
    let keyID: String
    /// Whether the answer has a later grant.
    var isRenewed = false
}

/// An answer of the gate, and the code under which the log and the metrics count it.
package struct GateReply: Sendable {
    package var answer: HTTPAnswer
    /// The code of a verdict, a ``GateCode``, or `EXPLAINED`.
    package let code: String
    /// The number of the verdict; `nil` if there is none.
    let number: Int?
    /// Why the request is not allowed, or why its grant is not renewed; `nil` if there is nothing to say. The log shortens
    /// the text.
    package var detail: String?
    /// The authentic playback grant of the request; `nil` if it has none.
    var grant: UsedGrant?
    /// The path of the route that the request is for, as it is configured; `nil` if there is none.
    var route: String?

    package init(_ answer: HTTPAnswer, code: String, number: Int? = nil, detail: String? = nil) {
        (self.answer, self.code, self.number, self.detail) = (answer, code, number, detail)
    }

    private static let explained = "EXPLAINED"

    /// The answer of `/v1/explain`. It is counted as `EXPLAINED` whatever was found, since it is no verdict.
    package init(explaining examination: Examination) {
        let document = ExaminationDocument(examination, status: 200)
        let answer = HTTPAnswer(
            200, code: Self.explained, type: "application/json", body: JSONLine.body(document))
        self.init(answer, code: Self.explained)
    }

    /// The answer to a proxy about a request that gets no media, whose token was examined and not consumed. It is allowed if the
    /// token passes every check but its use.
    package init(withoutMedia examination: Examination) {
        if examination.passesAllButUse {
            self.init(
                HTTPAnswer(200, code: GateCode.tokenNotConsumed.rawValue), code: GateCode.tokenNotConsumed.rawValue)
        } else {
            let failure = examination.firstFailure
            self = AnswerFormat.denied(
                failure?.code ?? .errorUnknown, failure?.detail ?? "the token could not be examined")
        }
    }
}

/// The code of an answer without a verdict, because the gate needed no token or had none to verify. Its codes differ from
/// those of all verdicts, but its HTTP statuses may be the same.
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
    /// A browser asks whether a page may send a request, to the gate or for a stream.
    case corsPreflight = "CORS_PREFLIGHT"
}
