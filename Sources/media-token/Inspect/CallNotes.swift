internal import Basics
internal import Captures
internal import MediaToken
internal import PlaybackGrants

extension CaptureHistory.Note {
    /// What is to be seen in a call alone, whatever came before it.
    static func notes(on call: CapturedCall, at time: Timestamp?, _ findings: [ExaminedFinding]) -> [Self] {
        let sent = findings.filter { $0.finding.isSent == true }
        let damaged = call.isService ? [] : sent.compactMap(\.damageInWords).map { Self(kind: .damaged, detail: $0) }
        return damaged + wrongKind(of: sent, in: call) + expiredGrants(in: sent, at: time) + outcome(of: call, findings)
    }

    /// Says that a backend was sent a token for Adobe Pass in place of a media token.
    private static func wrongKind(of sent: [ExaminedFinding], in call: CapturedCall) -> [Self] {
        let kinds = sent.compactMap { $0.examination?.kind }
        guard !call.isService, !kinds.contains(.media), let kind = kinds.first else { return [] }
        let detail = "this is \(kind.title); a backend takes a short media token: \(Rejection.mediaTokenAdvice)"
        return [Self(kind: .wrongKind, detail: detail)]
    }

    private static func expiredGrants(in sent: [ExaminedFinding], at time: Timestamp?) -> [Self] {
        sent.compactMap { finding in
            guard case .grant(let grant, _) = finding.result, let time, let expires = grant.expires, expires < time
            else {
                return nil
            }
            return Self(
                kind: .grantExpired, detail: "the \(grant.title) expired \(Span(between: expires, and: time)) before")
        }
    }

    /// Says what became of a call that failed, unless its answer has an error that does.
    private static func outcome(of call: CapturedCall, _ findings: [ExaminedFinding]) -> [Self] {
        guard call.isAnswered else {
            let reason = call.failure.map { printable($0, limit: 100) }
            return [Self(kind: .unanswered, detail: reason ?? "the call was blocked or ended early")]
        }
        guard let status = call.status, status >= 400 else { return [] }
        if status == 429 {
            let time = call.retryAfter.flatMap { text in
                Int(text).map { "\($0) s" } ?? Timestamp(reading: text).map { _ in text }
            }
            return [
                Self(
                    kind: .throttled, detail: "try again \(time.map { "after \(printable($0, limit: 40))" } ?? "later")"
                )
            ]
        }
        let isExplained = findings.contains { if case .error = $0.result { true } else { false } }
        return isExplained ? [] : [Self(kind: .failed, detail: "answered \(status)")]
    }
}
