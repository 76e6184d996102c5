internal import Glibc

/// An IPv6 address, or an IPv4 address in its place there (RFC 4291, 2.5.5.2).
package struct IPAddress: Equatable, Sendable {
    private var bits: (high: UInt64, low: UInt64)
    /// Whether the address was written as an IPv4 address.
    package let isShort: Bool

    /// Reads an address. The result is `nil` for any other text.
    package init?(_ text: String) {
        // An address with the name of an interface (%eth0) is none of a client.
        let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit || ".:".utf8.contains($0) }
        var (short, long) = (in_addr(), in6_addr())
        isShort = inet_pton(AF_INET, text, &short) == 1
        guard isPlain, isShort || inet_pton(AF_INET6, text, &long) == 1 else { return nil }
        if isShort {
            bits = (0, 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: short.s_addr)))
        } else {
            bits = withUnsafeBytes(of: &long) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
        }
    }

    /// The address with all bits after the first `count` cleared.
    fileprivate func prefix(_ count: Int) -> IPAddress {
        var prefix = self
        prefix.bits.high &= Self.mask(count)
        prefix.bits.low &= Self.mask(count - 64)
        return prefix
    }

    private static func mask(_ count: Int) -> UInt64 { count <= 0 ? 0 : ~0 << UInt64(max(0, 64 - count)) }

    package static func == (left: Self, right: Self) -> Bool { left.bits == right.bits }
}

/// The addresses with the same first bits: a network in CIDR notation (RFC 4632, 3.1), or a single address.
package struct IPNetwork: Sendable {
    private let first: IPAddress
    private let length: Int
    /// Whether the network was written with its first address, as `10.0.0.0/8` is and `10.1.2.3/8` is not.
    package let beginsWithItsAddress: Bool

    /// Whether the network was written with an IPv4 address.
    package var isShort: Bool { first.isShort }

    /// Reads a network. The result is `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let most = address.isShort ? 32 : 128
        guard let length = parts.count == 1 ? most : UInt8(parts[1]).map(Int.init), length <= most,
            parts.dropFirst().allSatisfy({ $0 == String(length) })
        else { return nil }
        self.length = length + 128 - most
        first = address.prefix(self.length)
        beginsWithItsAddress = first == address
    }

    package func contains(_ address: IPAddress) -> Bool { address.prefix(length) == first }

    /// Whether every address of `other` is one of this network.
    package func contains(_ other: IPNetwork) -> Bool { other.length >= length && contains(other.first) }
}
