package import Basics

/// The claims of a short media token. Only the claims of a verified token are proven.
public struct MediaTokenClaims: Sendable {
    /// The viewer's identifier, anonymised by the MVPD. It is personal data.
    public let sessionGUID: SessionGUID
    /// The programmer that the token was issued to.
    public let requestor: RequestorID
    /// The resource that the token opens. The client chose it, so it can be hostile although it is signed.
    public let resource: ResourceID
    /// The signed TTL, before any policy limits it; `nil` if the token has no `ttl`, or an
    /// empty one.
    public var timeToLive: Duration? { ttlMilliseconds.map { .milliseconds($0) } }
    /// The signed TTL in milliseconds, as the token has it; `nil` if the token has no `ttl`.
    package let ttlMilliseconds: Int64?
    /// The time when Adobe Pass issued the token, to the second.
    public let issueTime: TokenDate
    /// The viewer's TV provider.
    public let mvpd: MVPDID
    /// The proxy MVPD in front of the viewer's TV provider; `nil` if there is none, or if its element
    /// is empty. No real token with one has been seen.
    public let proxyMVPD: MVPDID?
    /// The elements that the format does not define. They are kept for display only and do not affect the verdict.
    public let extraFields: [TokenField]

    /// The time until which a replay store remembers the token. It depends on the signed bytes only, never on settings.
    ///
    /// A token without a `ttl` is remembered for the longest TTL that any policy may give it.
    package let replayExpiry: Timestamp

    /// The longest TTL that a policy may give a token without a `ttl`.
    package static let longestDefaultTTLMilliseconds: Int64 = 86_400_000

    package init(_ elements: TokenElements) throws(ClaimsError) {
        guard elements.kind == .media else { throw .otherKind(elements.kind) }
        let fields = elements.fields
        let occurrences = MediaTokenFieldOccurrences(in: fields)
        // A reader that ignores case would use this field, for example as a proxy MVPD that our allow-list never
        // checked.
        if let name = occurrences.inOtherCase { throw .otherCase(field: "\(name)") }
        sessionGUID = SessionGUID(try fields.required(.sessionGUID, occurrences))
        requestor = RequestorID(try fields.required(.requestorID, occurrences))
        resource = ResourceID(try fields.required(.resourceID, occurrences))
        ttlMilliseconds = try fields.timeToLive(occurrences)
        issueTime = try fields.requiredDate(.issueTime, occurrences, form: .issueTime)
        mvpd = MVPDID(try fields.required(.mvpdID, occurrences))
        proxyMVPD = try fields.optional(.proxyMVPDID, occurrences).map { MVPDID($0) }
        extraFields = occurrences.hasOthers ? fields.fields(except: MediaTokenField.names) : []
        replayExpiry = issueTime.timestamp.advanced(
            byMilliseconds: ttlMilliseconds ?? Self.longestDefaultTTLMilliseconds)
        guard replayExpiry < Timestamp.endOfDates else {
            throw .overflowingExpiry
        }
    }
}
