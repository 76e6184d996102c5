internal import Glibc

/// Where a server listens, and whether in TLS.
package struct HTTPListener: Sendable, Equatable, CustomStringConvertible {
    package enum Socket: Sendable, Equatable {
        /// An address and a port; port 0 for any that is free.
        case tcp(host: String, port: UInt16)
        /// A path, for those who may write to it.
        case unix(String)
        /// Sockets that systemd has opened: those of a name (`FileDescriptorName=`), or all of them.
        case systemd(name: String?)
    }

    package var socket: Socket
    package var isTLS: Bool

    package init(_ socket: Socket, isTLS: Bool = false) {
        (self.socket, self.isTLS) = (socket, isTLS)
    }

    /// The socket that a program of this host connects to: a wildcard is the loopback address.
    package var socketOfThisHost: Socket {
        guard case .tcp(let host, let port) = socket else { return socket }
        return .tcp(host: ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host, port: port)
    }

    /// The texts that are understood, for help and messages.
    package static let forms = "IP:PORT, unix:PATH, systemd or systemd:NAME, each after tls: if in TLS"

    /// Reads one of ``forms``. An IPv6 address has brackets; a port without an address is that of all IPv4 addresses.
    package init?(_ text: String) {
        isTLS = text.hasPrefix("tls:")
        let text = isTLS ? text.dropFirst(4) : text[...]
        if text == "systemd" {
            socket = .systemd(name: nil)
        } else if let name = text.behind("systemd:") {
            socket = .systemd(name: name)
        } else if let path = text.behind("unix:"), path.utf8.count <= sockaddr_un.longestName {
            socket = .unix(path)
        } else if let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) {
            var host = text[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            if isBracketed { host = host.dropFirst().dropLast() }
            guard host.isEmpty ? !isBracketed : Self.isAddress(String(host)) else { return nil }
            socket = .tcp(host: host.isEmpty ? "0.0.0.0" : String(host), port: port)
        } else {
            return nil
        }
    }

    /// Whether this address serves clear text to a network: TCP without TLS, on an address other than the loopback.
    package var isExposed: Bool {
        guard !isTLS, case .tcp(let host, _) = socket else { return false }
        return !Self.isLoopback(host)
    }

    /// Whether an address is in 127.0.0.0/8, is ::1, or is the former as an address of IPv6.
    package static func isLoopback(_ host: String) -> Bool {
        var (short, long) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, host, &short) == 1 { return UInt32(bigEndian: short.s_addr) >> 24 == 127 }
        guard inet_pton(AF_INET6, host, &long) == 1 else { return false }
        let bytes = withUnsafeBytes(of: &long) { Array($0) }
        if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] == 1 }
        return bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10...12] == [0xFF, 0xFF, 127]
    }

    private static func isAddress(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
    }

    package var description: String {
        let text =
            switch socket {
            case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unix(let path): "unix:\(path)"
            case .systemd(let name): name.map { "systemd:\($0)" } ?? "systemd"
            }
        return (isTLS ? "tls:" : "") + text
    }
}

extension Substring {
    /// What follows `prefix`; `nil` where nothing does.
    fileprivate func behind(_ prefix: String) -> String? {
        hasPrefix(prefix) && utf8.count > prefix.utf8.count ? String(dropFirst(prefix.count)) : nil
    }
}
