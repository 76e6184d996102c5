/// A stream without a camera: a playlist of HLS (RFC 8216) whose segments are pictures, one for each second.
enum DemoStream {
    static let segments = 30

    /// A file of the stream, and its media type.
    static func file(_ path: String) -> (type: String, body: [UInt8])? {
        guard path != "/live/index.m3u8" else { return ("application/vnd.apple.mpegurl", Array(playlist.utf8)) }
        guard path.hasPrefix("/live/"), path.hasSuffix(".svg"), let number = Int(path.dropFirst(6).dropLast(4)),
            (0..<segments).contains(number)
        else { return nil }
        return ("image/svg+xml", Array(picture(number).utf8))
    }

    private static var playlist: String {
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n"
            + (0..<segments).map { "#EXTINF:1,\n\($0).svg\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private static func picture(_ number: Int) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90"><rect width="160" height="90" fill="#153"/>\
        <rect x="\(number * 160 / segments)" y="78" width="\(160 / segments)" height="6" fill="#fff"/>\
        <text x="80" y="50" font-family="sans-serif" font-size="24" text-anchor="middle" fill="#fff">LIVE \(number)</text>\
        <text x="80" y="68" font-family="sans-serif" font-size="8" text-anchor="middle" fill="#fff">sandbox</text></svg>
        """
    }
}
