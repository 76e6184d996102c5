internal import CBatchRSA
internal import COpenSSL

/// Verifies up to eight signatures of one key at once.
///
/// It calls a signature valid, or leaves it to ``GeneralVerifier``; it never calls one invalid. `arithmetic.h` proves
/// that what it calls valid is valid. It serves keys with an exponent of 65537 and 1024, 2048, 3072 or 4096 bits.
///
/// It is not thread-safe: it serves one caller at a time.
package final class BatchVerifier {
    /// A way to do the arithmetic.
    package enum Engine: Sendable {
        /// The AVX-512 IFMA instructions of the processor.
        case ifma
        /// The arithmetic of ``ifma`` in plain C, slower than libcrypto.
        case model

        fileprivate var number: batch_rsa_engine { self == .ifma ? BATCH_RSA_IFMA : BATCH_RSA_MODEL }

        /// Whether this processor has the instructions, and this build the engine.
        package var isAvailable: Bool { batch_rsa_can_use(number) }

        /// The engines that this process can use, the fastest last.
        package static let available = [model, ifma].filter(\.isAvailable)
    }

    /// The largest number of signatures that are verified at once.
    package static let lanes = Int(BATCH_RSA_LANES)
    /// The smallest group that is verified at once. On the machine of the figures, two RSA-2048 signatures are faster
    /// so.
    package static let leastCount = 2

    /// A signature, and the digest that it should be over.
    package struct Question {
        package var signature: [UInt8]
        package var digest: SHA256Digest

        package init(_ signature: [UInt8], over digest: SHA256Digest) {
            (self.signature, self.digest) = (signature, digest)
        }
    }

    private let batch: OpaquePointer
    private let engine: Engine

    /// - Returns: `nil` if the key is not one of those that it serves, or if memory ran out.
    package convenience init?(key: RSAPublicKey, engine: Engine) {
        guard key.exponent == BatchConstants.exponent, let modulus = key.modulus() else { return nil }
        self.init(modulus: modulus, engine: engine)
    }

    /// - Parameter message: the encoded message (RFC 8017, 9.2) of a digest that is all zeros; `nil` for the real one.
    init?(modulus: BigNumber, message: BigNumber? = nil, engine: Engine) {
        let length = modulus.byteCount
        guard batch_rsa_radix_bits(length) > 0,
            let encoded = try? message ?? BigNumber(SignatureVerifier.encodedMessage(length: length)),
            let constants = try? BatchConstants(modulus: modulus, length: length, message: encoded),
            let batch = batch_rsa_create(length, constants.modulus, constants.factor, constants.padding)
        else {
            CryptoError.discardQueue()
            return nil
        }
        (self.batch, self.engine) = (batch, engine)
    }

    deinit {
        batch_rsa_free(batch)
    }

    /// Verifies up to ``lanes`` signatures.
    ///
    /// - Returns: for each signature, in order, whether it is valid; `false` means that it is for ``GeneralVerifier``
    ///   to decide.
    package func verify(_ group: ArraySlice<Question>) -> [Bool] {
        for (lane, question) in group.enumerated() { put(question.signature, over: question.digest, in: lane) }
        let valid = verify()
        return (0..<group.count).map { $0 < Self.lanes && valid >> UInt32($0) & 1 == 1 }
    }

    /// Puts a signature and the digest that it should be over into a lane. The lane is empty then unless the signature
    /// is as long as the modulus and, as a number, below it.
    func put(_ signature: [UInt8], over digest: SHA256Digest, in lane: Int) {
        digest.withUnsafeBytes { digest in
            batch_rsa_put(
                batch, UInt32(lane), signature, signature.count,
                digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Verifies the signatures that were put into lanes, and empties the lanes.
    ///
    /// - Returns: a set bit for each lane with a valid signature.
    func verify() -> UInt32 {
        batch_rsa_verify(batch, engine.number)
    }
}

/// The numbers of a key that the engine computes with; `arithmetic.h` explains them.
private struct BatchConstants {
    static let exponent: UInt64 = 65_537

    let modulus, factor, padding: [UInt8]

    init(modulus: BigNumber, length: Int, message: BigNumber) throws(CryptoError) {
        let radix = try BigNumber(bit: Int(batch_rsa_radix_bits(length)))
        let inverse = try radix.inverse(modulo: modulus).power(Self.exponent - 2, modulo: modulus)
        let factor = try modulus.subtracting(inverse)
        self.modulus = try modulus.bytes(length)
        self.factor = try factor.bytes(length)
        padding = try message.multiplied(by: factor, modulo: modulus).bytes(length)
    }
}
