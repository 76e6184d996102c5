/// A path as the most lenient server reads it. Used to find configured routes that such a server would confuse.
package struct LenientPath: Sendable {
    private let names: [String]

    package init(_ path: StreamPath) {
        names = path.names.map { name in
            // Upper case first: the two small letters of a sigma, and the long s, share their capital.
            String(decoding: PathName.bare(Array(name.utf8)[...]), as: UTF8.self)
                .replacing("+", with: " ").uppercased().lowercased()
        }
    }

    /// Whether a lenient server may take this path for `prefix` or for one below it.
    package func lies(within prefix: LenientPath) -> Bool {
        names.count >= prefix.names.count && zip(prefix.names, names).allSatisfy { $0 == $1 }
    }
}
