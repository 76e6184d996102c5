internal import HTTPMessages
package import MediaToken
internal import TextEncodings

/// The gate's own header fields.
extension HTTPAnswer {
    /// Creates an answer that no cache may keep, with the status under which log and metrics count it.
    init(_ code: Int, status: String, type: String? = nil, body: [UInt8] = []) {
        self.init(code, type: type, body: body)
        add("X-Media-Token-Status", status)
        add("Cache-Control", "no-store")
    }

    /// Adds the reason for the status.
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

    /// Adds the signed claims, which a proxy can pass on.
    mutating func addClaims(of token: VerifiedToken) {
        let claims = token.claims
        add("X-Media-Token-Requestor", Self.fieldValue(claims.requestor.text))
        add("X-Media-Token-Resource", Self.fieldValue(claims.resource.text))
        add("X-Media-Token-Mvpd", Self.fieldValue(claims.mvpd.text))
        add("X-Media-Token-Key", Self.fieldValue(token.key))
    }

    /// Makes `text`, which a client may have chosen, a safe field value: printable ASCII, cut after 1024 characters.
    static func fieldValue(_ text: String) -> String {
        let shown = printable(text, limit: 1024)
        return shown.utf8.allSatisfy { $0 < 0x80 }
            ? shown : shown.unicodeScalars.map { $0.isASCII ? String($0) : "?" }.joined()
    }
}

/// An answer without a verdict, as problem details (RFC 9457).
struct RequestError: Error {
    let code: Int
    let status: GateStatus
    let detail: String

    init(_ code: Int, _ status: GateStatus, _ detail: String) {
        (self.code, self.status, self.detail) = (code, status, detail)
    }

    /// A 400 answer: the caller has to change the request.
    static func invalid(_ detail: String) -> Self { Self(400, .requestInvalid, detail) }

    private var title: String {
        status == .routeUnknown ? "No route names this path" : "The request cannot be understood"
    }

    var answer: HTTPAnswer {
        ProblemDocument(status: code, code: status.rawValue, title: title, detail: detail).answer
    }

    var reply: GateReply { GateReply(answer, status: status.rawValue) }
}

/// The problem details of an answer (RFC 9457), sent as `application/problem+json`.
private struct ProblemDocument {
    let status: Int
    let code: String
    let title: String
    let detail: String
    var number: Int?
    var check: String?
    var advice: String?

    var answer: HTTPAnswer {
        var answer = HTTPAnswer(status, type: "application/problem+json", body: body)
        answer.add("Cache-Control", "no-store")
        return answer
    }

    var body: [UInt8] {
        var json = FlatJSON()
        json.open()
        json.add("advice", advice)
        json.add("check", check)
        json.add("code", code)
        json.add("detail", detail)
        json.add("number", number)
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
        json.open()
        json.add("expires", play?.expires)
        json.add("issueTime", claims.issueTime.description)
        json.add("key", key)
        json.add("mvpd", claims.mvpd.text)
        json.add("proxyMvpd", claims.proxyMVPD?.text)
        json.add("requestor", claims.requestor.text)
        json.add("resource", claims.resource.text)
        json.add("status", VerdictStatus.validToken.rawValue)
        json.add("ttl", claims.timeToLive)
        json.add("url", play?.url)
        json.close()
        return json.bytes
    }
}

extension VerdictStatus {
    /// The HTTP status of a verdict, the same for backends and proxies.
    var httpCode: Int {
        switch self {
        case .validToken: 200
        case .invalidTokenFormat, .invalidSignature, .tokenNotYetValid, .tokenExpired: 401
        case .invalidRequestorID, .invalidResourceID, .invalidMVPDID, .tokenAlreadyUsed, .tokenPredatesStore: 403
        case .errorUnknown: 503
        }
    }
}

/// The form in which the gate answers with a verdict.
package enum AnswerFormat: Sendable {
    /// A body with all details, for a backend.
    case document
    /// Status and headers only, for a proxy.
    case subrequest

    /// The answer to a rejected token.
    package func reject(_ rejection: Rejection) -> GateReply {
        let (status, message) = (rejection.status, rejection.message)
        return deny(
            status, message,
            ProblemDocument(
                status: status.httpCode, code: status.rawValue, title: status.title, detail: message,
                number: status.number, check: rejection.check.rawValue, advice: rejection.advice))
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
        }
    }

    // What all such answers have in common is made once.
    private static let acceptedSubrequest = subrequest.reply(.validToken) { [] }
    private static let acceptedDocument = document.reply(.validToken) { [] }

    /// The answer if the gate could not decide.
    package func undecided(_ reason: String) -> GateReply {
        let status = VerdictStatus.errorUnknown
        return deny(
            status, reason,
            ProblemDocument(
                status: status.httpCode, code: status.rawValue, title: status.title, detail: reason,
                number: status.number))
    }

    private func deny(
        _ status: VerdictStatus, _ detail: String, _ document: @autoclosure () -> ProblemDocument
    ) -> GateReply {
        var reply = reply(status) { document().body }
        if status.httpCode == 401 { reply.answer.addChallenge(error: detail) }
        return reply
    }

    private func reply(_ status: VerdictStatus, _ body: () -> [UInt8]) -> GateReply {
        let answer =
            switch self {
            case .subrequest: HTTPAnswer(status.httpCode, status: status.rawValue)
            case .document:
                HTTPAnswer(
                    status.httpCode, status: status.rawValue,
                    type: status == .validToken ? "application/json" : "application/problem+json", body: body())
            }
        return GateReply(answer, status: status.rawValue)
    }
}

extension VerdictStatus {
    fileprivate var title: String {
        switch self {
        case .validToken: "Valid token"
        case .invalidTokenFormat: "Not a media token"
        case .invalidSignature: "No loaded key verifies the signature"
        case .tokenNotYetValid: "Issued in the future"
        case .tokenExpired: "Expired"
        case .invalidRequestorID: "Signed for another requestor"
        case .invalidResourceID: "Signed for another resource"
        case .invalidMVPDID: "From an MVPD that is not allowed"
        case .tokenAlreadyUsed: "Used before"
        case .tokenPredatesStore: "Issued before the replay store began to remember"
        case .errorUnknown: "No decision possible"
        }
    }
}
