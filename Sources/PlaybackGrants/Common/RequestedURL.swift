internal import Basics
internal import StreamPaths

/// The parts of a URL or a path that a grant is checked for.
struct RequestedURL {
    /// The URL's scheme and host; both are `nil` if the text is only a path.
    let scheme, host: String?
    /// The path as written, without query and fragment.
    let path: String
    private let url: String

    init(_ url: String) {
        self.url = url
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

    /// The path as the gate decodes it; `nil` if two programs could read it differently, or find its start elsewhere. A
    /// space, and a character beyond ASCII, which people write without an escape, counts as its escape.
    var decodedPath: String? { hasHost ? try? read().uri : nil }

    /// The path as a client sends it, not decoded.
    var sentPath: String { String(decoding: sentBytes, as: UTF8.self) }

    /// Whether the URL is written as every program writes it, without a fragment, which no client sends. Programs write
    /// a host in upper case, with a dot at its end or with the usual port in different ways.
    var hasOneSpelling: Bool {
        guard !url.utf8.contains(UInt8(ascii: "#")) else { return false }
        guard scheme != nil else { return true }
        return StreamOrigin.read(Array(url.utf8)[...]).map { url.utf8.starts(with: "\($0.origin.text)/".utf8) } ?? false
    }

    private var hasHost: Bool { host.map { StreamHost(Array($0.utf8)[...]) != nil } ?? true }

    /// Why the path has no decoded form, for people.
    var problem: String {
        guard hasHost else { return "asked for '\(printable(host ?? ""))', which is no name of a host" }
        do throws(StreamPathError) {
            _ = try read()
            guard !hasOneSpelling else { return "asked for \(printable(path))" }
            return
                "asked for \(printable(url)), which a client may send, and a CDN compare, in another spelling; expected "
                + "a host in lower case, without a dot at its end and the usual port, then a path, and no fragment"
        } catch {
            return "asked for \(printable(path)); \(error)"
        }
    }

    private func read() throws(StreamPathError) -> StreamPath {
        try StreamPath(reading: sentBytes[...])
    }

    private var sentBytes: [UInt8] {
        path.utf8.flatMap { byte -> [UInt8] in
            byte == UInt8(ascii: " ") || byte >= 0x80 ? Array("%\([byte].hexadecimal)".utf8) : [byte]
        }
    }
}
