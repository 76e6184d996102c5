internal import HTTPServer
package import MediaToken
internal import TextEncodings
package import Timestamps

/// Names and values of our own headers.
enum GateHeader {
    static let status = "X-Media-Token-Status"
    static let detail = "X-Media-Token-Detail"
    static let noStore = (name: "Cache-Control", value: "no-store")

    /// RFC 6750, 3: without an error where no token came at all.
    static func challenge(error: String?) -> (name: String, value: String) {
        let reason = error.map {
            ", error=\"invalid_token\", error_description=\"\(value($0).filter { !"\"\\".contains($0) })\""
        }
        return ("WWW-Authenticate", "Bearer realm=\"media-token\"" + (reason ?? ""))
    }

    /// What the signed claims say, for a proxy to hand on.
    static func claims(of token: VerifiedToken) -> [(name: String, value: String)] {
        [
            ("X-Media-Token-Requestor", value(token.claims.requestor.text)),
            ("X-Media-Token-Resource", value(token.claims.resource.text)),
            ("X-Media-Token-Mvpd", value(token.claims.mvpd.text)), ("X-Media-Token-Key", value(token.key)),
        ]
    }

    /// Printable ASCII, at most a kilobyte. What the client chose may be anything, and must not become a header of its own.
    static func value(_ text: String) -> String {
        let shown = printable(text, limit: 1024)
        return shown.utf8.allSatisfy { $0 < 0x80 }
            ? shown : shown.unicodeScalars.map { $0.isASCII ? String($0) : "?" }.joined()
    }
}

/// An answer that is not a verdict, as RFC 9457 has it.
struct GateProblem: Error {
    let code: Int
    let status: GateStatus
    let detail: String

    init(_ code: Int, _ status: GateStatus, _ detail: String) {
        (self.code, self.status, self.detail) = (code, status, detail)
    }

    /// The caller's mistake.
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
    /// A yes, with what was signed. The session GUID is left out: nobody needs it to play, and it is personal data.
    ///
    /// - Parameter play: what it was exchanged for.
    fileprivate func document(_ play: GrantOrder.Play? = nil) -> [UInt8] {
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

extension GateForm {
    /// The answer to a verdict, or to there being none.
    package func reply(to outcome: Result<Verdict, VerificationError>, at now: Timestamp) -> GateReply {
        switch outcome {
        case .success(.accepted(let token)): return accept(token, at: now)
        case .success(.rejected(let rejection)):
            let (status, message) = (rejection.status, rejection.message)
            return refuse(
                status, message,
                ProblemDocument(
                    status: status.httpCode, code: status.rawValue, title: status.title, detail: message,
                    number: status.number, check: rejection.check.rawValue, advice: rejection.advice))
        case .failure(let error): return cannotTell("\(error)")
        }
    }

    private func accept(_ token: VerifiedToken, at now: Timestamp) -> GateReply {
        var headers = common(.validToken)
        switch self {
        case .subrequest: return reply(.validToken, headers + GateHeader.claims(of: token)) { [] }
        case .document: return reply(.validToken, headers) { token.document() }
        case .play(let order):
            do {
                let play = try order.fulfil(for: token, at: now)
                for cookie in play.cookies { headers.append(("Set-Cookie", cookie)) }
                return reply(.validToken, headers) { token.document(play) }
            } catch {
                return cannotTell("the token is used up, and its grant cannot be made: \(error)")
            }
        }
    }

    private func cannotTell(_ why: String) -> GateReply {
        let status = VerdictStatus.errorUnknown
        return refuse(
            status, why,
            ProblemDocument(
                status: status.httpCode, code: status.rawValue, title: status.title, detail: why, number: status.number)
        )
    }

    private func refuse(
        _ status: VerdictStatus, _ detail: String, _ document: @autoclosure () -> ProblemDocument
    ) -> GateReply {
        var headers = common(status)
        if status.httpCode == 401 { headers.append(GateHeader.challenge(error: detail)) }
        return reply(status, headers) { document().body }
    }

    private func common(_ status: VerdictStatus) -> [(name: String, value: String)] {
        [(GateHeader.status, status.rawValue), GateHeader.noStore]
    }

    private func reply(
        _ status: VerdictStatus, _ headers: [(name: String, value: String)], _ body: () -> [UInt8]
    ) -> GateReply {
        switch self {
        case .subrequest: return GateReply(HTTPAnswer(status.httpCode, headers: headers), status: status.rawValue)
        case .document, .play:
            let type = status == .validToken ? "application/json" : "application/problem+json"
            return GateReply(
                HTTPAnswer(status.httpCode, headers: headers + [("Content-Type", type)], body: body()),
                status: status.rawValue)
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
        case .errorUnknown: "It could not be told"
        }
    }
}
