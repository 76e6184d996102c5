internal import Basics
internal import COpenSSL

/// A SHA-256 digest: 32 bytes as four words, so that comparing and hashing it costs no loop and no allocation.
package struct SHA256Digest: Hashable, Sendable {
    /// The digest's bytes 0–7, 8–15, 16–23 and 24–31, each read as a big-endian number.
    package let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// The digest in lower-case hexadecimal, as `sha256sum` prints it.
    package var hexadecimal: String { bytes.hexadecimal }

    package var bytes: [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let ordered = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        return Swift.withUnsafeBytes(of: ordered, body)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// A reusable SHA-256 context. Creating one costs more than digesting a token, so each workspace keeps its own.
///
/// It is not thread-safe: it serves one caller at a time.
package final class SHA256Hasher {
    /// The algorithm, fetched once: libcrypto's implicit fetch takes a lock and a look-up for each use.
    /// Nobody changes it, so any number of threads can use it.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    private let context: OpaquePointer

    package init() throws(CryptoError) {
        guard let context = EVP_MD_CTX_new() else { throw .libcrypto("cannot make a digest context") }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    package func digest(_ bytes: ArraySlice<UInt8>) throws(CryptoError) -> SHA256Digest {
        var ordered: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let succeeded = withUnsafeMutableBytes(of: &ordered) { output in
            bytes.withUnsafeBytes { input in
                EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1
                    && EVP_DigestUpdate(context, input.baseAddress, input.count) == 1
                    && EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1
            }
        }
        guard succeeded else { throw .libcrypto("SHA-256 failed") }
        return SHA256Digest(
            words: (
                UInt64(bigEndian: ordered.0), UInt64(bigEndian: ordered.1),
                UInt64(bigEndian: ordered.2), UInt64(bigEndian: ordered.3)
            ))
    }

    package static func digest(_ bytes: [UInt8]) throws(CryptoError) -> SHA256Digest {
        try SHA256Hasher().digest(bytes[...])
    }
}
