internal import COpenSSL
internal import Threading

/// A key for HMAC (RFC 2104). It is set up once, so that libcrypto looks nothing up for each message.
package final class HMACKey: Sendable {
    /// A keyed context that is only ever copied, which any number of threads may do at once.
    private nonisolated(unsafe) let context: OpaquePointer
    /// Copies that are ready for another message: making one costs more than the code of a short message does.
    private let copies = Guarded<[OpaquePointer]>([])
    /// Whether libcrypto can reset a copy after its message. Before 3.0.3 it says that it has, and has not.
    private static let resets = OpenSSL_version_num() >= 0x3000_0030
    private static let mostCopies = 64

    package init(_ digest: DigestAlgorithm, key: [UInt8]) throws(CryptoError) {
        guard let algorithm = EVP_MAC_fetch(nil, OSSL_MAC_NAME_HMAC, nil) else {
            throw .libcrypto("has no HMAC (\(CryptoError.drainQueue()))")
        }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else {
            throw .libcrypto("cannot make a MAC context (\(CryptoError.drainQueue()))")
        }
        var name = Array(digest.rawValue.utf8CString)
        let isKeyed = name.withUnsafeMutableBufferPointer { name in
            var settings = [shim_mac_digest(name.baseAddress), OSSL_PARAM_construct_end()]
            return EVP_MAC_init(context, key, key.count, &settings) == 1
        }
        guard isKeyed else {
            EVP_MAC_CTX_free(context)
            throw .libcrypto("cannot key a MAC (\(CryptoError.drainQueue()))")
        }
        self.context = context
    }

    deinit {
        copies.withLock { for copy in $0 { EVP_MAC_CTX_free(copy) } }
        EVP_MAC_CTX_free(context)
    }

    package func code(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let copy = copies.withLock { $0.popLast() } ?? EVP_MAC_CTX_dup(context)
        defer { giveBack(copy) }
        var length = 0
        let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
            let isMade =
                copy != nil && EVP_MAC_update(copy, message, message.count) == 1
                && EVP_MAC_final(copy, output.baseAddress, &length, output.count) == 1
            count = isMade ? length : 0
        }
        guard !code.isEmpty else { throw .libcrypto("cannot make a MAC (\(CryptoError.drainQueue()))") }
        return code
    }

    /// Keeps a copy for another message. An initialization without a key resets it and keeps its key (EVP_MAC(3)).
    private func giveBack(_ copy: OpaquePointer?) {
        let isKept =
            copy != nil && Self.resets && EVP_MAC_init(copy, nil, 0, nil) == 1
            && copies.withLock { copies in
                guard copies.count < Self.mostCopies, let copy else { return false }
                copies.append(copy)
                return true
            }
        if !isKept { EVP_MAC_CTX_free(copy) }
    }
}
