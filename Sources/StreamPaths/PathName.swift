internal import Basics

/// Reads a single name of a path.
enum PathName {
    /// The maximum length of a file's name in bytes on common file systems (NAME_MAX). Longer names are rejected, which
    /// also bounds the work for each name that a client sends.
    static let byteLimit = 255

    /// Decodes the name once.
    ///
    /// - Throws: ``PathNameError`` if some program could read the name as several names, as a step up to the parent
    ///   folder, or as an empty name.
    static func read(_ encoded: ArraySlice<UInt8>) throws(PathNameError) -> String {
        if isOrdinary(encoded) { return String(decoding: encoded, as: UTF8.self) }
        // Each byte may be escaped, which takes three bytes.
        guard encoded.count <= 3 * byteLimit else { throw .long }
        guard let bytes = decoded(encoded) else { throw .escapeCutOff }
        guard bytes.count <= byteLimit else { throw .long }
        try checkSigns(bytes[...])
        // Folding changes nothing but the case of ASCII.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        guard let name = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        try FoldedCharacters.check(name)
        guard !stepsUp(name) else { throw .stepsUp }
        return name
    }

    /// Whether the name becomes a step up on a server that drops all characters beyond ASCII.
    private static func stepsUp(_ name: String) -> Bool {
        let ascii = name.utf8.filter { $0 < 0x80 }
        return bare(ascii[...]).isEmpty && ascii.count { $0 == UInt8(ascii: ".") } > 1 || holdsStep(ascii[...])
    }

    /// Whether the name consists of letters, digits, `-`, `_` and inner dots, so that it needs no decoding and every
    /// program reads it in the same way. Nearly all stream names do.
    private static func isOrdinary(_ name: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        guard let last = name.last, last != dot, name.count <= byteLimit else { return false }
        return name.allSatisfy { $0.isLetterOrDigit || $0 == dot || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// The bytes of a percent-encoded name (RFC 3986, 2.1). The result is `nil` if an escape is truncated or malformed.
    private static func decoded(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        (try? PercentEncoding.decode(encoded)).map { Array($0) }
    }

    /// Checks that the ASCII characters of a decoded name leave it a single name.
    private static func checkSigns(_ name: ArraySlice<UInt8>) throws(PathNameError) {
        let sign = name.first {
            $0 <= 0x1F || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
        }
        if let sign { throw .sign(Unicode.Scalar(sign)) }
        guard !name.isEmpty else { throw .empty }
        guard !holdsEscape(name) else { throw .escapedTwice }
        guard !bare(name).isEmpty, !holdsStep(name) else { throw .stepsUp }
    }

    /// Whether a program that splits the name at a sign, or drops the sign, is left with `.` or `..`: a list of
    /// `/free/..,/live,` names `/free/../live`.
    private static func holdsStep(_ name: ArraySlice<UInt8>) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { ";?#".utf8.contains($0) || isSign($0) }
        return parts.count > 1
            && parts.contains { part in
                let dots = part.trimmingPrefix { isSpace($0) }.reversed().trimmingPrefix { isSpace($0) }
                return (1...2).contains(dots.count) && dots.allSatisfy { $0 == UInt8(ascii: ".") }
            }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "+") }

    /// Whether stream servers or file systems give the character a meaning within a name.
    private static func isSign(_ byte: UInt8) -> Bool { spanning.contains(byte) || "()<>\"|".utf8.contains(byte) }

    /// A prefix (`mp4:x`), a list (`,a/b,c/d,`) and a wildcard (`**`), each of which may stand for several names.
    private static let spanning = Array(":,*".utf8)

    /// Whether a program that decodes the name a second time would find an escape: `%2e`, or `%u002e`, which some
    /// servers decode too.
    ///
    /// A digit beyond ASCII counts too, because folding turns it into an ASCII digit.
    private static func holdsEscape(_ name: ArraySlice<UInt8>) -> Bool {
        name.indices.contains { index in
            guard name[index] == UInt8(ascii: "%"), let next = name[(index + 1)...].first else { return false }
            return Hexadecimal.value(of: next) != nil || next.asciiLowercased == UInt8(ascii: "u") || next >= 0x80
        }
    }

    /// The name as the most lenient server keeps it: without parameters (`;…`, as in Java servers), without anything
    /// that looks like a query, a fragment or a file's stream after decoding, and without the spaces around it and the
    /// dots at its end that some file systems drop. A plus sign counts as a space, because some servers decode paths as
    /// they decode forms.
    static func bare(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bare = name.prefix { !";?#:".utf8.contains($0) }.drop(while: isSpace)
        while let last = bare.last, last == UInt8(ascii: ".") || isSpace(last) { bare.removeLast() }
        return bare
    }

    /// The name as a case-insensitive server keeps it, for comparing names that are known: see ``isKnown(_:)``. The
    /// name ends at its first space, as it does for a program that writes a decoded path into a request line.
    static func folded(_ name: String) -> [UInt8] {
        bare(Array(name.utf8)[...]).prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "+") }.map(\.asciiLowercased)
    }

    /// Whether it is known how servers read this name. It is not known if the name has a character beyond ASCII, or a
    /// character that some stream servers read as a prefix, a list, a session (`(S(x))`) or a wildcard.
    static func isKnown(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 && !isSign($0) } }

    /// Whether a server may read the name, and those behind it, as any number of other names.
    static func maySpan(_ name: String) -> Bool { name.utf8.contains(where: spanning.contains) }

    /// Whether a server may read the name as a stream's, with its kind in front. In Wowza's URLs an application comes
    /// before it, and names in between are those of instances, which may share their files.
    static func hasPrefix(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: ":")) }

    /// Whether a server may drop the whole name: any name with a character beyond ASCII, a session (`(S(x))`), whose
    /// parentheses may be the result of folding too, and `_definst_`, the instance that Wowza takes without one.
    static func mayVanish(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: "(") || !name.utf8.allSatisfy { $0 < 0x80 }
            || name.utf8.contains(UInt8(ascii: "_")) && folded(name) == definst
    }

    private static let definst = Array("_definst_".utf8)
}
