internal import Glibc
package import HTTPMessages
internal import TextEncodings

/// The proxies whose `X-Forwarded-For` tells the address of a client. It decides nothing but what the log says.
package struct TrustedProxies: Sendable {
    private var networks: [Network] = []
    private var trustsUnixSockets = false

    /// No proxy is trusted.
    init() {}

    /// - Parameters:
    ///   - texts: Addresses, networks in CIDR notation (RFC 4632, 3.1), or `unix` for peers on Unix sockets.
    ///   - refuse: Called with what is wrong with one of the texts.
    package init(_ texts: [String], refuse: (String) -> Void) {
        for text in texts {
            if text.hasSameBytes(as: "unix") {
                trustsUnixSockets = true
            } else if let network = Network(text) {
                networks.append(network)
            } else {
                refuse(
                    "is '\(printable(text))'; expected an IP address, a network by its first address such as 10.0.0.0/8, or unix"
                )
            }
        }
    }

    /// The address of the client, as the nearest proxy that is not trusted was seen by one that is; `nil` if the peer is
    /// not trusted, or an address that is needed cannot be read.
    package func client(of request: HTTPRequest) -> String? {
        guard trustsUnixSockets || !networks.isEmpty, trusts(request.peer) else { return nil }
        for value in request.values(of: GateField.forwardedFor).reversed() {
            for text in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).reversed() {
                let text = String(decoding: text.trimmingBlanks(), as: UTF8.self)
                guard let address = Address(text) else { return nil }
                if !trusts(address) { return text }
            }
        }
        return nil
    }

    /// - Parameter peer: The address of a connection; empty for a Unix socket.
    private func trusts(_ peer: String) -> Bool {
        peer.isEmpty ? trustsUnixSockets : Address(peer).map(trusts) ?? false
    }

    private func trusts(_ address: Address) -> Bool { networks.contains { $0.contains(address) } }

    /// An IPv6 address, or an IPv4 address in its place there (RFC 4291, 2.5.5.2).
    private struct Address: Equatable {
        var bits: (high: UInt64, low: UInt64)
        let isShort: Bool

        init?(_ text: String) {
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
        func prefix(_ count: Int) -> Address {
            var prefix = self
            prefix.bits.high &= Self.mask(count)
            prefix.bits.low &= Self.mask(count - 64)
            return prefix
        }

        private static func mask(_ count: Int) -> UInt64 { count <= 0 ? 0 : ~0 << UInt64(max(0, 64 - count)) }

        static func == (left: Self, right: Self) -> Bool { left.bits == right.bits }
    }

    /// The addresses with the same first bits.
    private struct Network {
        private let first: Address
        private let length: Int

        init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let address = Address(String(parts[0])) else { return nil }
            let most = address.isShort ? 32 : 128
            guard let length = parts.count == 1 ? most : UInt8(parts[1]).map(Int.init), length <= most,
                parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy(\.isDigit) })
            else { return nil }
            self.length = length + 128 - most
            first = address.prefix(self.length)
            // An address within a network, in place of the network's own, is most likely a slip.
            guard first == address else { return nil }
        }

        func contains(_ address: Address) -> Bool { address.prefix(length) == first }
    }
}
