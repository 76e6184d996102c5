/// What an AuthN or AuthZ token says. It never opens a stream; it is read to be looked at.
struct DeviceBoundClaims: Sendable {
    let requestor: RequestorID?
    /// AuthZ only.
    let resource: ResourceID?
    let mvpd: MVPDID?
    let expiry: TokenDate?
    /// The device that the token is bound to.
    let fingerprint: String?

    init(_ elements: TokenElements) throws(FormatProblem) {
        requestor = try elements.fields.filledText("simpleTokenRequestorID").map { RequestorID($0) }
        resource = try elements.fields.filledText("simpleTokenResourceID").map { ResourceID($0) }
        mvpd = try elements.fields.filledText("simpleTokenMsoID").map { MVPDID($0) }
        fingerprint = try elements.fields.filledText("simpleTokenDeviceID", child: "simpleTokenFingerprint")
        let expiryField: StaticString = elements.kind == .authentication ? "simpleTokenExpires" : "simpleTokenTTL"
        expiry = try elements.fields.filledText(expiryField).map { (text) throws(FormatProblem) in
            guard let date = TokenDate(text, form: .expiry) else {
                throw .field("\(expiryField)", .date(form: TokenDate.Form.expiry.rawValue))
            }
            return date
        }
    }
}

extension FieldElements {
    /// The text of a field; `nil` where it is missing or empty, which makes no difference to a token that opens nothing.
    fileprivate func filledText(_ name: StaticString, child: StaticString? = nil) throws(FormatProblem) -> String? {
        do {
            return try text(name, child: child)
        } catch .field(_, .empty) {
            return nil
        }
    }
}
