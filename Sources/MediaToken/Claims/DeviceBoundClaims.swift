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
        requestor = try elements.fields.filledText("simpleTokenRequestorID").map(RequestorID.init)
        resource = try elements.fields.filledText("simpleTokenResourceID").map(ResourceID.init)
        mvpd = try elements.fields.filledText("simpleTokenMsoID").map(MVPDID.init)
        fingerprint = try elements.fields.filledText("simpleTokenDeviceID", child: "simpleTokenFingerprint")
        let expiryField = elements.kind == .authentication ? "simpleTokenExpires" : "simpleTokenTTL"
        expiry = try elements.fields.filledText(expiryField).map { (text) throws(FormatProblem) in
            guard let date = TokenDate(text, form: .expiry) else {
                throw .field(expiryField, .date(form: TokenDate.Form.expiry.rawValue))
            }
            return date
        }
    }
}

extension FieldElements {
    /// The text of a field; `nil` where it is missing or empty, which makes no difference to a token that opens nothing.
    fileprivate func filledText(_ name: String, child: String? = nil) throws(FormatProblem) -> String? {
        do {
            return try text(name, child: child)
        } catch .field(_, .empty) {
            return nil
        }
    }
}
