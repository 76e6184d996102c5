internal import CLibSSL
internal import Glibc

/// A socket whose reads and writes never wait, in the clear or in TLS. It closes the socket with its own end.
package struct ByteStream: ~Copyable {
    /// What came of an attempt to read, to write, or to agree on TLS.
    package enum Outcome: Equatable {
        /// So many bytes were moved, at least one.
        case moved(Int)
        /// Nothing could be moved. The attempt can be repeated when the socket can be read.
        case waitsToRead
        /// Nothing could be moved. The attempt can be repeated when the socket can be written.
        case waitsToWrite
        /// The peer sends no more.
        case ended
        /// The connection has failed: the system's error, or 0 if TLS has failed.
        case failed(Int32)
    }

    package let socket: Int32
    /// libssl's session, which this stream owns; `nil` in the clear.
    private let session: OpaquePointer?

    /// Takes over a connection that was accepted.
    ///
    /// - Parameters:
    ///   - socket: a socket that does not block; the stream closes it.
    ///   - tls: the server's side of TLS; `nil` for a stream in the clear.
    /// - Returns: `nil`, with the socket closed, if memory ran out.
    package init?(_ socket: Int32, accepting tls: TLSServer?) {
        let session = tls.flatMap { $0.session(on: socket) }
        guard tls == nil || session != nil else {
            Glibc.close(socket)
            return nil
        }
        (self.socket, self.session) = (socket, session)
    }

    /// Makes a socket that is to be connected.
    ///
    /// - Parameters:
    ///   - family: the address family, such as `AF_INET`.
    ///   - tls: the client's side of TLS; `nil` for a stream in the clear.
    ///   - host: the name or address of the server, for TLS.
    init(connectingTo family: Int32, _ tls: TLSClient?, host: String) throws(TLSError) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(family, kind, 0)
        guard socket >= 0 else { throw TLSError("no socket", String(cString: strerror(errno))) }
        do throws(TLSError) {
            session = try tls?.session(for: host, on: socket)
        } catch {
            Glibc.close(socket)
            throw error
        }
        self.socket = socket
    }

    deinit {
        if let session { SSL_free(session) }
        Glibc.close(socket)
    }

    /// The error of an attempt to connect that has come to its end; 0 if the socket is connected.
    var pendingError: Int32 {
        var (error, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Goes on with TLS's handshake. It is over if bytes could be moved, and in the clear always.
    func secure() -> Outcome {
        guard let session else { return .moved(1) }
        return outcome(of: session) { SSL_do_handshake($0) }
    }

    /// Reads bytes that have come.
    package func read(into space: UnsafeMutableRawBufferPointer) -> Outcome {
        if let session {
            return outcome(of: session) { SSL_read($0, space.baseAddress, Int32(clamping: space.count)) }
        }
        let count = recv(socket, space.baseAddress, space.count, 0)
        if count > 0 { return .moved(count) }
        return count == 0 ? .ended : errno == EAGAIN || errno == EINTR ? .waitsToRead : .failed(errno)
    }

    /// Writes bytes, or a first part of them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let session {
            return outcome(of: session) { SSL_write($0, bytes.baseAddress, Int32(clamping: bytes.count)) }
        }
        let count = send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count > 0 { return .moved(count) }
        return errno == EAGAIN || errno == EINTR ? .waitsToWrite : .failed(errno)
    }

    /// Tells the peer that no more bytes will come.
    package func finishWriting() {
        if let session { _ = TLSBounds.call(session) { SSL_shutdown($0) } }
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Why one side refused the other's TLS when an attempt failed just now; `nil` if neither did.
    func refusal(of tls: TLSClient?) -> String? { session.flatMap { tls?.refusal(on: $0) } }

    private func outcome(of session: OpaquePointer, _ call: (OpaquePointer) -> Int32) -> Outcome {
        guard let result = TLSBounds.call(session, call) else { return .failed(EPROTO) }
        let error = errno
        if result > 0 { return .moved(Int(result)) }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .waitsToRead
        case SSL_ERROR_WANT_WRITE: return .waitsToWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL: return .failed(error)
        default: return .failed(0)
        }
    }
}
