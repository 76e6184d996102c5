internal import HTTPServer
package import MediaToken
internal import TextEncodings
internal import Timestamps

/// Names and values of the gate's own headers.
enum GateHeader {
    static let status = "X-Media-Token-Status"
    static let detail = "X-Media-Token-Detail"
    static let noStore = (name: "Cache-Control", value: "no-store")

    /// The challenge of a 401 (RFC 6750, 3).
    ///
    /// - Parameter error: what is wrong with the token; `nil` if there was none.
    static func challenge(error: String?) -> (name: String, value: String) {
        let reason = error.map {
            ", error=\"invalid_token\", error_description=\"\(value($0).filter { !"\"\\".contains($0) })\""
        }
        return ("WWW-Authenticate", "Bearer realm=\"media-token\"" + (reason ?? ""))
    }

    /// The signed claims, for a proxy to pass on.
    static func claims(of token: VerifiedToken) -> [(name: String, value: String)] {
        [
            ("X-Media-Token-Requestor", value(token.claims.requestor.text)),
            ("X-Media-Token-Resource", value(token.claims.resource.text)),
            ("X-Media-Token-Mvpd", value(token.claims.mvpd.text)), ("X-Media-Token-Key", value(token.key)),
        ]
    }

    /// `text` as printable ASCII of at most a kilobyte. Text that the client chose must not become a header of its own.
    static func value(_ text: String) -> String {
        let shown = printable(text, limit: 1024)
        return shown.utf8.allSatisfy { $0 < 0x80 }
            ? shown : shown.unicodeScalars.map { $0.isASCII ? String($0) : "?" }.joined()
    }
}

/// An answer that is not a verdict, as problem details (RFC 9457).
struct GateProblem: Error {
    let code: Int
    let status: GateStatus
    let detail: String

    init(_ code: Int, _ status: GateStatus, _ detail: String) {
        (self.code, self.status, self.detail) = (code, status, detail)
    }

    /// A request that the caller has to change.
    static func invalid(_ detail: String) -> Self { Self(400, .requestInvalid, detail) }

    var answer: HTTPAnswer {
        ProblemDocument(status: code, code: status.rawValue, title: HTTPTitle.of(status), detail: detail).answer
    }

    var reply: GateReply { GateReply(answer, status: status.rawValue) }
}

private enum HTTPTitle {
    static func of(_ status: GateStatus) -> String {
        switch status {
        case .tokenNotRequired: "No token is required"
        case .grantValid: "The grant opens it"
        case .grantRefused: "The grant does not open it"
        case .tokenMissing: "No token was given"
        case .tokenAmbiguous: "Several tokens were given"
        case .routeUnknown: "No route names this path"
        case .requestInvalid: "The request cannot be understood"
        }
    }
}

/// `application/problem+json`.
private struct ProblemDocument {
    let status: Int
    let code: String
    let title: String
    let detail: String
    var number: Int?
    var check: String?
    var advice: String?

    var answer: HTTPAnswer {
        HTTPAnswer(
            status, headers: [("Content-Type", "application/problem+json"), GateHeader.noStore], body: body)
    }

    var body: [UInt8] {
        var json = FlatJSON()
        json.add("advice", advice)
        json.add("check", check)
        json.add("code", code)
        json.add("detail", detail)
        json.add("number", number)
        json.add("status", status)
        json.add("title", title)
        return json.line
    }
}

extension VerifiedToken {
    /// The signed claims as JSON. The session GUID is left out: it is personal data, and nobody needs it to play.
    ///
    /// - Parameter play: what the token was exchanged for.
    fileprivate func document(_ play: Play? = nil) -> [UInt8] {
        var json = FlatJSON()
        json.add("expires", play?.expires)
        json.add("issueTime", "\(claims.issueTime)")
        json.add("key", key)
        json.add("mvpd", claims.mvpd.text)
        json.add("proxyMvpd", claims.proxyMVPD?.text)
        json.add("requestor", claims.requestor.text)
        json.add("resource", claims.resource.text)
        json.add("status", VerdictStatus.validToken.rawValue)
        json.add("ttl", claims.timeToLive)
        json.add("url", play?.url)
        return json.line
    }
}

extension VerdictStatus {
    /// The HTTP status, which is the same in an answer to a backend and to a proxy.
    var httpCode: Int {
        switch self {
        case .validToken: 200
        case .invalidTokenFormat, .invalidSignature, .tokenNotYetValid, .tokenExpired: 401
        case .invalidRequestorID, .invalidResourceID, .invalidMVPDID, .tokenAlreadyUsed, .tokenPredatesStore: 403
        case .errorUnknown: 503
        }
    }
}

/// How a verdict is answered.
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
    /// - Parameter play: what the token was exchanged for.
    package func accept(_ token: VerifiedToken, _ play: Play? = nil) -> GateReply {
        switch self {
        case .subrequest: return reply(.validToken, headers: GateHeader.claims(of: token)) { [] }
        case .document:
            let cookies = play?.cookies.map { (name: "Set-Cookie", value: $0) } ?? []
            return reply(.validToken, headers: cookies) { token.document(play) }
        }
    }

    /// The answer when the gate could not decide.
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
        let challenge = status.httpCode == 401 ? [GateHeader.challenge(error: detail)] : []
        return reply(status, headers: challenge) { document().body }
    }

    private func reply(
        _ status: VerdictStatus, headers more: [(name: String, value: String)], _ body: () -> [UInt8]
    ) -> GateReply {
        var headers = [(GateHeader.status, status.rawValue), GateHeader.noStore] + more
        switch self {
        case .subrequest: return GateReply(HTTPAnswer(status.httpCode, headers: headers), status: status.rawValue)
        case .document:
            headers.append(("Content-Type", status == .validToken ? "application/json" : "application/problem+json"))
            return GateReply(
                HTTPAnswer(status.httpCode, headers: headers, body: body()), status: status.rawValue)
        }
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
