internal import Basics
internal import CLibEvent
internal import CLibSSL
internal import Glibc

/// A client's side of TLS, by ``TLSRules``: the authorities that it trusts, and the certificate that it shows. A
/// connection exists only if the server's certificate was accepted.
///
/// The files are read when a connection is made, and again when one of them has changed since. An instance belongs to
/// one thread.
package final class TLSClient {
    private let authorities, certificate, key, name: String?
    private var context: OpaquePointer?
    /// Identity, size and times of the files that the context was made from.
    private var version: FileMarks?

    /// - Parameters:
    ///   - authorities: the path of the authorities' certificates as PEM; `nil` for those that the host trusts.
    ///   - certificate: the path of the client's certificate as PEM, followed by those that lead to its authority;
    ///     `nil` for none.
    ///   - key: the path of the certificate's private key as PEM, without a password; `nil` if it is in the
    ///     certificate's file.
    ///   - name: the name that the server's certificate must have; `nil` for the host that is connected to.
    package init(authorities: String?, certificate: String?, key: String?, name: String?) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
        self.name = name
    }

    deinit {
        if let context { SSL_CTX_free(context) }
    }

    /// A new TLS session with a host, on a socket that is to be connected; the caller owns it.
    func session(for host: String, on socket: Int32) throws(TLSError) -> OpaquePointer {
        let version = FileMarks(of: [authorities, certificate, key].compactMap(\.self))
        if context == nil || version != self.version { try load(version) }
        let name = name ?? host
        ERR_clear_error()
        guard let session = TLSBounds.session(in: context, on: socket) else {
            throw TLSError("TLS", "cannot be set up")
        }
        guard Self.demand(name, of: session) else {
            SSL_free(session)
            throw TLSError("the name '\(name)'", "cannot be demanded of a certificate")
        }
        SSL_set_connect_state(session)
        return session
    }

    /// Makes the certificate's name part of its check. An address is compared with the addresses in the certificate,
    /// and is not sent as the name of the server (RFC 6066, section 3).
    private static func demand(_ name: String, of session: OpaquePointer) -> Bool {
        let parameters = SSL_get0_param(session)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return true }
        X509_VERIFY_PARAM_set_hostflags(parameters, noPartialWildcards)
        // A macro that the importer does not see: SSL_set_tlsext_host_name.
        let hostName = Array(name.utf8CString)
        let isSet = hostName.withUnsafeBytes {
            SSL_ctrl(
                session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        return isSet == 1 && SSL_set1_host(session, name) == 1
    }

    private func load(_ version: FileMarks) throws(TLSError) {
        ERR_clear_error()
        guard let made = SSL_CTX_new(TLS_client_method()) else { throw TLSError("TLS", "cannot be set up") }
        do throws(TLSError) { try configure(made) } catch {
            SSL_CTX_free(made)
            throw error
        }
        if let context { SSL_CTX_free(context) }
        (context, self.version) = (made, version)
    }

    private func configure(_ context: OpaquePointer) throws(TLSError) {
        try TLSRules.apply(to: context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if let authorities {
            try TLSRules.load(authorities, "expected certificates of authorities as PEM") {
                SSL_CTX_load_verify_file(context, $0) == 1
            }
        } else if SSL_CTX_set_default_verify_paths(context) != 1 {
            throw TLSError("the host's authorities", "cannot be read")
        }
        if let certificate { try TLSRules.show(certificate, key: key ?? certificate, in: context) }
    }

    /// Why one side of a connection refused the other's TLS; `nil` if neither did.
    ///
    /// - Parameter session: a session of which an attempt to read or write has failed just now, on this thread.
    func refusal(on session: OpaquePointer) -> String? {
        let code = ERR_peek_error()
        defer { ERR_clear_error() }
        let verdict = SSL_get_verify_result(session)
        if verdict != Int(X509_V_OK) {
            let wanted = name.map { "; its name must be \($0)" } ?? ""
            return
                "has a certificate that is not accepted: \(String(cString: X509_verify_cert_error_string(verdict)))\(wanted)"
        }
        // The connection has ended without a word of TLS.
        guard code != 0 else { return nil }
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        // SSL_R_WRONG_VERSION_NUMBER: what came is no TLS record.
        if code & 0x7F_FFFF == 267 { return "does not speak TLS" }
        return "refuses TLS: \(reason)"
    }

    /// X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS.
    private static let noPartialWildcards: UInt32 = 4
}
