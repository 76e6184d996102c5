internal import Basics
internal import HTTP
package import MediaToken

/// The gate's own header fields.
extension HTTPAnswer {
    /// Adds the reason for the code.
    mutating func addDetail(_ detail: String) { add("X-Media-Token-Detail", Self.fieldValue(detail)) }

    /// Adds the `WWW-Authenticate` challenge of a 401 answer (RFC 6750, 3).
    ///
    /// - Parameter error: Why the token is rejected; `nil` if the request has no single token.
    mutating func addChallenge(error: String?) {
        let reason = error.map {
            ", error=\"invalid_token\", error_description=\"\(Self.fieldValue($0).filter { !"\"\\".contains($0) })\""
        }
        add("WWW-Authenticate", "Bearer realm=\"media-token\"" + (reason ?? ""))
    }

    /// Adds after how many seconds the client may succeed (RFC 9110, 10.2.3).
    mutating func addRetry(after seconds: Int64) { add("Retry-After", String(seconds)) }

    /// Adds the signed claims and the token's expiry, which a proxy can pass on.
    mutating func addClaims(of token: VerifiedToken) {
        let claims = token.claims
        add("X-Media-Token-Requestor", Self.fieldValue(claims.requestor.text))
        add("X-Media-Token-Resource", Self.fieldValue(claims.resource.text))
        add("X-Media-Token-Mvpd", Self.fieldValue(claims.mvpd.text))
        add("X-Media-Token-Key", Self.fieldValue(token.key))
        add("X-Media-Token-Expires", String(token.expires.wholeSeconds))
    }

    /// Makes `text`, which a client may have chosen, a safe field value: printable ASCII, cut after 1024 characters.
    static func fieldValue(_ text: String) -> String {
        let shown = printable(text, limit: 1024)
        return shown.utf8.allSatisfy { $0 < 0x80 }
            ? shown : shown.unicodeScalars.map { $0.isASCII ? String($0) : "?" }.joined()
    }
}

extension Timestamp {
    /// The whole seconds from `now` until a fence at this time rejects no token that is issued then; 0 if that time has
    /// come. Issue times are whole seconds, so a token of the second in which the fence lies is rejected too.
    package func secondsUntilPassed(at now: Timestamp) -> Int64 {
        let passed = Timestamp(milliseconds: wholeSeconds * 1000).advanced(byMilliseconds: 1000)
        return max(0, -(now.milliseconds(since: passed).flooredQuotient(by: 1000)))
    }
}

/// An answer without a verdict, as problem details (RFC 9457).
struct RequestError: Error {
    /// The HTTP status of the answer.
    let status: Int
    let code: GateCode
    let detail: String

    init(_ status: Int, _ code: GateCode, _ detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
    }

    /// A 400 answer: the caller has to change the request.
    static func invalid(_ detail: String) -> Self { Self(400, .requestInvalid, detail) }

    /// A 403 answer: no route is for the request of a proxy.
    static func noRoute(_ detail: String) -> Self { Self(403, .routeUnknown, detail) }

    private var title: String {
        code == .routeUnknown ? "No route names this path" : "The request cannot be understood"
    }

    var reply: GateReply {
        let document = ProblemDocument(status: status, AnswerCode(code), title: title, detail: detail)
        return GateReply(status, document.code, type: ProblemDocument.type, body: document.body, detail: detail)
    }
}

/// The problem details of an answer (RFC 9457), sent as `application/problem+json`. Each member has the name and type
/// that it has in other answers, so that a caller decodes every answer as one type.
private struct ProblemDocument {
    /// The HTTP status of the answer.
    let status: Int
    let code: AnswerCode
    let title: String
    let detail: String
    var check: String?
    var advice: String?

    init(_ code: VerdictCode, _ detail: String) {
        self.init(status: code.httpStatus, AnswerCode(code), title: code.title, detail: detail)
    }

    init(status: Int, _ code: AnswerCode, title: String, detail: String) {
        (self.status, self.code, self.title, self.detail) = (status, code, title, detail)
    }

    static let type = "application/problem+json"

    var body: [UInt8] {
        var json = FlatJSON()
        json.open()
        json.add("action", code.action?.rawValue)
        json.add("advice", advice)
        json.add("check", check)
        json.add("code", code.name)
        json.add("consumed", code.consumed?.rawValue)
        json.add("detail", detail)
        json.add("number", code.number)
        json.add("status", status)
        json.add("title", title)
        json.close()
        return json.bytes
    }
}

