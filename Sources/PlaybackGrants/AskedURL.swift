internal import MediaToken

/// A URL that a grant is looked at for, taken apart: an absolute one, or a path.
struct AskedURL {
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

    /// Decoded once, as the gate decodes; `nil` where two programs could read it in two ways.
    var decodedPath: String? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var decoded = ""
        for (position, part) in parts.enumerated() {
            guard let bytes = try? PercentEncoding.decode(Array(part)[...]),
                let name = String(validating: bytes, as: UTF8.self), Self.isPlain(name),
                !name.isEmpty || position == parts.count - 1
            else { return nil }
            decoded += "/" + name
        }
        return decoded
    }

    /// Whether a part is one part, and no step, also to whoever decodes it a second time.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 > 0x1F && $0 != 0x7F && !"/\\%".utf8.contains($0) }
            && ![".", ".."].contains(where: name.hasSameBytes)
    }
}
