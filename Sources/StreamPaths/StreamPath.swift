internal import Basics

/// The path of a stream, if every program reads it in the same way: the proxy, the gate, a CDN, a cache and the origin.
///
/// A path that two programs could read as two different files has no `StreamPath`, because a request for an open file
/// could then return a protected one. Examples are `/open/../live`, `/open/%2e%2e/live`, `/open%2flive` and
/// `//live`, a path that becomes such a path when it is decoded a second time (`/open/%252e%252e/live`), and one that
/// does so when its characters are folded (`/open/%E2%80%A5/live`, in which one character folds to two dots).
package struct StreamPath: Sendable {
    /// The path's names between its slashes, percent-decoded once. The root path has none.
    package let names: [String]
    /// Whether the path ends with a slash, as `/live/` does.
    package let endsWithSlash: Bool

    static let nameLimit = 256
    /// The maximum length of a path in bytes. By default, nginx and Apache accept a request line of about 8 KB.
    static let byteLimit = 8192

    /// The decoded path, starting with a slash and without a slash at its end.
    package var text: String { text(withSlash: false) }

    /// The decoded path, with a slash at its end if the request's path has one. nginx calls this `$uri`.
    package var uri: String { text(withSlash: endsWithSlash) }

    private func text(withSlash endsWithSlash: Bool) -> String {
        var text = ByteWriter(capacity: 256)
        for name in names {
            text.write(UInt8(ascii: "/"))
            text.write(text: name)
        }
        if names.isEmpty || endsWithSlash { text.write(UInt8(ascii: "/")) }
        return text.text
    }

    /// Reads the path of a request's target and ignores the query after it.
    ///
    /// The result is `nil` if two programs could read the path differently.
    package init?(_ target: String) {
        guard let path = try? StreamPath(reading: target) else { return nil }
        self = path
    }

    /// Reads the path of a request's target and ignores the query after it.
    ///
    /// - Throws: ``StreamPathError`` if two programs could read the path differently.
    package init(reading target: String) throws(StreamPathError) {
        // Iterating over an array is several times as fast as iterating over a string.
        try self.init(reading: Array(target.utf8)[...])
    }

    /// Reads the path at the start of a target's bytes and ignores the query after it.
    package init(reading target: ArraySlice<UInt8>) throws(StreamPathError) {
        // A target is visible ASCII without a fragment (RFC 9112, 3.2). Some programs truncate or repair any other
        // target.
        if let index = target.firstIndex(where: { !(0x21...0x7E).contains($0) || $0 == UInt8(ascii: "#") }) {
            throw .byte(target[index], position: index - target.startIndex + 1)
        }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        guard let first = path.first else { throw .empty }
        guard first == UInt8(ascii: "/") else { throw .relative }
        guard path.count <= Self.byteLimit else { throw .long(path.count) }
        var names: [String] = []
        names.reserveCapacity(16)
        var rest = path.dropFirst()
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "/") }
            guard names.count < Self.nameLimit else { throw .manyNames }
            do throws(PathNameError) {
                names.append(try PathName.read(part))
            } catch {
                throw .name(error, position: names.count + 1)
            }
            rest = rest[part.endIndex...].dropFirst()
        }
        self.names = names
        endsWithSlash = path.last == UInt8(ascii: "/")
    }

    /// Whether this path equals `prefix` or lies below it. Names are compared byte by byte.
    package func isWithin(_ prefix: StreamPath) -> Bool {
        names.count >= prefix.names.count
            && zip(prefix.names, names).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    /// Whether both paths have the same names. A slash at the end makes no difference.
    package func isSame(as other: StreamPath) -> Bool {
        names.count == other.names.count && isWithin(other)
    }
}
