internal import CLibEventHTTP
internal import CLibEventTLS
internal import EventLoops
internal import Glibc

/// The gate's TLS identity, and the rules for its clients that `TLSRules` does not have.
///
/// `@unchecked Sendable`: set up once; from then on libssl counts its references itself, from any thread.
package final class TLSContext: @unchecked Sendable {
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
    package init(_ files: Files) throws(HTTPServer.Failure) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw Self.failure("TLS", "cannot be set up") }
        (self.context, certificate) = (context, files.certificate)
        // Renegotiation lets a client have the server compute over and over (RFC 5746 makes it safe, not cheap).
        SSL_CTX_set_options(context, Self.noRenegotiation | Self.serverPreference)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        do throws(TLSError) {
            try TLSRules.apply(to: context)
            try TLSRules.show(files.certificate, key: files.key, in: context)
        } catch {
            throw HTTPServer.Failure(error.description)
        }
        guard files.clientNames.isEmpty || files.clientAuthorities != nil else {
            throw HTTPServer.Failure("tls-client-name: cannot be demanded without tls-client-ca")
        }
        if let authorities = files.clientAuthorities { try demandClients(of: authorities) }
        try demandNames(files.clientNames)
        var fields = tm()
        guard let shown = SSL_CTX_get0_certificate(context), ASN1_TIME_to_tm(X509_get0_notAfter(shown), &fields) == 1
        else { throw Self.failure(files.certificate, "expected a certificate with a date on which it ends") }
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

    /// What an accepted connection is read and written through; `nil` without memory.
    func buffer(on base: OpaquePointer?) -> OpaquePointer? {
        guard let session = SSL_new(context) else { return nil }
        let options = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        // From here on the buffer owns the session, and has freed it where it could not be made.
        guard let buffer = bufferevent_openssl_socket_new(base, -1, session, BUFFEREVENT_SSL_ACCEPTING, options) else {
            return nil
        }
        // A peer that closes without a word: HTTP's own lengths tell whether something is missing.
        bufferevent_openssl_set_allow_dirty_shutdown(buffer, 1)
        return buffer
    }

    private func demandClients(of authorities: String) throws(HTTPServer.Failure) {
        guard SSL_CTX_load_verify_file(context, authorities) == 1,
            let names = SSL_load_client_CA_file(authorities)
        else { throw Self.failure(authorities, "expected certificates of authorities as PEM") }
        SSL_CTX_set_client_CA_list(context, names)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // Without one, libssl refuses to resume the session of a client that has shown a certificate.
        let purpose = Array("media-token".utf8)
        SSL_CTX_set_session_id_context(context, purpose, UInt32(purpose.count))
    }

    /// libssl compares them with the certificate as a client compares the name of its server, case aside.
    private func demandNames(_ names: [String]) throws(HTTPServer.Failure) {
        let parameters = SSL_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_hostflags(parameters, Self.noWildcards)
        for name in names {
            guard Files.isClientName(name), X509_VERIFY_PARAM_add1_host(parameters, name, name.utf8.count) == 1 else {
                throw Self.failure("tls-client-name", "'\(name)' cannot be demanded")
            }
        }
    }

    /// X509_CHECK_FLAG_NO_WILDCARDS: `*` in a certificate stands for itself.
    private static let noWildcards: UInt32 = 2

    // Macros that the importer does not see: SSL_OP_NO_RENEGOTIATION and SSL_OP_CIPHER_SERVER_PREFERENCE, bits 30 and 22.
    private static let noRenegotiation: UInt64 = 1 << 30
    private static let serverPreference: UInt64 = 1 << 22

    private static func failure(_ place: String, _ expected: String) -> HTTPServer.Failure {
        HTTPServer.Failure(TLSError(place, expected).description)
    }
}
