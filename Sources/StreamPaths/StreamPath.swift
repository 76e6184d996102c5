/// A stream's path that every program reads in the same way: the proxy, the gate, a CDN, a cache and the origin.
///
/// A path that two programs could read as two different files has no `StreamPath`, since a request for an open file could
/// then be served a protected one. Such paths are `/open/../live`, `/open/%2e%2e/live`, `/open%2flive`, `//live`, what
/// decoding such a path a second time gives (`/open/%252e%252e/live`), and what folding its characters gives
/// (`/open/%E2%80%A5/live`, where one character stands for two dots).
package struct StreamPath: Sendable {
    /// The path's names between its slashes, percent-decoded once. The root has none.
    package let names: [String]
    /// Whether a slash ends the path, as in `/live/`.
    package let endsWithSlash: Bool

    private static let nameLimit = 256
    /// Bytes of a path at the most. nginx and Apache take a request line of some 8 KB unless they are told otherwise.
    static let byteLimit = 8192

    /// The path decoded, from its first slash on, without a slash at its end.
    package var text: String { "/" + names.joined(separator: "/") }

    /// The path decoded, with its slash at the end if it has one: what nginx calls `$uri`.
    package var uri: String { endsWithSlash && !names.isEmpty ? text + "/" : text }

    /// Reads the path of a request's target. A query after it is ignored.
    ///
    /// `nil` results if two programs could read the path in two ways.
    package init?(_ target: String) {
        // Walking an array is several times as fast as walking a string.
        self.init(Array(target.utf8)[...])
    }

    /// Reads the path at the start of a target's bytes. A query after it is ignored.
    package init?(_ target: ArraySlice<UInt8>) {
        // A target is visible ASCII without a fragment (RFC 9112, 3.2). Some programs cut off or repair what is not.
        let isTarget = target.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        guard isTarget, path.first == UInt8(ascii: "/"), path.count <= Self.byteLimit else { return nil }
        var names: [String] = []
        names.reserveCapacity(16)
        var rest = path.dropFirst()
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "/") }
            guard names.count < Self.nameLimit, let name = PathName.read(part) else { return nil }
            names.append(name)
            rest = rest[part.endIndex...].dropFirst()
        }
        self.names = names
        endsWithSlash = path.last == UInt8(ascii: "/")
    }

    /// Whether this path is `prefix` or lies below it. Names are compared byte by byte.
    package func isWithin(_ prefix: StreamPath) -> Bool {
        names.count >= prefix.names.count
            && zip(prefix.names, names).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Whether both paths have the same names. A slash at the end makes no difference.
    package func isSame(as other: StreamPath) -> Bool {
        names.count == other.names.count && isWithin(other)
    }
}
