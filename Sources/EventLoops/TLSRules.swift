internal import Basics
internal import CLibSSL

/// What both sides of TLS have in common: TLS 1.3, or TLS 1.2 with forward secrecy (ECDHE) and authenticated encryption
/// (AEAD) only, without renegotiation, and how a side loads its certificate.
package enum TLSRules {
    /// The cipher suites for TLS 1.2. All suites of TLS 1.3 have these properties.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

    /// Applies the rules to an `SSL_CTX`.
    package static func apply(to context: OpaquePointer) throws(TLSError) {
        // A peer that ends TCP without ending TLS first has ended; the protocol on top tells whether something is
        // missing.
        SSL_CTX_set_options(context, ignoresMissingEnd)
        // A key with a password would otherwise be asked for on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        TLSBounds.watch(context)
        let partly = Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, partly, nil)
        let lowest = SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        guard lowest == 1, SSL_CTX_set_cipher_list(context, ciphers) == 1 else {
            throw TLSError("TLS", "version 1.2 with ECDHE and AEAD cannot be demanded")
        }
    }

    /// SSL_OP_IGNORE_UNEXPECTED_EOF, a macro that the importer does not see: bit 7.
    private static let ignoresMissingEnd: UInt64 = 1 << 7

    /// Has an `SSL_CTX` show a certificate; both files are PEM, and the key has no password.
    package static func show(_ certificate: String, key: String, in context: OpaquePointer) throws(TLSError) {
        try load(certificate, "expected a certificate as PEM") {
            SSL_CTX_use_certificate_chain_file(context, $0) == 1
        }
        try load(key, "expected the key of \(certificate) as PEM, without a password") {
            SSL_CTX_use_PrivateKey_file(context, $0, SSL_FILETYPE_PEM) == 1
        }
        // libssl takes a key of another kind than the certificate's for another certificate's, and no handshake would
        // succeed.
        guard SSL_CTX_check_private_key(context) == 1 else {
            throw TLSError(key, "expected the key of \(certificate)")
        }
    }

    /// Has libssl read a file, and throws if it cannot.
    package static func load(_ file: String, _ expected: String, _ use: (String) -> Bool) throws(TLSError) {
        let isRead: Bool
        do throws(FileError) { isRead = try FileBytes.withFile(file, use) } catch {
            throw TLSError(file, "\(error)")
        }
        guard isRead else { throw TLSError(file, expected) }
    }
}

/// The reason why TLS cannot be set up, in one line that begins with the file or the setting.
package struct TLSError: Error, CustomStringConvertible {
    package let description: String

    /// Takes libssl's own reason up, and clears it.
    package init(_ place: String, _ expected: String) {
        let reason = ERR_reason_error_string(ERR_peek_last_error()).map { " (libssl: \(String(cString: $0)))" } ?? ""
        ERR_clear_error()
        description = "\(place): \(expected)\(reason)"
    }
}
