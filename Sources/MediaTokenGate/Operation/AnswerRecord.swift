internal import MediaToken
internal import Timestamps

/// What log and metrics record of an answer. No token, session GUID or content of a header is ever written, except the
/// request's own ID.
struct AnswerRecord: Sendable {
    var code = ""
    /// The number of the verdict; `nil` if there is none.
    var number: Int?
    /// The requestor of the token, or the one that the request named; empty if there was neither.
    var requestor = ""
    /// The token that was accepted, if any was.
    var accepted: VerifiedToken?
    /// Whether the request was left undecided because the replay store failed.
    var isStoreError = false
    /// Whether the client still waited for the answer.
    var isSent = true
    /// The request's own ID.
    var request: String?
    var peer = ""

    /// Whether the metrics count both answers under the same labels.
    func countsLike(_ other: AnswerRecord) -> Bool {
        code == other.code && requestor == other.requestor && isStoreError == other.isStoreError
    }
}

/// The answers of one group, handed to the server.
struct AnswerRecords: Sendable {
    /// When the last of them was handed to the server.
    let time: Timestamp
    /// Microseconds from the event-loop iteration that brought the requests to ``time``; `nil` for a request that the
    /// server refused, which takes no time that means anything.
    let microseconds: Int?
    let records: [AnswerRecord]
}
