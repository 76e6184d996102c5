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
        requestor = try elements.text("simpleTokenRequestorID").map(RequestorID.init)
        resource = try elements.text("simpleTokenResourceID").map(ResourceID.init)
        mvpd = try elements.text("simpleTokenMsoID").map(MVPDID.init)
        fingerprint = try elements.text("simpleTokenDeviceID", child: "simpleTokenFingerprint")
        let expiryField = elements.kind == .authentication ? "simpleTokenExpires" : "simpleTokenTTL"
        expiry = try elements.text(expiryField).map { (text) throws(FormatProblem) in
            guard let date = TokenDate(text, form: .expiry) else {
                throw .field(expiryField, .date(form: TokenDate.Form.expiry.rawValue))
            }
            return date
        }
    }
}
