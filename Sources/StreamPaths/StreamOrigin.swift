package import Basics

/// The scheme, host and port of a URL, normalized for comparison: in lower case, without a dot at the end of the host
/// and without the scheme's default port.
package struct StreamOrigin: Hashable, Sendable {
    /// `https` or `http`.
    package let scheme: String
    package let host: StreamHost
    /// The port; `nil` if it is the scheme's default port.
    package let port: UInt16?

    private static let schemes: [(name: String, prefix: StaticString, port: UInt16)] = [
        ("https", "https://", 443), ("http", "http://", 80),
    ]

    /// The origin as the start of a URL, such as `https://cdn.example`.
    package var text: String {
        var text = ByteWriter(capacity: 256)
        write(to: &text)
        return text.text
    }

    /// Writes the origin as the start of a URL.
    package func write(to text: inout ByteWriter) {
        text.write(text: scheme)
        text.write("://")
        text.write(text: host.name)
        guard let port else { return }
        text.write(":")
        text.write(decimal: Int64(port))
    }

    /// Reads `https://HOST[:PORT]` or `http://HOST[:PORT]`. The result is `nil` for any other text.
    package init?(_ text: String) {
        guard let (origin, rest) = Self.read(Array(text.utf8)[...]), rest.isEmpty else { return nil }
        self = origin
    }

    /// The origin at the start of a URL, and the bytes after it. The result is `nil` if the URL does not start with
    /// one.
    package static func read(_ url: ArraySlice<UInt8>) -> (origin: StreamOrigin, rest: ArraySlice<UInt8>)? {
        for (scheme, prefix, usualPort) in schemes {
            guard let rest = url.dropping(prefix) else { continue }
            let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard let (host, port) = StreamHost.read(authority) else { return nil }
            let origin = StreamOrigin(scheme: scheme, host: host, port: port == usualPort ? nil : port)
            return (origin, rest.dropFirst(authority.count))
        }
        return nil
    }

    private init(scheme: String, host: StreamHost, port: UInt16?) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }
}

/// The name or address of a host, normalized for comparison: in lower case, without a dot at its end.
package struct StreamHost: Hashable, Sendable {
    /// The host's name or address. An IPv6 address is in brackets.
    package let name: String

    /// Reads the value of a `Host` header (RFC 9110, 7.2) and ignores its port. The result is `nil` if the value is not
    /// a host.
    package init?(_ header: ArraySlice<UInt8>) {
        guard let (host, _) = Self.read(header) else { return nil }
        self = host
    }

    /// Reads a host in a configuration. The result is `nil` for any other text, including a host with a port.
    package init?(withoutPort text: String) {
        guard let (host, port) = Self.read(Array(text.utf8)[...]), port == nil else { return nil }
        self = host
    }

    private init(name: ArraySlice<UInt8>) { self.name = String(decoding: name, as: UTF8.self) }

    /// Reads `HOST` or `HOST:PORT`. The result is `nil` for any other text, including a host after a user name and
    /// password.
    static func read(_ authority: ArraySlice<UInt8>) -> (host: StreamHost, port: UInt16?)? {
        let isAddress = authority.first == UInt8(ascii: "[")
        let end = isAddress ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : nil
        let host = end.map { authority[..<$0] } ?? authority.prefix { $0 != UInt8(ascii: ":") }
        let text = host.map(\.asciiLowercased)[...]
        guard let name = isAddress ? address(text) : domainName(text) else { return nil }
        let rest = authority.dropFirst(host.count)
        if rest.isEmpty { return (StreamHost(name: name), nil) }
        let digits = rest.dropFirst()
        guard rest.first == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { return nil }
        return (StreamHost(name: name), port)
    }

    private static func domainName(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let name = text.last == UInt8(ascii: ".") ? text.dropLast() : text
        // Each label has a letter, digit, `-` or `_` at least.
        var isInLabel = false
        for byte in name {
            if byte == UInt8(ascii: ".") {
                guard isInLabel else { return nil }
                isInLabel = false
            } else {
                guard byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") else { return nil }
                isInLabel = true
            }
        }
        return isInLabel && name.count <= 253 ? name : nil
    }

    private static func address(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let inner = text.dropFirst().dropLast()
        let isAddress =
            text.last == UInt8(ascii: "]") && inner.allSatisfy { $0.isLetterOrDigit || ":.".utf8.contains($0) }
        return isAddress && !inner.isEmpty ? text : nil
    }
}
