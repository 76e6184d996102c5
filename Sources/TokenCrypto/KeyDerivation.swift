internal import COpenSSL

/// What it takes to derive a key from a password. The file that the key protects chooses that.
enum KeyDerivation {
    /// The most rounds of hashing that one file may require. OpenSSL writes 2048, Java 10,000 to 100,000, and the
    /// slowest digest takes two seconds for these.
    static let mostRounds = 5_000_000.0

    /// The rounds that `algorithm` requires; 0 if its parameters are none that libcrypto derives a key from.
    ///
    /// The parameters are read as libcrypto reads them. No two kinds of them have the same form, except those of PBE,
    /// which are the beginning of those of PBKDF2. A round of scrypt takes as long as one of PBKDF2.
    static func rounds(of algorithm: UnsafePointer<X509_ALGOR>) -> Double {
        // The parameters of PBES2 and PBMAC1.
        read(algorithm, PBE2PARAM_it()) { (scheme: PBE2PARAM) in rounds(ofFunction: scheme.keyfunc) }
            ?? rounds(ofFunction: algorithm)
    }

    private static func rounds(ofFunction function: UnsafePointer<X509_ALGOR>) -> Double {
        read(function, PBKDF2PARAM_it()) { (given: PBKDF2PARAM) in number(given.iter) }
            ?? read(function, SCRYPT_PARAMS_it()) { (given: SCRYPT_PARAMS) in
                number(given.costParameter) * number(given.blockSize) * number(given.parallelizationParameter)
            } ?? 0
    }

    /// Infinite for a number that libcrypto would cut to another one.
    static func number(_ integer: UnsafePointer<ASN1_INTEGER>) -> Double {
        var number: UInt64 = 0
        return ASN1_INTEGER_get_uint64(&number, integer) == 1 ? Double(number) : .infinity
    }

    private static func read<Parameters>(
        _ algorithm: UnsafePointer<X509_ALGOR>, _ form: OpaquePointer?, _ body: (Parameters) -> Double
    ) -> Double? {
        guard let parameters = ASN1_TYPE_unpack_sequence(form, algorithm.pointee.parameter) else { return nil }
        defer { ASN1_item_free(OpaquePointer(parameters), form) }
        return body(parameters.assumingMemoryBound(to: Parameters.self).pointee)
    }
}
