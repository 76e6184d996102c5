/// What a short media token says. That it is true is for ``VerifiedToken`` to say.
public struct MediaTokenClaims: Sendable {
    /// The fields that are read; each may be there once at the most.
    enum Field: String, CaseIterable {
        case sessionGUID, requestorID, resourceID, ttl, issueTime, mvpdId, proxyMvpdId
    }

    /// The viewer, anonymised by the MVPD. Personal data.
    public let sessionGUID: SessionGUID
    /// The programmer that the token was issued to.
    public let requestor: RequestorID
    /// What it opens. Chosen by the client, so hostile although it is signed.
    public let resource: ResourceID
    /// Life in milliseconds as signed, before any policy cuts it; `nil` where the token has no `ttl`.
    public let timeToLive: Int64?
    /// When Adobe Pass issued it; resolution one second.
    public let issueTime: TokenDate
    /// The viewer's TV provider.
    public let mvpd: MVPDID
    /// The proxy that stands in front of it. No real token was seen to carry one.
    public let proxyMVPD: MVPDID?
    /// Elements that the format does not know. Kept to be shown; they decide nothing.
    public let extraFields: [TokenField]

    /// Until when a replay store remembers the token: a function of the signed bytes alone, never of today's settings.
    ///
    /// A token without a `ttl` is remembered for as long as any policy may let it live.
    let replayExpiry: Timestamp

    init(_ elements: TokenElements) throws(FormatProblem) {
        guard elements.kind == .media else { throw .otherKind(elements.kind) }
        sessionGUID = SessionGUID(try elements.required(.sessionGUID))
        requestor = RequestorID(try elements.required(.requestorID))
        resource = ResourceID(try elements.required(.resourceID))
        timeToLive = try Self.timeToLive(try elements.optional(.ttl))
        issueTime = try Self.issueTime(try elements.required(.issueTime))
        mvpd = MVPDID(try elements.required(.mvpdId))
        proxyMVPD = try elements.optional(.proxyMvpdId).map(MVPDID.init)
        extraFields = elements.fields.fields { Field(rawValue: $0) == nil }
        replayExpiry = issueTime.timestamp.advanced(
            byMilliseconds: timeToLive ?? VerificationPolicy.longestDefaultTTLMilliseconds)
        guard replayExpiry < Timestamp.endOfDates else { throw .field(Field.ttl.rawValue, .overflowingExpiry) }
    }

    /// Digits only: no sign, no exponent, no white space, no leading zero.
    private static func timeToLive(_ text: String?) throws(FormatProblem) -> Int64? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.first != UInt8(ascii: "0"),
            let milliseconds = Int64(text)
        else { throw .field(Field.ttl.rawValue, .timeToLive) }
        return milliseconds
    }

    private static func issueTime(_ text: String) throws(FormatProblem) -> TokenDate {
        guard let date = TokenDate(text) else {
            throw .field(Field.issueTime.rawValue, .date(form: TokenDate.Form.issueTime.rawValue))
        }
        return date
    }
}

extension TokenElements {
    fileprivate func required(_ field: MediaTokenClaims.Field) throws(FormatProblem) -> String {
        try fields.requiredText(field.rawValue)
    }

    fileprivate func optional(_ field: MediaTokenClaims.Field) throws(FormatProblem) -> String? {
        try fields.text(field.rawValue)
    }
}
