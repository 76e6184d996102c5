internal import CLibEvent
internal import CLibEventTLS
internal import Glibc

/// A connection to a server over TCP, or over TLS on top of it, driven by an event loop.
///
/// It belongs to the loop's thread. The addresses of a name are tried one after the other, until one of them takes the
/// connection.
package final class StreamConnection {
    /// Why there is no connection, or none any more, in one line that names no server.
    package struct Ending: Error, CustomStringConvertible {
        package let description: String
        /// Whether there was a connection before.
        package var wasConnected = false
    }

    private let loop: EventLoop
    private let host: String
    private let tls: TLSClient?
    private let received: (UnsafeRawBufferPointer) -> Void
    private let ended: (Ending) -> Void
    /// The addresses that have not been tried yet.
    private var addresses: [SocketAddress]
    private var buffer: OpaquePointer?
    private var isConnected = false
    /// Ends the attempt at an address that does not answer, if there is another address.
    private var patience: LoopTimer?

    /// How long an address may take to answer before the next one is tried. Callers of a store have deadlines of some
    /// hundred milliseconds, and an answer within one network takes less than one.
    private static let attemptMilliseconds = 80
    /// What is to be sent once there is a connection.
    private var unsent: [UInt8] = []

    /// Begins to connect. Bytes can be sent at once.
    ///
    /// - Parameters:
    ///   - host: a name, which is looked up before this returns, or an address.
    ///   - tls: what this side shows and demands; `nil` for TCP alone.
    ///   - received: called with bytes that came.
    ///   - ended: called once when the connection could not be made or has ended, unless it was closed before.
    package init(
        to host: String, port: UInt16, tls: TLSClient?, on loop: EventLoop,
        received: @escaping (UnsafeRawBufferPointer) -> Void, ended: @escaping (Ending) -> Void
    ) throws(Ending) {
        self.loop = loop
        self.host = host
        self.tls = tls
        self.received = received
        self.ended = ended
        addresses = try SocketAddress.lookUp(host, port: port)
        try connect()
    }

    deinit {
        close()
    }

    /// Sends bytes, in the order of the calls.
    package func send(_ bytes: [UInt8]) {
        if isConnected, let buffer {
            bytes.withUnsafeBytes { _ = bufferevent_write(buffer, $0.baseAddress, $0.count) }
        } else {
            unsent += bytes
        }
    }

    /// Ends the connection. No callback is called afterwards.
    package func close() {
        patience = nil
        guard let buffer else { return }
        self.buffer = nil
        bufferevent_free(buffer)
    }

    /// Tries the next address.
    private func connect() throws(Ending) {
        close()
        guard !addresses.isEmpty else { throw Ending(description: "cannot be reached: it has no address") }
        let address = addresses.removeFirst()
        let options = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        let made: OpaquePointer?
        if let tls {
            let session: OpaquePointer
            do { session = try tls.session(for: host) } catch {
                throw Ending(description: "cannot be reached: \(error)")
            }
            // The buffer frees the session.
            made = bufferevent_openssl_socket_new(loop.base, -1, session, BUFFEREVENT_SSL_CONNECTING, options)
        } else {
            made = bufferevent_socket_new(loop.base, -1, options)
        }
        guard let made else { throw Ending(description: "cannot be reached: out of memory") }
        buffer = made
        // A peer that ends TCP without ending TLS first; the protocol on top tells whether something is missing.
        if tls != nil { bufferevent_openssl_set_allow_dirty_shutdown(made, 1) }
        bufferevent_setcb(made, Self.read, nil, Self.happened, Unmanaged.passUnretained(self).toOpaque())
        bufferevent_enable(made, Int16(EV_READ | EV_WRITE))
        guard address.withPointer({ bufferevent_socket_connect(made, $0, $1) }) == 0 else {
            let reason = Ending(description: "cannot be reached: \(Self.text(of: errno))")
            if addresses.isEmpty { throw reason }
            return try connect()
        }
        guard !addresses.isEmpty else { return }
        patience = loop.timer(afterMilliseconds: Self.attemptMilliseconds) { [unowned self] in
            do throws(Ending) { try connect() } catch { end(error) }
        }
    }

    // The pointers are unretained: the buffer is freed with this object at the latest.
    private static let read: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { buffer, owner in
        guard let owner, let input = bufferevent_get_input(buffer) else { return }
        let connection = Unmanaged<StreamConnection>.fromOpaque(owner).takeUnretainedValue()
        let count = evbuffer_get_length(input)
        guard count > 0, let bytes = evbuffer_pullup(input, -1) else { return }
        // libevent holds the buffer until this returns, even if the connection is closed meanwhile.
        withExtendedLifetime(connection) {
            connection.received(UnsafeRawBufferPointer(start: bytes, count: count))
            evbuffer_drain(input, count)
            connection.receiveRest()
        }
    }

    /// Reads what else has come: libevent reads at most 4 KiB for each event. The end of the connection is left to
    /// libevent, which is told of it again.
    private func receiveRest() {
        guard tls == nil, let buffer else { return }
        let socket = bufferevent_getfd(buffer)
        withUnsafeTemporaryAllocation(byteCount: Self.largestRead, alignment: 1) { space in
            let count = Glibc.read(socket, space.baseAddress, space.count)
            if count > 0 { received(UnsafeRawBufferPointer(rebasing: space[..<count])) }
        }
    }

    private static let largestRead = 64 << 10

    private static let happened: @convention(c) (OpaquePointer?, Int16, UnsafeMutableRawPointer?) -> Void = {
        _, events, owner in
        let error = errno
        guard let owner else { return }
        let connection = Unmanaged<StreamConnection>.fromOpaque(owner).takeUnretainedValue()
        withExtendedLifetime(connection) { connection.handle(Int32(events), error) }
    }

    private func handle(_ events: Int32, _ error: Int32) {
        guard let buffer else { return }
        if events & BEV_EVENT_CONNECTED != 0 {
            isConnected = true
            patience = nil
            Self.tune(bufferevent_getfd(buffer))
            let waiting = unsent
            unsent = []
            if !waiting.isEmpty { send(waiting) }
            return
        }
        let refusal = tls?.refusal(on: buffer)
        if !isConnected, refusal == nil, !addresses.isEmpty {
            do { return try connect() } catch { return end(error) }
        }
        let isClosed = events & BEV_EVENT_EOF != 0 || error == 0
        let reason = isClosed ? "closed the connection" : "cannot be reached: \(Self.text(of: error))"
        end(Ending(description: refusal ?? reason, wasConnected: isConnected))
    }

    private func end(_ ending: Ending) {
        close()
        ended(ending)
    }

    /// Sends small commands at once, and finds out within half a minute about a server that vanished without a word, even
    /// on a connection that is hardly used.
    private static func tune(_ socket: Int32) {
        for (level, option, value) in [
            (Int32(IPPROTO_TCP), TCP_NODELAY, 1), (SOL_SOCKET, SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15),
            (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5), (Int32(IPPROTO_TCP), TCP_KEEPCNT, 3),
        ] as [(Int32, Int32, Int32)] {
            var value = value
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    private static func text(of error: Int32) -> String { String(cString: strerror(error)) }
}

/// A socket address, as the resolver returns it.
private struct SocketAddress {
    private let bytes: [UInt8]

    /// Looks up a name, which may take as long as the host's resolver does.
    static func lookUp(_ host: String, port: UInt16) throws(StreamConnection.Ending) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0 else {
            throw StreamConnection.Ending(description: "cannot be looked up: \(String(cString: gai_strerror(code)))")
        }
        return sequence(first: found) { $0?.pointee.ai_next }.compactMap { entry in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            return SocketAddress(
                bytes: [UInt8](UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))))
        }
    }

    func withPointer<Value>(_ body: (UnsafeMutablePointer<sockaddr>?, Int32) -> Value) -> Value {
        var copy = bytes
        return copy.withUnsafeMutableBytes {
            body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), Int32($0.count))
        }
    }
}
