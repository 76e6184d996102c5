internal import COpenSSL

/// A PKCS#12 archive (RFC 7292), which keytool writes by default since Java 9.
final class PKCS12Archive {
    /// A separate libcrypto context with the legacy provider. Java 8 encrypts certificates with 40-bit RC2, which only
    /// that provider has; in a context of its own, nothing else in the process can use its algorithms.
    /// It is made once and not changed, and libcrypto lets any number of threads use one.
    private nonisolated(unsafe) static let libraryContext: OpaquePointer? = {
        let context = OSSL_LIB_CTX_new()
        OSSL_PROVIDER_load(context, "default")
        OSSL_PROVIDER_load(context, "legacy")
        ERR_clear_error()
        return context
    }()

    private let pointer: OpaquePointer

    /// Reads one PKCS#12; `nil` if `bytes` are anything else.
    init?(ifDER bytes: [UInt8]) {
        var pointer = PKCS12_init_ex(NID_pkcs7_data, Self.libraryContext, nil)
        let decoded = decodeDER(bytes, with: { d2i_PKCS12(&pointer, $0, $1) })
        guard decoded != nil, let pointer else {
            // On failure d2i_PKCS12 has freed the object it was given and set the pointer to NULL; on trailing bytes it
            // has not.
            PKCS12_free(pointer)
            CryptoError.discardQueue()
            return nil
        }
        self.pointer = pointer
    }

    deinit {
        PKCS12_free(pointer)
    }

    func open(password: String?) throws(KeyFileError) -> KeyFile {
        guard let password else { throw .passwordMissing(.pkcs12) }
        guard PKCS12_mac_present(pointer) == 1 else {
            throw .malformed("a PKCS#12 without an integrity digest (MAC); expected one made with a password")
        }
        guard PKCS12_verify_mac(pointer, password, -1) == 1 else {
            CryptoError.discardQueue()
            throw .passwordWrong(.pkcs12)
        }
        var privateKey: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let outcome = PKCS12_parse(pointer, password, &privateKey, &certificate, &others)
        defer {
            EVP_PKEY_free(privateKey)
            X509_free(certificate)
            if let others { shim_sk_X509_pop_free(others) }
        }
        guard outcome == 1 else {
            throw .malformed("a PKCS#12 that libcrypto cannot read (\(CryptoError.drainQueue()))")
        }
        var entries: [KeyFile.Entry] = []
        if let certificate {
            // This is the private key's own certificate; the others then belong to its issuers, which sign no tokens.
            entries.append(Self.entry(certificate))
        } else if let others {
            for index in 0..<shim_sk_X509_num(others) {
                guard let other = shim_sk_X509_value(others, index) else { continue }
                entries.append(Self.entry(other))
            }
        }
        return try KeyFile(format: .pkcs12, entries: entries, holdsPrivateKey: privateKey != nil)
    }

    private static func entry(_ certificate: OpaquePointer) -> KeyFile.Entry {
        do { return .certificate(try Certificate(reading: certificate)) } catch { return .unusable(error) }
    }
}
