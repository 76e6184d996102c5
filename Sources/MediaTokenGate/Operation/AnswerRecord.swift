internal import MediaToken
internal import Timestamps

/// What log and metrics record of an answer. No token, session GUID or content of a header is ever written, except the
/// request's own ID.
struct AnswerRecord: Sendable {
    var status = ""
    /// The requestor of the token, or the one that the request named; empty if there was neither.
    var requestor = ""
    /// The token that was accepted, if any was.
    var accepted: VerifiedToken?
    /// Whether the request was left undecided because the replay store failed.
    var isStoreError = false
    /// The request's own ID.
    var request: String?
    var peer = ""

    /// Whether the metrics count both answers under the same labels.
    func countsLike(_ other: AnswerRecord) -> Bool {
        status == other.status && requestor == other.requestor && isStoreError == other.isStoreError
    }
}

/// The answers of a group, all of which were sent.
struct AnswerRecords: Sendable {
    /// When the last of them was sent.
    let time: Timestamp
    /// Microseconds from the event-loop iteration that brought the requests to ``time``.
    let microseconds: Int
    let records: [AnswerRecord]
}
