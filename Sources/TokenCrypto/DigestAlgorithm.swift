internal import COpenSSL

/// A digest, bare or keyed, for what other services ask for. Media tokens know SHA-256 alone.
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256, sha1, md5

    var algorithm: OpaquePointer? {
        switch self {
        case .sha256: EVP_sha256()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }

    package func digest(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.output { output, length in
            EVP_Digest(message, message.count, output, length, algorithm, nil) == 1
        }
    }

    /// HMAC (RFC 2104).
    package func authenticationCode(of message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.output { output, length in
            HMAC(algorithm, key, Int32(key.count), message, message.count, output, length) != nil
        }
    }

    private static func output(
        _ compute: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt32>) -> Bool
    ) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let succeeded = output.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { compute($0, &length) } ?? false
        }
        guard succeeded else { throw .libcrypto("cannot digest (\(CryptoError.drainQueue()))") }
        return Array(output.prefix(Int(length)))
    }
}

extension [UInt8] {
    /// Whether both are the same, in a time that depends on their length alone.
    package func isSame(inConstantTime other: [UInt8]) -> Bool {
        count == other.count && CRYPTO_memcmp(self, other, count) == 0
    }
}
