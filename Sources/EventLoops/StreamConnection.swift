internal import CLibEvent
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

    private enum Phase {
        case lookingUp
        case connecting
        /// TLS's handshake.
        case securing
        case open
    }

    private let loop: EventLoop
    private let host: String
    private let tls: TLSClient?
    private let received: (UnsafeRawBufferPointer) -> Void
    private let ended: (Ending) -> Void
    private var lookUp: AddressWait?
    /// The addresses that have not been tried yet.
    private var addresses: [SocketAddress] = []
    private var stream: ByteStream?
    private var socket: Int32 = -1
    private var watch: SocketWatch?
    private var phase = Phase.lookingUp
    /// Ends the attempt at an address that does not answer, if there is another address.
    private var patience: LoopTimer?
    /// What waits for a connection, or for room in the socket.
    private var unsent: [UInt8] = []

    /// How long an address may take to answer before the next one is tried, and the resolver before the addresses that
    /// it gave last are. Callers of a store have deadlines of some hundred milliseconds, and an answer within one
    /// network takes less than one.
    private static let attemptMilliseconds = 80
    private static let largestRead = 64 << 10

    /// Begins to connect. Bytes can be sent at once.
    ///
    /// - Parameters:
    ///   - host: a name, which another thread looks up, or an address.
    ///   - tls: what this side shows and demands; `nil` for TCP alone.
    ///   - received: called with bytes that came.
    ///   - ended: called once when the connection could not be made or has ended, unless it was closed before. It is
    ///     never called from within ``send(_:)``.
    package init(
        to host: String, port: UInt16, tls: TLSClient?, on loop: EventLoop,
        received: @escaping (UnsafeRawBufferPointer) -> Void, ended: @escaping (Ending) -> Void
    ) throws(Ending) {
        self.loop = loop
        self.host = host
        self.tls = tls
        self.received = received
        self.ended = ended
        let place = HostAddresses.Host(name: host, port: port)
        if let written = HostAddresses.written(in: place) {
            addresses = written
            try connect()
            return
        }
        do {
            lookUp = try AddressWait(for: place, patience: Self.attemptMilliseconds, on: loop) { [unowned self] found in
                do throws(Ending) {
                    addresses = try found.get()
                    try connect()
                } catch { end(error) }
            }
        } catch {
            throw Ending(description: "cannot be looked up: no file descriptors left")
        }
    }

    deinit {
        close()
    }

    /// Sends bytes, in the order of the calls.
    package func send(_ bytes: [UInt8]) {
        unsent += bytes
        if case .open = phase, watch?.watchesWriting == false { flush() }
    }

    /// Ends the connection. No callback is called afterwards.
    package func close() {
        lookUp = nil
        patience = nil
        watch = nil
        stream = nil
    }

    /// Tries the next address.
    private func connect() throws(Ending) {
        close()
        guard !addresses.isEmpty else { throw Ending(description: "cannot be reached: it has no address") }
        let address = addresses.removeFirst()
        let stream: ByteStream
        do { stream = try ByteStream(connectingTo: address.family, tls, host: host) } catch {
            throw Ending(description: "cannot be reached: \(error)")
        }
        socket = stream.socket
        self.stream = consume stream
        phase = .connecting
        guard address.withPointer({ Glibc.connect(socket, $0, $1) }) == 0 || errno == EINPROGRESS else {
            let reason = Ending(description: "cannot be reached: \(Self.text(of: errno))")
            if addresses.isEmpty { throw reason }
            return try connect()
        }
        watch = SocketWatch(loop, socket) { [unowned self] canWrite in handle(canWrite: canWrite) }
        watch?.watchWriting(true)
        guard !addresses.isEmpty else { return }
        patience = loop.timer(afterMilliseconds: Self.attemptMilliseconds) { [unowned self] in
            do throws(Ending) { try connect() } catch { end(error) }
        }
    }

    private func handle(canWrite: Bool) {
        switch phase {
        case .lookingUp: break
        case .connecting:
            let error = stream?.pendingError ?? 0
            guard error == 0 else { return fail(error) }
            patience = nil
            Self.tune(socket)
            phase = .securing
            secure()
        case .securing: secure()
        case .open: canWrite ? flush() : receive()
        }
    }

    /// Goes on with TLS's handshake, which without TLS is over before it begins.
    private func secure() {
        switch stream?.secure() {
        case .moved?:
            phase = .open
            watch?.watchReading(true)
            flush()
        case .waitsToRead?:
            watch?.watchReading(true)
            watch?.watchWriting(false)
        case .waitsToWrite?: watch?.watchWriting(true)
        case .ended?: fail(0)
        case .failed(let error)?: fail(error)
        case nil: break
        }
    }

    private func flush() {
        while !unsent.isEmpty {
            switch unsent.withUnsafeBytes({ stream?.write($0) }) {
            case .moved(let count)?: unsent.removeFirst(count)
            case .waitsToRead?, .waitsToWrite?:
                watch?.watchWriting(true)
                return
            // The next read tells why the connection has ended.
            case .ended?, .failed?, nil: unsent = []
            }
        }
        watch?.watchWriting(false)
    }

    private func receive() {
        withUnsafeTemporaryAllocation(byteCount: Self.largestRead, alignment: 1) { space in
            switch stream?.read(into: space) {
            case .moved(let count)?: received(UnsafeRawBufferPointer(rebasing: space[..<count]))
            case .waitsToRead?, nil: break
            case .waitsToWrite?: watch?.watchWriting(true)
            case .ended?: fail(0)
            case .failed(let error)?: fail(error)
            }
        }
    }

    /// - Parameter error: the system's error; 0 if the peer has closed the connection, or TLS has failed.
    private func fail(_ error: Int32) {
        // Before TLS has begun, the thread's errors of TLS are those of other connections.
        let refusal = if case .connecting = phase { String?.none } else { stream?.refusal(of: tls) }
        let wasConnected = if case .open = phase { true } else { false }
        if !wasConnected, refusal == nil, !addresses.isEmpty {
            do { return try connect() } catch { return end(error) }
        }
        let reason = error == 0 ? "closed the connection" : "cannot be reached: \(Self.text(of: error))"
        end(Ending(description: refusal ?? reason, wasConnected: wasConnected))
    }

    private func end(_ ending: Ending) {
        close()
        ended(ending)
    }

    /// Sends small commands at once, and finds out within half a minute about a server that vanished without a word,
    /// even on a connection that is hardly used.
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
