public import Basics
package import StreamPaths

/// A playback grant: a signed URL, signed cookie or access token that a CDN checks. The player sends it with each
/// request for the stream, as query parameters, as cookies or as a header.
public struct Grant: Sendable, Equatable {
    /// One field of a grant, with the names that the CDN expects.
    public struct Field: Sendable, Equatable {
        /// The name of the query parameter.
        public let parameter: String
        /// The name of the cookie or header.
        public let cookie: String
        /// The value. One with a comma cannot be a cookie's, and one with `&` or `#` cannot be a parameter's.
        public let value: String
    }

    /// The fields, in the order in which the CDN's documentation lists them.
    public let fields: [Field]
    /// The expiry. At this time, CloudFront and Common Access Tokens no longer open anything; Akamai and nginx stop one
    /// second later.
    public let expires: Timestamp

    init(_ fields: [Field], expires: Timestamp) { (self.fields, self.expires) = (fields, expires) }

    /// Creates a grant with a single field, whose parameter and cookie have the same name.
    init(_ name: String, _ value: String, expires: Timestamp) {
        self.init([Field(parameter: name, cookie: name, value: value)], expires: expires)
    }

    /// The grant as a query, without a question mark.
    public var query: String { appended(to: "", mark: "") }

    /// The URL with the grant appended to its query.
    public func appended(to url: String) -> String {
        appended(to: url, mark: url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")
    }

    /// The URL with the grant appended to its query.
    package func appended(to url: StreamURL) -> String { appended(to: url.text, mark: url.hasQuery ? "&" : "?") }

    private func appended(to url: String, mark: StaticString) -> String {
        var text = ByteWriter(capacity: 1024)
        text.write(text: url)
        for (index, field) in fields.enumerated() {
            text.write(index == 0 ? mark : "&")
            text.write(text: field.parameter)
            text.write("=")
            text.write(text: field.value)
        }
        return text.text
    }

    /// Throws ``GrantError`` for the field `delivery` if the grant cannot travel in a query.
    package func demandQuery() throws(GrantError) {
        guard fields.allSatisfy({ !$0.value.utf8.contains { "&#".utf8.contains($0) } }) else {
            throw GrantError(
                "delivery",
                "is in a query, and the grant has & or #, which ends a parameter there; expected a cookie or a header")
        }
    }

    /// Throws ``GrantError`` for the field `delivery` if the grant cannot travel in a header: no CDN reads several.
    package func demandHeader() throws(GrantError) {
        guard fields.count == 1 else {
            throw GrantError(
                "delivery", "is a header, and the grant has \(fields.count) fields; expected query, url or cookie")
        }
    }

    /// The values of the `Set-Cookie` headers (RFC 6265, 4.1). The cookies are sent over HTTPS only, and scripts cannot
    /// read them.
    ///
    /// - Parameters:
    ///   - path: The path at and below which requests carry the cookies.
    ///   - domain: The host that receives the cookies, together with its subdomains; `nil` for only the host that sets
    ///     them.
    ///   - now: The current time. The cookies live from then until the grant expires.
    /// - Throws: ``GrantError`` for the field `delivery` if the grant has a comma, which a cookie cannot hold.
    public func cookies(
        path: String, domain: String? = nil, at now: Timestamp
    ) throws(GrantError) -> [String] {
        guard fields.allSatisfy(\.value.isCookieValue) else {
            throw GrantError(
                "delivery",
                "is cookie, and the grant has a comma, which a cookie cannot hold (RFC 6265, 4.1.1); expected query, url "
                    + "or header")
        }
        let seconds = max(0, (expires.milliseconds - max(0, now.milliseconds)) / 1000)
        return fields.map { field in
            var cookie = ByteWriter(capacity: field.value.utf8.count + 256)
            cookie.write(text: field.cookie)
            cookie.write("=")
            cookie.write(text: field.value)
            cookie.write("; Path=")
            cookie.write(text: path)
            if let domain {
                cookie.write("; Domain=")
                cookie.write(text: domain)
            }
            cookie.write("; Max-Age=")
            cookie.write(decimal: seconds)
            cookie.write("; Secure; HttpOnly; SameSite=None")
            return cookie.text
        }
    }
}

/// A value that rules out a grant, or that a grant cannot be read from: the field, and what was expected there.
public struct GrantError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the field in the configuration and on the command line.
    public let field: String
    /// What is wrong, and what was expected. It never contains a secret.
    public let reason: String

    package init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }

    /// One line that begins with the field.
    public var description: String { "\(field): \(reason)" }
}
