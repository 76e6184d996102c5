internal import COpenSSL

extension Certificate {
    /// Makes a certificate for the key, signed by the key itself, as tests and sandboxes publish their keys.
    ///
    /// - Parameters:
    ///   - name: The common name, in ASCII.
    ///   - organization: The organization, in ASCII.
    ///   - validity: The first and last second of the validity period, in seconds since 1970.
    package init(
        selfSignedBy key: RSASigningKey, name: String, organization: String, validity: ClosedRange<Int64>
    ) throws(KeyFileError) {
        guard let certificate = X509_new() else { throw .libcrypto("out of memory") }
        let owner = ParsedCertificate(takingOwnership: certificate)
        let subject = X509_get_subject_name(certificate)
        let version3 = 2
        guard X509_set_version(certificate, version3) == 1,
            ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), validity.lowerBound) == 1,
            ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(validity.lowerBound)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(validity.upperBound)) != nil,
            Self.add("O", organization, to: subject), Self.add("CN", name, to: subject),
            X509_set_issuer_name(certificate, subject) == 1,
            key.certify(certificate)
        else { throw .libcrypto("cannot make a certificate (\(CryptoError.drainQueue()))") }
        try self.init(owner)
    }

    private static func add(_ attribute: String, _ value: String, to name: OpaquePointer?) -> Bool {
        let bytes = Array(value.utf8)
        return X509_NAME_add_entry_by_txt(name, attribute, shim_MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
    }
}
