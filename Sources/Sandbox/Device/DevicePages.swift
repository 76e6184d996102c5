internal import Basics
internal import MediaToken

/// The pages of Adobe Pass that an app shows in a web view.
extension Device {
    /// The page that leads to the login of an MVPD.
    func loginPage(_ requestor: RequestorID, _ mvpd: MVPDID) -> String { page("authenticate/saml", requestor, mvpd) }

    /// The page that ends the session, at the MVPD too if one is known.
    func logoutPage(_ requestor: RequestorID, _ mvpd: MVPDID?) -> String { page("logout", requestor, mvpd) }

    /// Whether a page is shown, or a second screen shows one.
    var showsPage: Bool {
        switch login {
        case .visiting, .secondScreen, .leaving: true
        case .choosing, .system, .systemExchange, nil: false
        }
    }

    /// Whether `url` is the app's own, alone or with a path, a query or a fragment.
    func isRedirect(_ url: String) -> Bool {
        guard url.utf8.starts(with: redirectURL.utf8) else { return false }
        return url.utf8.dropFirst(redirectURL.utf8.count).first.map("/?#".utf8.contains) ?? true
    }

    private func page(_ name: String, _ requestor: RequestorID, _ mvpd: MVPDID?) -> String {
        let fields = [
            ("requestor_id", requestor.text), ("mso_id", mvpd?.text), ("device_id", id), ("redirect_url", redirectURL),
        ]
        return "\(service)/adobe-services/\(name)?" + FormFields.encode(fields)
    }
}

extension StringProtocol {
    /// The text without anything but visible ASCII, for the head of a request.
    var visible: String { String(decoding: utf8.filter { (0x21...0x7E).contains($0) }, as: UTF8.self) }
}

/// The fields of a query or a form (application/x-www-form-urlencoded).
enum FormFields {
    /// The text of the fields that have a value.
    static func encode(_ fields: [(name: String, value: String?)]) -> String {
        fields.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }.joined(
            separator: "&")
    }
}
