internal import StreamPaths
internal import TextEncodings

/// The parts of a URL or a path that a grant is checked for.
struct RequestedURL {
    /// The URL's scheme and host; both are `nil` if the text is only a path.
    let scheme, host: String?
    /// The path as written, without query and fragment.
    let path: String

    init(_ url: String) {
        let bare = url.utf8.prefix { !"?#".utf8.contains($0) }
        let name = bare.prefix { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
        let mark = "://"
        guard !name.isEmpty, bare.dropFirst(name.count).starts(with: mark.utf8) else {
            (scheme, host, path) = (nil, nil, String(Substring(bare)))
            return
        }
        let rest = bare.dropFirst(name.count + mark.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let path = rest.dropFirst(authority.count)
        (scheme, host) = (String(Substring(name)), String(Substring(authority)))
        self.path = path.isEmpty ? "/" : String(Substring(path))
    }

    /// The path as the gate decodes it; `nil` if two programs could read it differently. A space, and a character beyond
    /// ASCII, which people write without an escape, counts as its escape.
    var decodedPath: String? {
        let bytes = path.utf8.flatMap { byte -> [UInt8] in
            byte == UInt8(ascii: " ") || byte >= 0x80 ? Array("%\([byte].hexadecimal)".utf8) : [byte]
        }
        return StreamPath(bytes[...])?.uri
    }

    /// Why the path has no decoded form, for people.
    var problem: String {
        let reason =
            path.unescaped() == nil
            ? "%25 for each percent sign that begins no escape"
            : "a path from / on that everybody reads alike: no . or .., no empty part, no escaped slash"
        return "asked for \(printable(path)); expected \(reason)"
    }
}
