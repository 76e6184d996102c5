package import Basics
package import HTTP
internal import StreamPaths

/// A proxy that is trusted to tell the address of its client.
package enum TrustedProxy: Sendable {
    case unixSockets
    case network(IPNetwork)

    static let forms = "an IP address, a network by its first address such as 10.0.0.0/8, or unix"

    /// Reads an address, a network in CIDR notation (RFC 4632, 3.1), or `unix` for peers on Unix sockets; `nil` for any
    /// other text.
    package init?(_ text: String) {
        if text.hasSameBytes(as: "unix") {
            self = .unixSockets
        } else if let network = IPNetwork(text), network.beginsWithItsAddress {
            self = .network(network)
        } else {
            return nil
        }
    }
}

/// The proxies whose `X-Forwarded-For` tells the address of a client. It decides nothing but what the log says.
package struct TrustedProxies: Sendable {
    private let networks: [IPNetwork]
    private let trustsUnixSockets: Bool

    package init(_ proxies: [TrustedProxy] = []) {
        networks = proxies.compactMap { if case .network(let network) = $0 { network } else { nil } }
        trustsUnixSockets = proxies.contains { if case .unixSockets = $0 { true } else { false } }
    }

    /// The address of the client, as the nearest proxy that is not trusted was seen by one that is; `nil` if the peer
    /// is not trusted, or an address that is needed cannot be read.
    package func client(of request: HTTPRequest) -> String? {
        guard trustsUnixSockets || !networks.isEmpty, trusts(request.peer) else { return nil }
        for value in request.values(of: GateField.forwardedFor).reversed() {
            for text in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).reversed() {
                let text = Self.withoutPort(text.trimmingBlanks())
                guard let address = IPAddress(text) else { return nil }
                if !trusts(address) { return text }
            }
        }
        return nil
    }

    /// The address in `IP`, `IP:PORT`, `[IPv6]` or `[IPv6]:PORT`, all of which proxies write; any other text as it is.
    private static func withoutPort(_ hop: ArraySlice<UInt8>) -> String {
        let text = String(decoding: hop, as: UTF8.self)
        guard IPAddress(text) == nil, let host = StreamHost(hop) else { return text }
        return host.name.hasPrefix("[") ? String(host.name.dropFirst().dropLast()) : host.name
    }

    /// - Parameter peer: The address of a connection; empty for a Unix socket.
    private func trusts(_ peer: String) -> Bool {
        peer.isEmpty ? trustsUnixSockets : IPAddress(peer).map(trusts) ?? false
    }

    private func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }
}
