internal import Basics
internal import MediaToken

/// What log and metrics record of an answer. No token is written. What a client sent is written only as far as
/// ``LogReason``, ``RequestID`` and ``TrustedProxies`` let it through; a client chooses its own request ID, of at most
/// 64 characters.
struct AnswerRecord: Sendable {
    var code = AnswerCode("")
    /// The code by which the request would be refused, if the gate did not only report it.
    var wouldBe: AnswerCode?
    /// Whether the log has a line for the answer. If not, the members that only the log has may be unset.
    var isLogged = false
    /// The requestor of the token, or the one that the request named; empty if there was neither.
    var requestor = ""
    /// The token that was accepted, if any was.
    var accepted: VerifiedToken?
    /// The claims of a token whose signature was verified, whatever became of it.
    var claims: MediaTokenClaims?
    /// The name of the app, by its own `User-Agent`; `nil` if the request has none.
    var app: String?
    /// Whether the request was left undecided because the replay store failed.
    var isStoreError = false
    /// Whether the client still waited for the answer.
    var isSent = true
    /// The ID that joins the request to the log lines of other programs.
    var requestID: String?
    var peer = ""
    /// The address of the client behind trusted proxies.
    var client: String?
    /// The part of the gate that was asked; `nil` if the gate has nothing at the request's path, or the server refused
    /// it.
    var place: GateDestination?
    /// The path of the route, as it is configured.
    var route: String?
    /// Why the request is not allowed, or why its grant is not renewed. What others sent may be in it, so the log
    /// shortens it.
    var detail: String?
    /// The short ID of the token; `nil` if no token could be split into a signature and signed bytes.
    var token: TokenID?
    /// A pseudonym of the viewer, from whom the token is; `nil` if it is not authentic, or none are given.
    var viewer: UInt64?
    /// The playback grant that the request had in the token's place.
    var grant: UsedGrant?

    /// Whether the metrics count both answers under the same labels.
    func countsLike(_ other: AnswerRecord) -> Bool {
        code.name == other.code.name && wouldBe?.name == other.wouldBe?.name && requestor == other.requestor
            && isStoreError == other.isStoreError
            && place == other.place && grant?.keyID == other.grant?.keyID
    }
}

extension AnswerRecord {
    /// The most bytes of an app's name: fewer than a session GUID has.
    private static let longestApp = 20

    /// The name and version with which a `User-Agent` begins (RFC 9110, 10.1.5); `nil` if it begins with something
    /// else. The name is cut, since a client may send any text.
    static func app(_ userAgent: ArraySlice<UInt8>?) -> String? {
        let product: ArraySlice<UInt8> =
            userAgent?.prefix { $0.isTokenCharacter || $0 == UInt8(ascii: "/") } ?? []
        let name = String(decoding: product.prefix(longestApp), as: UTF8.self)
        return product.isEmpty ? nil : product.count > longestApp ? name + "…" : name
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
