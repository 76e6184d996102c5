public import Timestamps

/// What a CDN takes for a yes: to be sent with each request for the stream, as parameters of its query, as cookies, or as a header.
public struct Grant: Sendable, Equatable {
    /// One part, by the names that the CDN knows it by.
    public struct Field: Sendable, Equatable {
        /// The name of its parameter.
        public let parameter: String
        /// The name of its cookie, or of a header.
        public let cookie: String
        /// Free of what a URL or a cookie would need to escape.
        public let value: String
    }

    /// In the order in which the CDN's documents have them.
    public let fields: [Field]
    /// Its end: CloudFront and Common Access Tokens open nothing from then on, Akamai and nginx from a second later on.
    public let expires: Timestamp

    init(_ fields: [Field], expires: Timestamp) { (self.fields, self.expires) = (fields, expires) }

    /// One field of one name.
    init(_ name: String, _ value: String, expires: Timestamp) {
        self.init([Field(parameter: name, cookie: name, value: value)], expires: expires)
    }

    /// As a query, without its question mark.
    public var query: String { fields.map { "\($0.parameter)=\($0.value)" }.joined(separator: "&") }

    /// `url` with the query behind its own.
    public func appended(to url: String) -> String {
        url + (url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
    }

    /// The values of `Set-Cookie` headers (RFC 6265, 4.1), for HTTPS and not for scripts.
    ///
    /// - Parameters:
    ///   - path: requests at and below it carry the cookies.
    ///   - domain: the host that they go to, and those below it; `nil` for the one that sets them.
    ///   - now: they live for as long as the grant does from then on.
    public func cookies(path: String, domain: String? = nil, at now: Timestamp) -> [String] {
        let seconds = max(0, (expires.milliseconds - max(0, now.milliseconds)) / 1000)
        return fields.map { field in
            // One after the other into one text: each interpolation, and each sum, would be another copy.
            var cookie = ""
            cookie.reserveCapacity(field.value.utf8.count + 256)
            cookie += field.cookie
            cookie += "="
            cookie += field.value
            cookie += "; Path="
            cookie += path
            if let domain {
                cookie += "; Domain="
                cookie += domain
            }
            cookie += "; Max-Age="
            cookie += String(seconds)
            cookie += "; Secure; HttpOnly; SameSite=None"
            return cookie
        }
    }
}

/// What a grant cannot be made of, or read from: the field, and what was expected there.
public struct GrantProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// As the field is called in the configuration and on the command line.
    public let field: String
    /// What is wrong, and what was expected. Never a secret.
    public let reason: String

    package init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }

    /// One line that begins with the field.
    public var description: String { "\(field): \(reason)" }
}
