internal import Timestamps

/// What a short media token says. That it is true is for ``VerifiedToken`` to say.
public struct MediaTokenClaims: Sendable {
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
        let fields = elements.fields
        let places = MediaTokenFieldPlaces(in: fields)
        // A reader that ignores case would see this field, for example a proxy that our MVPD allow-list never checked.
        if let name = places.inOtherCase { throw .field("\(name)", .otherCase) }
        sessionGUID = SessionGUID(try fields.required(.sessionGUID, places))
        requestor = RequestorID(try fields.required(.requestorID, places))
        resource = ResourceID(try fields.required(.resourceID, places))
        timeToLive = try Self.timeToLive(try fields.optional(.ttl, places))
        issueTime = try fields.requiredDate(.issueTime, places, form: .issueTime)
        mvpd = MVPDID(try fields.required(.mvpdID, places))
        proxyMVPD = try fields.optional(.proxyMVPDID, places).map { MVPDID($0) }
        extraFields = places.hasOthers ? fields.fields(except: MediaTokenField.names) : []
        replayExpiry = issueTime.timestamp.advanced(
            byMilliseconds: timeToLive ?? VerificationPolicy.longestDefaultTTLMilliseconds)
        guard replayExpiry < Timestamp.endOfDates else {
            throw .field("\(MediaTokenField.ttl.name)", .overflowingExpiry)
        }
    }

    /// Digits only: no sign, no exponent, no white space, no leading zero.
    private static func timeToLive(_ text: String?) throws(FormatProblem) -> Int64? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.first != UInt8(ascii: "0"),
            let milliseconds = Int64(text)
        else { throw .field("\(MediaTokenField.ttl.name)", .timeToLive) }
        return milliseconds
    }
}
