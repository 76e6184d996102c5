/// The URL of a stream, or its path alone.
package struct StreamURL: Sendable {
    package let text: String
    /// The URL's origin; `nil` if the text is only a path.
    package let origin: StreamOrigin?
    package let path: StreamPath
    /// Whether the URL has a query, even an empty one.
    package let hasQuery: Bool

    /// Reads a URL that starts with `https://` or `http://`, or a path that starts with a slash.
    ///
    /// The result is `nil` if two programs could read the text differently, and if it contains a `*`: CloudFront treats
    /// that as a wildcard, so a signature for this URL would cover other URLs too.
    package init?(_ text: String) {
        // Unreached: Refuses a configured scope when the gate starts; the properties' scopes are sound.
        guard let url = try? StreamURL(reading: text) else { return nil }
        self = url
    }

    /// Reads a URL that starts with `https://` or `http://`, or a path that starts with a slash.
    ///
    /// - Throws: ``StreamPathError`` if two programs could read the text differently, or if it contains a `*`.
    package init(reading text: String) throws(StreamPathError) {
        // Iterating over an array is several times as fast as iterating over a string.
        let bytes = Array(text.utf8)
        guard bytes.count <= StreamPath.byteLimit else { throw .long(bytes.count) }
        guard !bytes.contains(UInt8(ascii: "*")) else { throw .wildcard }
        let absolute = StreamOrigin.read(bytes[...])
        let target = absolute?.rest ?? bytes[...]
        path = try StreamPath(reading: target)
        hasQuery = target.contains(UInt8(ascii: "?"))
        (self.text, origin) = (text, absolute?.origin)
    }
}
