/// A path as the most lenient server reads it. The gate uses it to find configured routes that such a server would
/// confuse.
package struct LenientPath: Sendable {
    private let names: [String]

    package init(_ path: StreamPath) {
        names = path.names.map { name in
            // Converts to upper case first, because the two lower-case sigmas share a capital, and the long s shares
            // one with s.
            String(decoding: PathName.bare(Array(name.utf8)[...]), as: UTF8.self)
                .replacing("+", with: " ").uppercased().lowercased()
        }
    }

    /// Whether a lenient server may read this path as `prefix` or as a path below it.
    package func lies(within prefix: LenientPath) -> Bool {
        names.count >= prefix.names.count && zip(prefix.names, names).allSatisfy { $0 == $1 }
    }
}
