internal import Basics
internal import HTTP
internal import MediaToken
internal import PlaybackGrants

/// The answers of an endpoint that speaks a dialect.
package final class DialectAnswers: Sendable {
    /// One of the answers.
    package struct Answer: Sendable {
        let status: Int
        package let template: AnswerTemplate

        package init(_ status: Int, _ template: AnswerTemplate) { (self.status, self.template) = (status, template) }

        /// Whether an app could take one answer for the other, since they differ in their values at most.
        func looksLike(_ other: Answer) -> Bool {
            status == other.status && template.skeleton.hasSameBytes(as: other.template.skeleton)
        }

        fileprivate func reply(_ code: AnswerCode, _ values: AnswerTemplate.Values) -> GateReply {
            let values = values.merging([.code: code.name]) { $1 }
            var reply = GateReply(
                status, code, type: template.type, body: template.body(values), detail: values[.detail])
            // A browser must not guess another type for a text that a client may have chosen.
            reply.answer.add("X-Content-Type-Options", "nosniff")
            return reply
        }
    }

    /// The answer to a token that is accepted.
    package let accepted: Answer
    /// The values that ``accepted`` can have.
    package static let valuesOfAcceptance: Set<AnswerTemplate.Placeholder> = [.token, .url, .expires, .code]
    /// The values that ``rejected`` and ``undecided`` can have.
    package static let valuesOfDenial: Set<AnswerTemplate.Placeholder> = [.code, .detail]
    /// The answer to a token that is rejected, and to a request that the endpoint does not understand.
    package let rejected: Answer
    /// The answer if there is no decision.
    package let undecided: Answer

    package init(accepted: Answer, rejected: Answer, undecided: Answer) {
        (self.accepted, self.rejected, self.undecided) = (accepted, rejected, undecided)
    }

    /// Why the answer to an accepted token cannot be filled from the grant of its route; `nil` if it can.
    ///
    /// - Parameters:
    ///   - grant: The grant of the route; `nil` if it has none.
    ///   - namesStream: Whether the request names the URL of one stream.
    func misfit(_ grant: RouteGrant?, namesStream: Bool) -> String? {
        let wanted = accepted.template.placeholders.intersection([.token, .url])
        guard let name = wanted.map(\.rawValue).min() else { return nil }
        guard let grant else { return "has {\(name)}, and the route has no grant; expected one" }
        if wanted.contains(.token), !grant.settings.maker.kind.hasOneField {
            return "has {token}, and a grant of the route has several fields; expected {url}"
        }
        return wanted.contains(.url) && !namesStream ? "has {url}, and no stream is named; expected {token}" : nil
    }

    func accept(_ token: VerifiedToken, _ play: Play?) -> GateReply {
        fill(AnswerCode(.validToken), play, url: nil, expires: token.expires)
    }

    /// The accepted answer with these values. The values of a grant take precedence.
    private func fill(_ code: AnswerCode, _ play: Play?, url: String?, expires: Timestamp) -> GateReply {
        var values: AnswerTemplate.Values = [.expires: String(play?.expires ?? expires.wholeSeconds)]
        (values[.token], values[.url]) = (play?.token, play?.url ?? url)
        var reply = accepted.reply(code, values)
        if let play { reply.answer.fields.add(play.cookies) }
        return reply
    }

    /// The accepted answer to a token that is refused and only reported; `nil` if its body needs a grant, and there is
    /// none.
    ///
    /// - Parameters:
    ///   - url: The URL of the stream; `nil` if the request names none.
    ///   - play: The grant that was made although the token is refused; `nil` if none was.
    func report(_ code: AnswerCode, url: String?, _ play: Play?, at now: Timestamp) -> GateReply? {
        let wanted = accepted.template.placeholders
        guard play != nil || !wanted.contains(.token) && (url != nil || !wanted.contains(.url)) else { return nil }
        // A token without a TTL lives as long.
        return fill(code, play, url: url, expires: now.advanced(by: VerificationPolicy().defaultTTL))
    }

    /// The answer without acceptance: ``undecided`` for `ERROR_UNKNOWN`, otherwise ``rejected``.
    func deny(_ code: VerdictCode, _ detail: String) -> GateReply {
        (code == .errorUnknown ? undecided : rejected).reply(AnswerCode(code), [.detail: detail])
    }

    /// The answer to a request that the endpoint does not understand.
    func refuse(_ error: RequestError) -> GateReply {
        rejected.reply(AnswerCode(error.code), [.detail: error.detail])
    }
}
