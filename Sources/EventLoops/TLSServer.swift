internal import CLibSSL
internal import Glibc

/// A server's side of TLS, by ``TLSRules``: the certificate that it shows, and what it demands of its clients.
///
/// `@unchecked Sendable`: the context is set up once. From then on libssl counts its references itself, on any thread.
package final class TLSServer: @unchecked Sendable {
    /// Files of PEM.
    package struct Files: Sendable, Equatable {
        /// The certificate, and behind it those that lead to its authority.
        package var certificate: String
        /// The certificate's private key, without a password.
        package var key: String
        /// Authorities whose clients are served; `nil` for any client at all.
        package var clientAuthorities: String?
        /// Accepted client names. A client's certificate must have one of them as a DNS name or, if it has no DNS name, as its
        /// common name. If the list is empty, every certificate of the authorities is accepted.
        package var clientNames: [String] = []

        package init(certificate: String, key: String, clientAuthorities: String? = nil) {
            (self.certificate, self.key, self.clientAuthorities) = (certificate, key, clientAuthorities)
        }

        /// Whether `name` can be compared literally. libssl would read a leading dot as "any host below".
        package static func isClientName(_ name: String) -> Bool {
            !name.isEmpty && !name.hasPrefix(".") && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x2A }
        }
    }

    private let context: OpaquePointer
    /// The file of its certificate.
    package let certificate: String
    /// When the certificate ends, in seconds since 1970.
    package private(set) var end: Int64 = 0

    /// - Throws: which file is not what it should be.
    package init(_ files: Files) throws(TLSError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError("TLS", "cannot be set up") }
        (self.context, certificate) = (context, files.certificate)
        SSL_CTX_set_options(context, Self.serverPreference)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        try TLSRules.apply(to: context)
        try TLSRules.show(files.certificate, key: files.key, in: context)
        guard files.clientNames.isEmpty || files.clientAuthorities != nil else {
            throw TLSError("tls-client-name", "cannot be demanded without tls-client-ca")
        }
        if let authorities = files.clientAuthorities { try demandClients(of: authorities) }
        try demandNames(files.clientNames)
        var fields = tm()
        guard let shown = SSL_CTX_get0_certificate(context), ASN1_TIME_to_tm(X509_get0_notAfter(shown), &fields) == 1
        else { throw TLSError(files.certificate, "expected a certificate with a date on which it ends") }
        end = Int64(timegm(&fields))
    }

    /// Whether the certificate is valid now; libssl shows any that it has.
    package var isValidNow: Bool {
        guard let certificate = SSL_CTX_get0_certificate(context) else { return false }
        return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0
            && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// A new TLS session on a socket whose client begins the handshake; the caller owns it. `nil` without memory.
    func session(on socket: Int32) -> OpaquePointer? {
        let session = TLSBounds.session(in: context, on: socket)
        if let session { SSL_set_accept_state(session) }
        return session
    }

    private func demandClients(of authorities: String) throws(TLSError) {
        try TLSRules.load(authorities, "expected certificates of authorities as PEM") { file in
            guard SSL_CTX_load_verify_file(context, file) == 1, let names = SSL_load_client_CA_file(file) else {
                return false
            }
            SSL_CTX_set_client_CA_list(context, names)
            return true
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // Without one, libssl refuses to resume the session of a client that has shown a certificate.
        let purpose = Array("media-token".utf8)
        SSL_CTX_set_session_id_context(context, purpose, UInt32(purpose.count))
    }

    /// libssl compares them with the certificate as a client compares the name of its server, case aside.
    private func demandNames(_ names: [String]) throws(TLSError) {
        let parameters = SSL_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_hostflags(parameters, Self.noWildcards)
        for name in names {
            guard Files.isClientName(name), X509_VERIFY_PARAM_add1_host(parameters, name, name.utf8.count) == 1 else {
                throw TLSError("tls-client-name", "'\(name)' cannot be demanded")
            }
        }
    }

    /// X509_CHECK_FLAG_NO_WILDCARDS: `*` in a certificate stands for itself.
    private static let noWildcards: UInt32 = 2

    /// SSL_OP_CIPHER_SERVER_PREFERENCE, a macro that the importer does not see: bit 22.
    private static let serverPreference: UInt64 = 1 << 22
}
