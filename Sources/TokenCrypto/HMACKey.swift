internal import Basics
internal import COpenSSL

/// A key for HMAC (RFC 2104). It is set up once, so that libcrypto looks nothing up for each message.
package final class HMACKey: Sendable {
    /// A keyed context that is only ever copied, which any number of threads may do at once.
    private nonisolated(unsafe) let context: OpaquePointer
    /// Copies that are ready for another message: making one costs more than the code of a short message does.
    private let copies = Guarded<[OpaquePointer]>([])
    /// Whether libcrypto resets a context for another message. Providers before 3.0.3 report success without doing it.
    private let resets: Bool

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
        let trial = EVP_MAC_CTX_dup(context)
        defer { EVP_MAC_CTX_free(trial) }
        let code = Self.code(of: [1], by: trial)
        resets = code != nil && Self.reset(trial) && Self.code(of: [1], by: trial) == code
    }

    deinit {
        copies.withLock { for copy in $0 { EVP_MAC_CTX_free(copy) } }
        EVP_MAC_CTX_free(context)
    }

    package func code(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let copy = copies.withLock { $0.popLast() } ?? EVP_MAC_CTX_dup(context)
        guard let copy, let code = Self.code(of: message, by: copy) else {
            EVP_MAC_CTX_free(copy)
            throw .libcrypto("cannot make a MAC (\(CryptoError.drainQueue()))")
        }
        if resets, Self.reset(copy) {
            copies.withLock { $0.append(copy) }
        } else {
            EVP_MAC_CTX_free(copy)
        }
        return code
    }

    /// The code of a message by a context that has seen none; `nil` if libcrypto fails.
    private static func code(of message: [UInt8], by context: OpaquePointer?) -> [UInt8]? {
        var length = 0
        let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { output, count in
            let isMade =
                context != nil && EVP_MAC_update(context, message, message.count) == 1
                && EVP_MAC_final(context, output.baseAddress, &length, output.count) == 1
            count = isMade ? length : 0
        }
        return code.isEmpty ? nil : code
    }

    /// Prepares a context for another message: an initialization without a key keeps the key (EVP_MAC(3)).
    private static func reset(_ context: OpaquePointer?) -> Bool {
        let isReset = EVP_MAC_init(context, nil, 0, nil) == 1
        // What is left in the queue would be taken for the reason of a later failure.
        if !isReset { _ = CryptoError.drainQueue() }
        return isReset
    }
}
