internal import Basics
package import HTTP
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
    let row: AnswerCode
    /// The code of a verdict, a ``GateCode``, or `EXPLAINED`.
    package var code: String { row.name }
    /// Why the request is not allowed, or why its grant is not renewed; `nil` if there is nothing to say. The log
    /// shortens the text.
    package var detail: String?
    /// The authentic playback grant of the request; `nil` if it has none.
    var grant: UsedGrant?
    /// The path of the route that the request is for, as it is configured; `nil` if there is none.
    var route: String?
    /// The code by which the request would be refused, if the gate did not only report it.
    var wouldBe: AnswerCode?

    /// Creates an answer, which no cache may keep unless `caching` says otherwise (RFC 9111, section 5.2.2).
    init(
        _ status: Int, _ row: AnswerCode, type: String? = nil, body: [UInt8] = [], detail: String? = nil,
        caching: String = "no-store"
    ) {
        answer = HTTPAnswer(status, type: type, body: body)
        answer.add("X-Media-Token-Code", row.name)
        if let action = row.action { answer.add("X-Media-Token-Action", action.rawValue) }
        if let consumed = row.consumed { answer.add("X-Media-Token-Consumed", consumed.rawValue) }
        answer.add("Cache-Control", caching)
        (self.row, self.detail) = (row, detail)
    }

    /// The answer to a proxy without a verdict. All proxies understand the statuses 200, 401 and 403 in the same way.
    ///
    /// - Parameters:
    ///   - detail: The reason, for the proxy and the log.
    ///   - logged: The reason, if only the log says it.
    static func subrequest(
        _ status: Int, _ code: GateCode, _ detail: String? = nil, logged: String? = nil
    ) -> GateReply {
        var reply = GateReply(status, AnswerCode(code), detail: detail ?? logged)
        if let detail { reply.answer.addDetail(detail) }
        if status == 401 { reply.answer.addChallenge(error: nil) }
        return reply
    }

    /// The answer of `/v1/explain`.
    package init(explaining examination: Examination) {
        let document = examination.document(status: 200).line + "\n"
        self.init(200, .explained, type: "application/json", body: Array(document.utf8))
    }

    /// The answer to a proxy about a request that gets no media, whose token was examined and not consumed. It is
    /// allowed if the token passes every check but its use.
    package init(withoutMedia examination: Examination) {
        if examination.passesAllButUse {
            self.init(200, AnswerCode(.tokenNotConsumed))
        } else {
            let failure = examination.firstFailure
            self = AnswerFormat.denied(
                failure?.code ?? .errorUnknown, failure?.detail ?? "the token could not be examined")
        }
    }
}
