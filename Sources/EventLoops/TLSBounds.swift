internal import CLibSSL

/// Bounds what a peer can have libssl do, which by itself goes on for as long as a peer sends records without data.
///
/// libssl's own objects keep the counts, as numbers in the place of pointers: its callbacks find them there.
enum TLSBounds {
    /// The most reads from the socket in one call, of which a record takes two. Other connections of the event loop
    /// have their turns then; the loop calls again, since the socket can still be read.
    private static let mostReads = 4
    /// The most messages of TLS itself since the last data, those of the handshake included: a handshake takes ten at
    /// most, and some servers send a few session tickets after it.
    private static let mostMessages = 32

    /// A new session on a socket, which the caller owns; `nil` if memory ran out. The context must be ``watch(_:)``ed.
    static func session(in context: OpaquePointer?, on socket: Int32) -> OpaquePointer? {
        guard let session = SSL_new(context) else { return nil }
        guard SSL_set_fd(session, socket) == 1, let source = SSL_get_rbio(session) else {
            SSL_free(session)
            return nil
        }
        BIO_set_callback_ex(source) { source, operation, _, _, _, _, result, _ in
            guard operation == BIO_CB_READ else { return Int(result) }
            let reads = Int(bitPattern: BIO_get_callback_arg(source))
            guard reads < TLSBounds.mostReads else {
                // As if nothing more had come.
                BIO_set_flags(source, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            BIO_set_callback_arg(source, UnsafeMutablePointer(bitPattern: reads + 1))
            return Int(result)
        }
        return session
    }

    /// Has the sessions of an `SSL_CTX` count the messages of TLS itself, of which a call takes one.
    static func watch(_ context: OpaquePointer) {
        // A record may have thousands of them.
        SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        // libssl refuses a renegotiation by a warning alone, and the next one too.
        SSL_CTX_set_options(context, noRenegotiation)
        SSL_CTX_set_msg_callback(context) { isSent, _, kind, bytes, length, session, _ in
            guard let session else { return }
            let isRefusal =
                kind == SSL3_RT_ALERT && length == 2
                && bytes?.load(fromByteOffset: 1, as: UInt8.self) == UInt8(SSL_AD_NO_RENEGOTIATION)
            if isSent == 0, kind <= SSL3_RT_HANDSHAKE {
                TLSBounds.count(TLSBounds.messages(of: session) + 1, of: session)
            } else if isSent != 0, isRefusal {
                TLSBounds.count(TLSBounds.mostMessages + 1, of: session)
            }
        }
    }

    /// Makes one call of libssl.
    ///
    /// - Returns: The call's result; `nil` if the peer goes beyond the bounds, and its connection must end.
    static func call(_ session: OpaquePointer, _ call: (OpaquePointer) -> Int32) -> Int32? {
        ERR_clear_error()
        BIO_set_callback_arg(SSL_get_rbio(session), nil)
        let result = call(session)
        if result > 0 { count(0, of: session) }
        return messages(of: session) > mostMessages ? nil : result
    }

    private static func messages(of session: OpaquePointer) -> Int { Int(bitPattern: SSL_get_ex_data(session, 0)) }

    private static func count(_ messages: Int, of session: OpaquePointer) {
        SSL_set_ex_data(session, 0, UnsafeMutableRawPointer(bitPattern: messages))
    }

    /// SSL_OP_NO_RENEGOTIATION, a macro that the importer does not see: bit 30.
    private static let noRenegotiation: UInt64 = 1 << 30
}
