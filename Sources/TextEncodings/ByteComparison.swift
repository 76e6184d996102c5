internal import Glibc

extension String {
    /// Whether both strings have the same UTF-8 bytes. Swift's `==` also calls canonically equivalent strings equal.
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

    /// Feeds the string's UTF-8 bytes to `hasher`, for a type that compares by ``hasSameBytes(as:)``.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether both strings have the same bytes, except for the case of ASCII letters. Letters outside of ASCII must be
    /// identical, since some of them turn into ASCII letters in lower case (the Kelvin sign into k).
    package func isSame(ignoringCaseOf other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // A native Swift string is always contiguous; walking through its characters would take ten times as long.
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
        return (isSame ?? nil) ?? zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether the string has a U+FFFD, which Swift puts in place of bytes that are not UTF-8.
    package var holdsReplacement: Bool {
        // Nearly no text has the first of its three bytes.
        let mayHold = utf8.withContiguousStorageIfAvailable { $0.contains(0xEF) } ?? true
        return mayHold && unicodeScalars.contains("\u{FFFD}")
    }
}
