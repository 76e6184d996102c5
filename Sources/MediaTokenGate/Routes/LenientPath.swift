internal import MediaToken

/// A path as the most lenient of servers takes it.
struct LenientPath: Sendable {
    /// `nil` for a name with letters beyond ASCII: what servers fold and normalise, and how, nobody knows.
    private let names: [String?]

    init(_ path: GatePath) {
        names = path.segments.map { $0.utf8.allSatisfy { $0 < 0x80 } ? Self.name($0) : nil }
    }

    /// Whether some server might take it for one within `prefix`.
    func mayLie(within prefix: LenientPath) -> Bool {
        names.count >= prefix.names.count
            && zip(prefix.names, names).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
    }

    /// A segment without parameters (`;…`, as Java's servers have them), without what looks like a query or a fragment once it
    /// is decoded, without the spaces around it and the dots at its end that some file systems drop, and in lower case.
    static func name(_ segment: String) -> String {
        let (dot, space) = (UInt8(ascii: "."), UInt8(ascii: " "))
        var name = segment.utf8.prefix { !isEnd($0) }.drop { $0 == space }
        while let last = name.last, last == dot || last == space { name.removeLast() }
        return Substring(name).lowercased()
    }

    /// Of a name, for some servers: what follows is a parameter, a query or a fragment.
    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
