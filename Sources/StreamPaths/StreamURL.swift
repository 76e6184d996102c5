/// The URL of a stream, or its path alone.
package struct StreamURL: Sendable {
    package let text: String
    /// `nil` for a path alone.
    package let origin: StreamOrigin?
    package let path: StreamPath

    /// Reads a URL from `https://` or `http://` on, or a path from its slash on.
    ///
    /// `nil` results from anything that two programs could read in two ways, and from a URL with a `*`: for CloudFront that is a
    /// wildcard, so that a signature for this URL would be one for others too.
    package init?(_ text: String) {
        // Walking an array is several times as fast as walking a string.
        let bytes = Array(text.utf8)
        guard bytes.count <= StreamPath.byteLimit, !bytes.contains(UInt8(ascii: "*")) else { return nil }
        let absolute = StreamOrigin.read(bytes[...])
        guard let path = StreamPath(absolute?.rest ?? bytes[...]) else { return nil }
        (self.text, self.path, origin) = (text, path, absolute?.origin)
    }
}
