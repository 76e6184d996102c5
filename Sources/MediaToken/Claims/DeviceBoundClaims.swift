internal import TokenXML

/// The claims of an AuthN or AuthZ token. Such a token never opens a stream; its claims are for display.
package struct DeviceBoundClaims: Sendable {
    package let requestor: RequestorID?
    /// The resource, which only AuthZ tokens have.
    package let resource: ResourceID?
    package let mvpd: MVPDID?
    package let expiry: TokenDate?
    /// The device that the token is bound to.
    package let fingerprint: String?

    package init(_ elements: TokenElements) throws(ClaimsError) {
        requestor = try elements.fields.filledText("simpleTokenRequestorID").map { RequestorID($0) }
        resource = try elements.fields.filledText("simpleTokenResourceID").map { ResourceID($0) }
        mvpd = try elements.fields.filledText("simpleTokenMsoID").map { MVPDID($0) }
        fingerprint = try elements.fields.filledText("simpleTokenDeviceID", child: "simpleTokenFingerprint")
        let expiryField: StaticString = elements.kind == .authentication ? "simpleTokenExpires" : "simpleTokenTTL"
        expiry = try elements.fields.filledText(expiryField).map { (text) throws(ClaimsError) in
            guard let date = TokenDate(text, form: .expiry) else {
                throw .date(field: "\(expiryField)", text: text, form: TokenDate.Form.expiry.rawValue)
            }
            return date
        }
    }
}

extension FieldElements {
    /// The text of a field; `nil` if it is missing or empty, which makes no difference since the token opens nothing.
    fileprivate func filledText(_ name: StaticString, child: StaticString? = nil) throws(ClaimsError) -> String? {
        do {
            return try text(name, child: child)
        } catch {
            guard error.reason == .empty else { throw .field(error) }
            return nil
        }
    }
}
