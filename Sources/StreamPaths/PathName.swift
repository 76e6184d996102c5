internal import TextEncodings

/// Reads one name of a path.
enum PathName {
    /// Bytes that a file's name may have on the usual file systems (NAME_MAX). Whatever a client sends is looked at in no
    /// larger piece.
    private static let byteLimit = 255

    /// Decodes the name once. `nil` results if some program could take it for several names, for a step up or for nothing.
    static func read(_ encoded: ArraySlice<UInt8>) -> String? {
        if isOrdinary(encoded) { return String(decoding: encoded, as: UTF8.self) }
        // Each byte may be an escape of three.
        guard encoded.count <= 3 * byteLimit, let bytes = decoded(encoded), bytes.count <= byteLimit,
            isOneName(bytes[...])
        else { return nil }
        // In ASCII there is nothing to fold but the case.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        guard let name = String(validating: bytes, as: UTF8.self), FoldedCharacters.keepItsParts(name), !stepsUp(name)
        else { return nil }
        return name
    }

    /// Whether a server that drops all characters beyond ASCII is left with a step up.
    private static func stepsUp(_ name: String) -> Bool {
        let ascii = name.utf8.filter { $0 < 0x80 }
        return bare(ascii[...]).isEmpty && ascii.count { $0 == UInt8(ascii: ".") } > 1
    }

    /// Whether the name is made of letters, digits, `-`, `_` and inner dots, so that it needs no decoding and is nowhere read
    /// in another way. Nearly all names of streams are.
    private static func isOrdinary(_ name: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        guard let last = name.last, last != dot, name.count <= byteLimit else { return false }
        return name.allSatisfy { $0.isLetterOrDigit || $0 == dot || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// The bytes that an escaped name stands for (RFC 3986, 2.1). `nil` results from an escape that is cut short or broken.
    private static func decoded(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        (try? PercentEncoding.decode(encoded)).map { Array($0) }
    }

    private static func isOneName(_ name: ArraySlice<UInt8>) -> Bool {
        let isPlain = name.allSatisfy {
            $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        return isPlain && !holdsEscape(name) && !bare(name).isEmpty
    }

    /// Whether a program that decodes a second time would find an escape: `%2e`, or `%u002e` as some servers read it.
    ///
    /// A digit beyond ASCII counts too, since folding turns it into one of ASCII.
    private static func holdsEscape(_ name: ArraySlice<UInt8>) -> Bool {
        name.indices.contains { index in
            guard name[index] == UInt8(ascii: "%"), let next = name[(index + 1)...].first else { return false }
            return Hexadecimal.value(of: next) != nil || next.asciiLowercased == UInt8(ascii: "u") || next >= 0x80
        }
    }

    /// The name as the most lenient server keeps it: without parameters (`;…`, as in Java's servers), without what looks like a
    /// query, a fragment or a file's stream once it is decoded, and without the spaces around it and the dots at its end that
    /// some file systems drop. A plus sign is a space to servers that decode paths as they decode forms.
    static func bare(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "+") }
        var bare = name.prefix { !";?#:".utf8.contains($0) }.drop(while: isSpace)
        while let last = bare.last, last == UInt8(ascii: ".") || isSpace(last) { bare.removeLast() }
        return bare
    }

    /// The name as a server without cases keeps it, for comparing names that are known: see ``isKnown(_:)``. A space ends it, as
    /// for a program that writes a decoded path into the line of a request.
    static func folded(_ name: String) -> [UInt8] {
        bare(Array(name.utf8)[...]).prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "+") }.map(\.asciiLowercased)
    }

    /// Whether it is known which names servers take this one for. It is not if the name has a character beyond ASCII, or a sign
    /// that is a prefix (`mp4:x`), a list (`,a,b,`), a session (`(S(x))`) or a wildcard to some stream servers.
    static func isKnown(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 && !":,()*<>\"|".utf8.contains($0) }
    }

    /// Whether a server may drop the name: one that removes characters beyond ASCII, or the signs that ``isKnown(_:)`` names.
    static func mayVanish(_ name: String) -> Bool {
        guard !isKnown(name) else { return false }
        let ascii = name.utf8.filter { $0 < 0x80 }
        return ascii.first == UInt8(ascii: "(") || bare(ascii[...]).isEmpty
    }
}
