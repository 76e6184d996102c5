internal import Glibc

extension ArraySlice<UInt8> {
    /// Whether the slice begins with the bytes of `literal`.
    @usableFromInline
    package func begins(with literal: StaticString) -> Bool {
        withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, bytes.count >= literal.utf8CodeUnitCount else { return false }
            return memcmp(start, literal.utf8Start, literal.utf8CodeUnitCount) == 0
        }
    }

    /// Whether the slice's bytes are those of `literal`.
    package func isSame(as literal: StaticString) -> Bool {
        count == literal.utf8CodeUnitCount && begins(with: literal)
    }

    /// Whether both slices have the same bytes.
    package func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return memcmp(left, right, other.count) == 0
            }
        }
    }

    /// Whether the slice's bytes are those of `text` in UTF-8.
    package func isSame(as text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        // A native Swift string is always contiguous.
        let isSame = text.utf8.withContiguousStorageIfAvailable { right in
            withUnsafeBufferPointer { left in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return memcmp(left, right, count) == 0
            }
        }
        return isSame ?? elementsEqual(text.utf8)
    }

    /// The bytes after `literal`; `nil` if the slice does not begin with it.
    @inlinable
    package func dropping(_ literal: StaticString) -> ArraySlice<UInt8>? {
        begins(with: literal) ? dropFirst(literal.utf8CodeUnitCount) : nil
    }

    /// The first index of `byte`; `nil` if the slice does not contain it.
    package func position(of byte: UInt8) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - UnsafeRawPointer(start))
        }
    }

    /// The first range of some bytes; `nil` if the slice does not contain them. The standard library's search takes
    /// fifty times as long.
    package func firstRange(of bytes: [UInt8]) -> Range<Int>? {
        guard let first = bytes.first else { return startIndex..<startIndex }
        return withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { return nil }
            var begin = 0
            while begin + bytes.count <= text.count,
                let found = memchr(start + begin, Int32(first), text.count - bytes.count + 1 - begin)
            {
                begin = UnsafeRawPointer(found) - UnsafeRawPointer(start)
                if memcmp(start + begin, bytes, bytes.count) == 0 {
                    return (startIndex + begin)..<(startIndex + begin + bytes.count)
                }
                begin += 1
            }
            return nil
        }
    }
}