extension VerifiedToken {
    /// The signed claims as JSON. The session GUID is left out: it is personal data, and playback does not need it.
    ///
    /// - Parameter play: What the token was exchanged for; `nil` if it was only verified.
    fileprivate func document(_ play: Play? = nil) -> [UInt8] {
        let claims = claims
        var json = FlatJSON(capacity: 1024)
        let code = VerdictCode.validToken
        json.open()
        json.add("code", code.rawValue)
        json.add("consumed", code.consumed.rawValue)
        json.add("expires", play?.expires ?? expires.wholeSeconds)
        json.add("issueTime", claims.issueTime.description)
        json.add("key", key)
        json.add("mvpd", claims.mvpd.text)
        json.add("number", code.number)
        json.add("proxyMvpd", claims.proxyMVPD?.text)
        json.add("requestor", claims.requestor.text)
        json.add("resource", claims.resource.text)
        json.add("status", code.httpStatus)
        json.add("ttl", claims.ttlMilliseconds)
        json.add("url", play?.url)
        json.close()
        return json.bytes
    }
}

/// The form in which the gate answers with a verdict.
package enum AnswerFormat: Sendable {
    /// A body with all details, for a backend.
    case document
    /// Status and headers only, for a proxy.
    case subrequest
    /// A body of the operator's own form, for apps that expect it.
    case dialect(DialectAnswers)

    /// The answer to a rejected token.
    package func reject(_ rejection: Rejection, at now: Timestamp) -> GateReply {
        let (code, message) = (rejection.code, rejection.message)
        var reply = deny(code, message) {
            var document = ProblemDocument(code, message)
            (document.check, document.advice) = (rejection.check.rawValue, rejection.advice)
            return document
        }
        let seconds = rejection.storeFence?.secondsUntilPassed(at: now) ?? 0
        if seconds > 0 { reply.answer.addRetry(after: seconds) }
        return reply
    }

    /// The answer to an accepted token.
    ///
    /// - Parameter play: What the token was exchanged for; `nil` if it was only verified.
    package func accept(_ token: VerifiedToken, _ play: Play? = nil) -> GateReply {
        switch self {
        case .subrequest:
            var reply = Self.acceptedSubrequest
            reply.answer.addClaims(of: token)
            return reply
        case .document:
            var reply = Self.acceptedDocument
            reply.answer.body = token.document(play)
            if let play { reply.answer.fields.add(play.cookies) }
            return reply
        case .dialect(let answers): return answers.accept(token, play)
        }
    }

    // What all such answers have in common is made once.
    private static let acceptedSubrequest = subrequest.reply(.validToken) { [] }
    private static let acceptedDocument = document.reply(.validToken) { [] }

    /// The answer if the gate could not decide.
    package func undecided(_ reason: String) -> GateReply {
        deny(.errorUnknown, reason) { ProblemDocument(.errorUnknown, reason) }
    }

    /// The answer to a proxy for a code that denies a request.
    static func denied(_ code: VerdictCode, _ detail: String) -> GateReply {
        subrequest.deny(code, detail) { ProblemDocument(code, detail) }
    }

    private func deny(_ code: VerdictCode, _ detail: String, _ document: () -> ProblemDocument) -> GateReply {
        if case .dialect(let answers) = self { return answers.deny(code, detail) }
        var reply = reply(code, detail) { document().body }
        if code.httpStatus == 401 { reply.answer.addChallenge(error: detail) }
        return reply
    }

    private func reply(_ code: VerdictCode, _ detail: String? = nil, _ body: () -> [UInt8]) -> GateReply {
        guard case .document = self else { return GateReply(code.httpStatus, AnswerCode(code), detail: detail) }
        let type = code == .validToken ? "application/json" : ProblemDocument.type
        return GateReply(code.httpStatus, AnswerCode(code), type: type, body: body(), detail: detail)
    }

    /// The answer to a request that is not understood.
    func refuse(_ error: RequestError) -> GateReply {
        switch self {
        case .document: error.reply
        case .subrequest: .subrequest(error.status, error.code, error.detail)
        case .dialect(let answers): answers.refuse(error)
        }
    }

    /// Refuses a request for a grant that the answer cannot deliver.
    ///
    /// - Parameters:
    ///   - grant: The grant of the route; `nil` if it has none.
    ///   - route: The path of the route, for the message.
    ///   - namesStream: Whether the request names the URL of one stream.
    func check(_ grant: RouteGrant?, of route: String, namesStream: Bool) throws(RequestError) {
        switch self {
        case .document where grant == nil:
            throw .invalid(
                "the route '\(printable(route))' has no grant, or no key of it is left; expected one in its configuration"
            )
        case .dialect(let answers):
            guard let misfit = answers.misfit(grant, namesStream: namesStream) else { return }
            throw .invalid("the answer to an accepted token \(misfit)")
        case .document, .subrequest: break
        }
    }
}
