internal import MediaToken

/// A URL that a grant is looked at for, taken apart: an absolute one, or a path.
struct AskedURL {
    /// `nil`, both, for a path.
    let scheme, host: String?
    /// As it was written, without query and fragment.
    let path: String

    init(_ url: String) {
        let bare = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
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

    /// Whether its path means the same to everybody: nothing to decode, no step up, no empty part but at its end.
    var isPlain: Bool {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !path.utf8.contains(where: "%\\;".utf8.contains)
        else { return false }
        let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.dropLast().allSatisfy { !$0.isEmpty }
            && !parts.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    }
}
