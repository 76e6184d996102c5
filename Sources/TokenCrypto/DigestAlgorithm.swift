internal import COpenSSL

/// A digest for what other services ask for. Media tokens know SHA-256 alone.
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
        let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
            var length: UInt32 = 0
            let isMade = EVP_Digest(message, message.count, output.baseAddress, &length, algorithm, nil) == 1
            count = isMade ? Int(length) : 0
        }
        guard !digest.isEmpty else { throw .libcrypto("cannot digest (\(CryptoError.drainQueue()))") }
        return digest
    }
}

extension [UInt8] {
    /// Whether both are the same, in a time that depends on their length alone.
    package func isSame(inConstantTime other: [UInt8]) -> Bool {
        count == other.count && CRYPTO_memcmp(self, other, count) == 0
    }
}
