internal import StreamPaths
internal import TextEncodings

/// A URL that a grant is looked at for, taken apart: an absolute one, or a path.
struct RequestedURL {
    /// `nil`, both, for a path.
    let scheme, host: String?
    /// As it was written, without query and fragment.
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

    /// The path as the gate decodes it; `nil` if two programs could read it in two ways.
    var decodedPath: String? { StreamPath(path)?.uri }
}
