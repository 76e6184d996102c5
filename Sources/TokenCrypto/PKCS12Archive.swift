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

    /// Reads every certificate, and neither private keys nor what else there is.
    ///
    /// An archive without an integrity digest (MAC) is read as well, since a bare certificate has none either. Java 18
    /// and newer write the certificates that they trust so, without a password.
    func open(password: String?, withIssuers: Bool) throws(KeyFileError) -> KeyFile {
        guard let safes = PKCS12_unpack_authsafes(pointer) else {
            throw .malformed("a PKCS#12 that libcrypto cannot read (\(CryptoError.drainQueue()))")
        }
        defer { shim_sk_PKCS7_pop_free(safes) }
        // An empty password has two encodings.
        let spellings = password.map { $0.isEmpty ? ["", nil] : [$0] } ?? []
        try checkRounds(of: safes, times: max(1, spellings.count))
        let passwords = try passwords(among: spellings)
        var contents = Contents()
        for index in 0..<shim_sk_PKCS7_num(safes) {
            guard let safe = shim_sk_PKCS7_value(safes, index) else { continue }
            try Self.read(safe, passwords, into: &contents)
        }
        CryptoError.discardQueue()
        return try KeyFile(
            format: .pkcs12, contents.found, holdsPrivateKey: contents.holdsPrivateKey, withIssuers: withIssuers)
    }

    private struct Contents {
        var found: [KeyFile.Found] = []
        var holdsPrivateKey = false
    }

    /// Refuses an archive that would keep libcrypto busy for long.
    private func checkRounds(of safes: OpaquePointer, times spellings: Int) throws(KeyFileError) {
        var (macAlgorithm, macRounds) = (UnsafePointer<X509_ALGOR>?.none, UnsafePointer<ASN1_INTEGER>?.none)
        PKCS12_get0_mac(nil, &macAlgorithm, nil, &macRounds, pointer)
        let algorithms = (0..<shim_sk_PKCS7_num(safes)).map { shim_PKCS7_encryption(shim_sk_PKCS7_value(safes, $0)) }
        let rounds =
            ([macAlgorithm] + algorithms).reduce(macRounds.map(KeyDerivation.number) ?? 0) {
                $0 + ($1.map(KeyDerivation.rounds) ?? 0)
            } * Double(spellings)
        CryptoError.discardQueue()
        guard rounds <= KeyDerivation.mostRounds else {
            throw .malformed(
                "a PKCS#12 whose password takes \(Int(exactly: rounds).map(String.init) ?? "an absurd number of") rounds of hashing; "
                    + "at most \(Int(KeyDerivation.mostRounds)) are accepted (take the certificates out with "
                    + "'openssl pkcs12 -in FILE -nokeys -out certificates.pem', and load those)")
        }
    }

    /// What the contents may be encrypted with: the spellings of the password that the digest was made with.
    private func passwords(among spellings: [String?]) throws(KeyFileError) -> [String?] {
        guard PKCS12_mac_present(pointer) == 1 else { return spellings }
        guard !spellings.isEmpty else { throw .passwordMissing(.pkcs12) }
        let right = spellings.filter { PKCS12_verify_mac(pointer, $0, Self.length(of: $0)) == 1 }
        CryptoError.discardQueue()
        guard !right.isEmpty else { throw .passwordWrong(.pkcs12) }
        return right
    }

    private static func length(of password: String?) -> Int32 { Int32(password?.utf8.count ?? 0) }

    private static func read(
        _ safe: UnsafeMutablePointer<PKCS7>, _ passwords: [String?], into contents: inout Contents
    ) throws(KeyFileError) {
        switch OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data:
            guard let bags = PKCS12_unpack_p7data(safe) else {
                throw .malformed("a PKCS#12 that libcrypto cannot read (\(CryptoError.drainQueue()))")
            }
            defer { shim_sk_PKCS12_SAFEBAG_pop_free(bags) }
            read(bags, into: &contents)
        case NID_pkcs7_encrypted:
            guard !passwords.isEmpty else { throw .passwordMissing(.pkcs12) }
            for password in passwords {
                guard let bags = PKCS12_unpack_p7encdata(safe, password, length(of: password)) else { continue }
                defer { shim_sk_PKCS12_SAFEBAG_pop_free(bags) }
                return read(bags, into: &contents)
            }
            contents.found.append(.entry(.unusable(Self.failure(of: safe))))
        default:
            contents.found.append(.other("entries encrypted for a certificate's key"))
        }
    }

    /// Why entries could not be decrypted, just now, on this thread.
    private static func failure(of safe: UnsafeMutablePointer<PKCS7>) -> KeyFileError {
        let reason = shim_ERR_GET_REASON(ERR_peek_last_error())
        guard ![PKCS12_R_PKCS12_CIPHERFINAL_ERROR, PKCS12_R_DECODE_ERROR].contains(reason) else {
            CryptoError.discardQueue()
            return .passwordWrong(.pkcs12)
        }
        var name = [CChar](repeating: 0, count: 80)
        OBJ_obj2txt(&name, Int32(name.count), shim_PKCS7_encryption(safe)?.pointee.algorithm, 0)
        let cipher = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return .malformed(
            "entries encrypted with \(cipher), which libcrypto cannot decrypt (\(CryptoError.drainQueue()))")
    }

    private static func read(_ bags: OpaquePointer, into contents: inout Contents) {
        for index in 0..<shim_sk_PKCS12_SAFEBAG_num(bags) {
            guard let bag = shim_sk_PKCS12_SAFEBAG_value(bags, index) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_certBag:
                if let certificate = PKCS12_SAFEBAG_get1_cert(bag) {
                    contents.found.append(.certificate(ParsedCertificate(takingOwnership: certificate)))
                } else {
                    contents.found.append(
                        .entry(.unusable(.malformed("a PKCS#12 with a certificate that is damaged or not X.509"))))
                }
            case NID_keyBag, NID_pkcs8ShroudedKeyBag: contents.holdsPrivateKey = true
            case NID_crlBag: contents.found.append(.other("a revocation list"))
            case NID_secretBag: contents.found.append(.other("a secret key"))
            // libcrypto limits how deep they are nested.
            case NID_safeContentsBag: PKCS12_SAFEBAG_get0_safes(bag).map { read($0, into: &contents) }
            default: contents.found.append(.other("an entry of an unknown kind"))
            }
        }
    }
}
