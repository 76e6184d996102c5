internal import MediaToken

/// A path as the most lenient of servers takes it.
struct LenientPath: Sendable {
    private struct Name {
        let text: String
        /// Beyond ASCII nobody knows what servers fold and normalise, and how.
        let isKnown: Bool
    }

    private let names: [Name]

    init(_ path: GatePath) {
        names = path.segments.map { segment in
            // By way of the capitals, which the two small letters of a sigma or an s share.
            Name(text: Self.bare(segment).uppercased().lowercased(), isKnown: segment.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    /// Whether some server might take it for one within `prefix`: a name that is not known might be any other.
    func mayLie(within prefix: LenientPath) -> Bool {
        lies(within: prefix) { $0.text == $1.text || !$0.isKnown || !$1.isKnown }
    }

    /// Whether it is one within `prefix` by what is known, and beyond that by Unicode's letters and forms: for what an operator
    /// writes, who may well name `/fútbol` beside `/tenis`.
    func lies(within prefix: LenientPath) -> Bool { lies(within: prefix) { $0.text == $1.text } }

    private func lies(within prefix: LenientPath, by areAlike: (Name, Name) -> Bool) -> Bool {
        names.count >= prefix.names.count && zip(prefix.names, names).allSatisfy(areAlike)
    }

    /// A segment without parameters (`;…`, as Java's servers have them), without what looks like a query or a fragment once it
    /// is decoded, and without the spaces around it and the dots at its end that some file systems drop.
    static func bare(_ segment: String) -> Substring {
        let (dot, space) = (UInt8(ascii: "."), UInt8(ascii: " "))
        var bare = segment.utf8.prefix { !isEnd($0) }.drop { $0 == space }
        while let last = bare.last, last == dot || last == space { bare.removeLast() }
        return Substring(bare)
    }

    /// Of a name, for some servers: what follows is a parameter, a query or a fragment.
    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
