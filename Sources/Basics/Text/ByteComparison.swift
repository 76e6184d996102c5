internal import Glibc

extension String {
    /// Whether both strings have the same UTF-8 bytes. Swift's `==` also treats canonically equivalent strings as
    /// equal.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let same = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return memcmp(left, right, other.utf8.count) == 0
            }
        }
        // A native Swift string is always contiguous.
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Feeds the string's UTF-8 bytes to `hasher`, for a type that compares its strings by ``hasSameBytes(as:)``.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether both strings have the same bytes, ignoring the case of ASCII letters. Letters beyond ASCII must be
    /// identical, because some of them have ASCII letters as their lower case (the Kelvin sign becomes k).
    package func isSame(ignoringCaseOf other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // A native Swift string is always contiguous. Iterating over its characters would take ten times as long.
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
        return (isSame ?? nil) ?? zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether the string contains U+FFFD, which Swift substitutes for bytes that are not UTF-8.
    package var holdsReplacement: Bool {
        // Few texts contain 0xEF, the first of the three bytes of U+FFFD, so most need no scan by scalars.
        let mayHold =
            utf8.withContiguousStorageIfAvailable { bytes in
                bytes.baseAddress.map { memchr($0, 0xEF, bytes.count) != nil } ?? false
            } ?? true
        return mayHold && unicodeScalars.contains("\u{FFFD}")
    }
}
