internal import CBatchRSA
internal import COpenSSL

/// Verifies up to eight signatures of one key at once, several times faster than libcrypto verifies one after the other.
///
/// It can only ever say "valid" (the proof is in `arithmetic.h`): a signature that it does not call valid is for
/// ``GeneralVerifier`` to decide. It serves keys with an exponent of 65537 and 1024, 2048, 3072 or 4096 bits.
///
/// It is not thread-safe: it serves one caller at a time.
package final class BatchVerifier {
    /// A way to do the arithmetic.
    package enum Engine: Sendable {
        /// The AVX-512 IFMA instructions of the processor.
        case ifma
        /// The arithmetic of ``ifma`` in plain C, slower than libcrypto: for tests on processors without the instructions.
        case model

        fileprivate var number: batch_rsa_engine { self == .ifma ? BATCH_RSA_IFMA : BATCH_RSA_MODEL }

        /// Whether this processor has the instructions, and this build the engine.
        package var isAvailable: Bool { batch_rsa_can_use(number) }
    }

    /// The largest number of signatures that are verified at once.
    package static let lanes = Int(BATCH_RSA_LANES)
    /// The smallest number of signatures that are verified faster so than one after the other.
    package static let leastCount = 2

    private let batch: OpaquePointer
    private let engine: Engine

    /// - Returns: `nil` if the key is not one of those that it serves, or if memory ran out.
    package convenience init?(key: RSAPublicKey, engine: Engine) {
        guard key.exponent == BatchConstants.exponent, let modulus = key.modulus() else { return nil }
        self.init(modulus: modulus, length: key.signatureLength, engine: engine)
    }

    /// - Parameter length: the length of the modulus in bytes.
    init?(modulus: BigNumber, length: Int, engine: Engine) {
        guard let constants = try? BatchConstants(modulus: modulus, length: length),
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

    /// Puts a signature and the digest that it should be over into a lane. A signature that is not as long as the modulus leaves
    /// the lane empty.
    package func put(_ signature: [UInt8], over digest: SHA256Digest, in lane: Int) {
        digest.withUnsafeBytes { digest in
            batch_rsa_put(
                batch, UInt32(lane), signature, signature.count,
                digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Verifies the signatures that were put into lanes, and empties the lanes.
    ///
    /// - Returns: a set bit for each lane with a valid signature.
    package func verify() -> UInt32 {
        batch_rsa_verify(batch, engine.number)
    }
}

/// The numbers of a key that the engine computes with; `arithmetic.h` explains them.
private struct BatchConstants {
    static let exponent: UInt64 = 65_537

    let modulus, factor, padding: [UInt8]

    init(modulus: BigNumber, length: Int) throws(CryptoError) {
        let radix = try BigNumber(bit: Int(batch_rsa_radix_bits(length)))
        let inverse = try radix.inverse(modulo: modulus).power(Self.exponent - 2, modulo: modulus)
        let factor = try modulus.subtracting(inverse)
        let message = try BigNumber()
        guard try SignatureVerifier.encodedMessage(length: length).withUnsafeBytes(message.read) else {
            throw .libcrypto("out of memory")
        }
        self.modulus = modulus.bytes(length)
        self.factor = factor.bytes(length)
        padding = try message.multiplied(by: factor, modulo: modulus).bytes(length)
    }
}
