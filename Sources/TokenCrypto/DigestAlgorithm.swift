internal import COpenSSL

/// A digest algorithm that other services, such as CDNs, require. Media tokens use SHA-256 only.
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
    /// Whether both arrays are equal, in a time that depends on their lengths only.
    package func isSame(inConstantTime other: [UInt8]) -> Bool {
        count == other.count && CRYPTO_memcmp(self, other, count) == 0
    }
}
