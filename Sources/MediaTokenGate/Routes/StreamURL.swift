internal import MediaToken

/// The URL of a stream, or its path.
struct StreamURL: Sendable {
    let text: String
    /// Scheme and host; `nil` for a path alone.
    let origin: String?
    let path: GatePath

    /// `nil` for what could be read in two ways.
    init?(_ text: String) {
        // An array is gone through several times as fast as a text.
        let bytes = Array(text.utf8)
        let scheme = ["https://", "http://"].first { bytes.starts(with: $0.utf8) }
        let rest = bytes.dropFirst(scheme?.utf8.count ?? 0)
        let host = scheme == nil ? [] : rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let isHost = host.allSatisfy { $0.isLetterOrDigit || ".-:[]".utf8.contains($0) }
        // To CloudFront it is a wildcard, and would sign for more than one URL.
        let isOne = !bytes.contains(UInt8(ascii: "*"))
        guard isHost, isOne, scheme == nil || !host.isEmpty, bytes.count <= 8192,
            let path = GatePath(rest.dropFirst(host.count))
        else { return nil }
        (self.text, self.path) = (text, path)
        origin = scheme.map { $0 + String(decoding: host, as: UTF8.self) }
    }

    /// As a server has it that has decoded it: what nginx calls `$uri`.
    var decodedPath: String {
        let isFolder = text.utf8.prefix { $0 != UInt8(ascii: "?") }.last == UInt8(ascii: "/")
        return isFolder && !path.segments.isEmpty ? path.text + "/" : path.text
    }
}
