internal import Basics
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
        /// Accepted client names. A client's certificate must have one of them as a DNS name or, if it has no DNS name,
        /// as its common name. If the list is empty, every certificate of the authorities is accepted.
        package var clientNames: [String] = []

        package init(certificate: String, key: String, clientAuthorities: String? = nil) {
            (self.certificate, self.key, self.clientAuthorities) = (certificate, key, clientAuthorities)
        }

        /// Whether `name` can be compared literally. libssl would read a leading dot as "any host below".
        package static func isClientName(_ name: String) -> Bool {
            !name.isEmpty && !name.hasPrefix(".") && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x2A }
        }
    }

    /// Who is served: clients of these authorities, each a certificate as DER, with one of these names.
    package struct Clients: Sendable, Equatable {
        /// `nil` for any client at all.
        package var authorities: Set<[UInt8]>?
        /// Empty for any name.
        package var names: Set<String>

        package init(authorities: Set<[UInt8]>?, names: Set<String>) {
            (self.authorities, self.names) = (authorities, names)
        }

        /// The clients whom both serve.
        func intersection(_ other: Clients) -> Clients {
            let both = names.isEmpty || other.names.isEmpty ? names.union(other.names) : names.intersection(other.names)
            let common = authorities.map { own in other.authorities.map(own.intersection) ?? own } ?? other.authorities
            // No name at all would be any name.
            return both.isEmpty && names != both
                ? Clients(authorities: [], names: names) : Clients(authorities: common, names: both)
        }
    }

    private let context: OpaquePointer
    package private(set) var clients: Clients
    /// The file of its certificate.
    package let certificate: String
    /// When the certificate ends, in seconds since 1970.
    package private(set) var end: Int64 = 0

    /// - Throws: which file is not what it should be.
    package init(_ files: Files) throws(TLSError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError("TLS", "cannot be set up") }
        (self.context, certificate) = (context, files.certificate)
        clients = Clients(authorities: nil, names: Set(files.clientNames))
        SSL_CTX_set_options(context, Self.serverPreference)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        try TLSRules.apply(to: context)
        try TLSRules.show(files.certificate, key: files.key, in: context)
        guard files.clientNames.isEmpty || files.clientAuthorities != nil else {
            throw TLSError("tls-client-name", "cannot be demanded without tls-client-ca")
        }
        if let file = files.clientAuthorities { clients.authorities = try Self.authorities(in: file) }
        try demandClients()
        try readEnd()
    }

    /// This side of TLS for those of its clients alone who are clients by `files` too; `nil` if all are.
    ///
    /// An authority stays if its file has it, or is there and cannot be read. The certificate stays what it is.
    package func withdrawing(by files: Files) -> TLSServer? {
        guard let own = clients.authorities, let file = files.clientAuthorities else { return nil }
        var status = stat()
        // A pipe would keep the caller waiting.
        let isRegular = stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let authorities = FileBytes.isGone(file) ? [] : (isRegular ? try? Self.authorities(in: file) : nil) ?? own
        let left = clients.intersection(Clients(authorities: authorities, names: Set(files.clientNames)))
        return left == clients ? nil : try? TLSServer(self, serving: left)
    }

    private init(_ earlier: TLSServer, serving clients: Clients) throws(TLSError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError("TLS", "cannot be set up") }
        (self.context, certificate, self.clients) = (context, earlier.certificate, clients)
        SSL_CTX_set_options(context, Self.serverPreference)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        try TLSRules.apply(to: context)
        var chain: OpaquePointer?
        SSL_CTX_ctrl(earlier.context, SSL_CTRL_GET_CHAIN_CERTS, 0, &chain)
        guard
            SSL_CTX_use_cert_and_key(
                context, SSL_CTX_get0_certificate(earlier.context), SSL_CTX_get0_privatekey(earlier.context), chain, 1)
                == 1
        else { throw TLSError(earlier.certificate, "cannot be shown again") }
        try demandClients()
        try readEnd()
    }

    private func readEnd() throws(TLSError) {
        var fields = tm()
        guard let shown = SSL_CTX_get0_certificate(context), ASN1_TIME_to_tm(X509_get0_notAfter(shown), &fields) == 1
        else { throw TLSError(certificate, "expected a certificate with a date on which it ends") }
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

    /// The certificates in a file of authorities, as DER.
    private static func authorities(in file: String) throws(TLSError) -> Set<[UInt8]> {
        guard let store = X509_STORE_new() else { throw TLSError("TLS", "cannot be set up") }
        defer { X509_STORE_free(store) }
        try TLSRules.load(file, "expected certificates of authorities as PEM") { X509_STORE_load_file(store, $0) == 1 }
        guard let objects = X509_STORE_get0_objects(store) else { throw TLSError("TLS", "cannot be set up") }
        var found: Set<[UInt8]> = []
        for position in 0..<OPENSSL_sk_num(objects) {
            guard let object = OPENSSL_sk_value(objects, position),
                let certificate = X509_OBJECT_get0_X509(OpaquePointer(object))
            else { continue }
            var bytes = [UInt8](repeating: 0, count: Int(max(0, i2d_X509(certificate, nil))))
            bytes.withUnsafeMutableBufferPointer { room in
                var place = room.baseAddress
                i2d_X509(certificate, &place)
            }
            found.insert(bytes)
        }
        return found
    }

    private func demandClients() throws(TLSError) {
        guard let authorities = clients.authorities else { return }
        for bytes in authorities {
            let certificate = bytes.withUnsafeBufferPointer { bytes in
                var place = bytes.baseAddress
                return d2i_X509(nil, &place, bytes.count)
            }
            defer { X509_free(certificate) }
            guard X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1,
                SSL_CTX_add_client_CA(context, certificate) == 1
            else { throw TLSError("tls-client-ca", "cannot be demanded") }
        }
        try demandNames(clients.names.sorted())
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
