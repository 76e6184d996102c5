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

    /// The path as the gate decodes it; `nil` if two programs could read it differently, or find its start elsewhere. A space,
    /// and a character beyond ASCII, which people write without an escape, counts as its escape.
    var decodedPath: String? { hasHost ? try? read().uri : nil }

    private var hasHost: Bool { host.map { StreamHost(Array($0.utf8)[...]) != nil } ?? true }

    /// Why the path has no decoded form, for people.
    var problem: String {
        guard hasHost else { return "asked for '\(printable(host ?? ""))', which is no name of a host" }
        do throws(StreamPathError) {
            _ = try read()
            return "asked for \(printable(path))"
        } catch {
            return "asked for \(printable(path)); \(error)"
        }
    }

    private func read() throws(StreamPathError) -> StreamPath {
        let bytes = path.utf8.flatMap { byte -> [UInt8] in
            byte == UInt8(ascii: " ") || byte >= 0x80 ? Array("%\([byte].hexadecimal)".utf8) : [byte]
        }
        return try StreamPath(reading: bytes[...])
    }
}
