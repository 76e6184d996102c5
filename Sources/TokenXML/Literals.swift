internal import Glibc

extension ArraySlice<UInt8> {
    /// Whether the first bytes are those of `literal`.
    package func begins(with literal: StaticString) -> Bool {
        withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, bytes.count >= literal.utf8CodeUnitCount else { return false }
            return memcmp(start, literal.utf8Start, literal.utf8CodeUnitCount) == 0
        }
    }

    /// What is behind `literal`; `nil` where that does not come first.
    package func dropping(_ literal: StaticString) -> ArraySlice<UInt8>? {
        begins(with: literal) ? dropFirst(literal.utf8CodeUnitCount) : nil
    }

    /// Where `byte` is first; `nil` where it is not.
    package func position(of byte: UInt8) -> Int? {
        withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - UnsafeRawPointer(start))
        }
    }
}
