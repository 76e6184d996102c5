internal import Basics
internal import HTTP
internal import MediaToken

/// What a gate only reports on. It decides there as in earnest, and then allows what it would refuse.
package struct ReportOnly: Sendable {
    /// Whether the gate only reports whatever a request is for.
    let isForAll: Bool
    /// The paths of the routes that only report.
    let routes: [String]
    /// Whether playback grants are made for tokens that would be refused.
    let makesGrants: Bool

    /// What the metrics call it.
    var label: String { isForAll ? "all" : routes.isEmpty ? "none" : "routes" }

    /// What the operator is told, a line for each part of the gate that protects nothing; empty if the gate decides in
    /// earnest.
    package var warnings: [String] {
        let places = isForAll ? ["no request"] : routes.map { "no request below \(printable($0))" }
        return places.map {
            "report-only: the gate refuses \($0); it logs the code of the refusal as would_be, and allows the request"
                + (makesGrants ? " with a playback grant" : "")
                + "; to decide in earnest, remove report-only and reload"
        }
    }
}

/// The answers of a gate, or of a route, that only reports what it would refuse. The gate decides and consumes tokens
/// as in earnest, and then allows the request.
extension AnswerFormat {
    /// The answer that allows a refused request, and names the code by which it would be refused. An answer that allows
    /// a request is returned unchanged, and so is a dialect's if its accepted body needs a grant.
    ///
    /// - Parameters:
    ///   - refusal: The answer in earnest.
    ///   - url: The URL of the stream; `nil` if the request names none.
    ///   - play: The grant that was made although the token is refused; `nil` if none was.
    ///   - now: The time of the answer.
    func report(
        _ refusal: GateReply, url: String? = nil, _ play: Play? = nil, at now: Timestamp = .now
    ) -> GateReply {
        guard !refusal.isAllowed else { return refusal }
        let code = refusal.row.reportedOnly
        var reply: GateReply
        switch self {
        case .subrequest: reply = GateReply(200, code, detail: refusal.detail)
        case .document:
            let body = refusal.reportDocument(code, url: play?.url ?? url, expires: play?.expires)
            reply = GateReply(200, code, type: "application/json", body: body, detail: refusal.detail)
            if let play { reply.answer.fields.add(play.cookies) }
        case .dialect(let answers):
            guard let answer = answers.report(code, url: url, play, at: now) else { return refusal }
            reply = answer
            reply.detail = refusal.detail
        }
        reply.answer.add("X-Media-Token-Would-Be", refusal.code)
        (reply.wouldBe, reply.grant, reply.route) = (refusal.row, refusal.grant, refusal.route)
        return reply
    }
}

extension GateReply {
    /// Whether the answer allows the request. A dialect may refuse one with any status, so the code says it.
    var isAllowed: Bool { row.action == nil }

    /// The body of the answer that allows what this one refuses. It has no claims, since the token is not accepted.
    fileprivate func reportDocument(_ code: AnswerCode, url: String?, expires: Int64?) -> [UInt8] {
        var json = FlatJSON()
        json.open()
        json.add("code", code.name)
        json.add("consumed", code.consumed?.rawValue)
        json.add("detail", detail)
        json.add("expires", expires)
        json.add("reportOnly", true)
        json.add("status", 200)
        json.add("url", url)
        json.add("would_be", self.code)
        json.close()
        return json.bytes
    }
}
