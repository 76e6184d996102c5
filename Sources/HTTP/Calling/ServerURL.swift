/// The URL of a server without TLS: `http://HOST[:PORT][/PATH]`.
package struct ServerURL: Sendable {
    /// The host's name or address; an IPv6 address has no brackets.
    package let host: String
    package let port: UInt16
    /// The path with its first slash; empty if the URL has none.
    package let path: String

    package init(host: String, port: UInt16) { (self.host, self.port, path) = (host, port, "") }

    /// Reads a URL; `nil` if it has another scheme, a query, a fragment, a password, a space, or no host.
    package init?(_ text: String) {
        guard text.hasPrefix("http://"), !text.contains(where: { "?#@ ".contains($0) }) else { return nil }
        let rest = text.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        var (host, port) = (authority, Substring("80"))
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            (host, port) = (authority[..<colon], authority[authority.index(after: colon)...])
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, let number = UInt16(port), number > 0 else { return nil }
        (self.host, self.port, path) = (String(host), number, String(rest.dropFirst(authority.count)))
    }
}
