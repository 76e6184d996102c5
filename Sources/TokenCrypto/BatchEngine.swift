internal import Basics
internal import COpenSSL
internal import Glibc

/// Which way this process verifies several signatures at once.
package enum BatchEngine {
    /// The environment variable that overrides the choice: `libcrypto`, `ifma` or `model`.
    package static let variable = "MEDIA_TOKEN_RSA"

    /// The engine of this process, which is chosen once; `nil` if libcrypto verifies one signature after the other.
    package static let inUse: BatchVerifier.Engine? = choice.engine

    /// One line for the operator that says how groups of signatures are verified.
    package static let description = choice.description

    /// Whether the operator probably wants another engine than this one: the name is unknown, the engine that was asked
    /// for is not available or failed its test, or it is the slow one.
    package static let isDoubtful = choice.isDoubtful

    private static let choice = choose(asked: getenv(variable).map { String(cString: $0) }, test: KnownSignatures.agree)

    /// Chooses the processor's instructions, unless the operator asks for something else or the processor lacks them.
    /// Nothing is chosen that fails its test, or whose name is unknown: libcrypto always remains.
    static func choose(
        asked name: String?, test: (BatchVerifier.Engine) -> Bool
    ) -> (engine: BatchVerifier.Engine?, description: String, isDoubtful: Bool) {
        func libcrypto(_ reason: String, isDoubtful: Bool) -> (BatchVerifier.Engine?, String, Bool) {
            (nil, "one RSA signature after the other, by libcrypto (\(reason))", isDoubtful)
        }
        let engine: BatchVerifier.Engine
        switch name {
        case nil, "", "ifma": engine = .ifma
        case "model": engine = .model
        case "libcrypto": return libcrypto("\(variable)=libcrypto", isDoubtful: false)
        case let name?:
            let reason = "\(variable)=\(printable(name)) is none of libcrypto, ifma and model"
            return libcrypto(reason, isDoubtful: true)
        }
        guard engine.isAvailable else {
            return libcrypto("this processor or this build has no AVX-512 IFMA", isDoubtful: name == "ifma")
        }
        guard test(engine) else { return libcrypto("\(engine) failed its test at the start", isDoubtful: true) }
        let arithmetic = engine == .ifma ? "by AVX-512 IFMA" : "by slow plain C, \(variable)=model"
        return (
            engine, "eight RSA signatures at once, \(arithmetic); libcrypto decides what that does not call valid",
            engine == .model
        )
    }
}

/// Questions with known answers, by which a process tries an engine before it relies on it.
///
/// They need no private key: the modulus is a prime that is public (RFC 2409 and RFC 3526), so anyone can compute the
/// exponent that signs.
enum KnownSignatures {
    /// Whether an engine calls known signatures of each supported size valid, and does not in the lane whose signature
    /// has a bit changed.
    static func agree(with engine: BatchVerifier.Engine) -> Bool {
        [1024, 2048, 3072, 4096].allSatisfy { bits in
            guard let modulus = prime(bits: bits), let verifier = BatchVerifier(modulus: modulus, engine: engine) else {
                return false
            }
            return agree(modulus: modulus) { verifier.verify($0[...]) }
        }
    }

    /// Whether `verify` calls known signatures valid, and does not where a bit is changed.
    static func agree(modulus: BigNumber, _ verify: ([BatchVerifier.Question]) -> [Bool]) -> Bool {
        guard let known = try? questions(modulus: modulus) else {
            CryptoError.discardQueue()
            return false
        }
        return ([nil] + known.indices.map { $0 }).allSatisfy { (changed: Int?) in
            var questions = known
            if let changed { questions[changed].signature[modulus.byteCount / 2 + changed] ^= 1 << UInt8(changed) }
            return verify(questions) == known.indices.map { $0 != changed }
        }
    }

    /// The public prime of so many bits (RFC 2409, 6.2, and RFC 3526).
    static func prime(bits: Int) -> BigNumber? {
        let prime =
            switch bits {
            case 1024: BN_get_rfc2409_prime_1024(nil)
            case 2048: BN_get_rfc3526_prime_2048(nil)
            case 3072: BN_get_rfc3526_prime_3072(nil)
            case 4096: BN_get_rfc3526_prime_4096(nil)
            default: OpaquePointer?.none
            }
        return prime.map(BigNumber.init(takingOwnership:))
    }

    /// A valid signature for each lane, of two that differ.
    private static func questions(modulus: BigNumber) throws(CryptoError) -> [BatchVerifier.Question] {
        let two = try [UInt8(1), 2].map { (number) throws(CryptoError) -> BatchVerifier.Question in
            let digest = try SHA256Hasher.digest([number])
            let message = try SignatureVerifier.encodedMessage(length: modulus.byteCount, digest)
            return BatchVerifier.Question(try sign(message, modulus: modulus), over: digest)
        }
        return (0..<BatchVerifier.lanes).map { two[$0 % 2] }
    }

    /// Signs an encoded message with the key whose modulus is a prime.
    static func sign(_ encodedMessage: [UInt8], modulus: BigNumber) throws(CryptoError) -> [UInt8] {
        let message = try BigNumber(encodedMessage)
        let order = try modulus.subtracting(BigNumber(bit: 0))
        let exponent = try BigNumber(bit: 16)
        guard BN_add_word(exponent.pointer, 1) == 1 else { throw .libcrypto("out of memory") }
        return try message.power(exponent.inverse(modulo: order), modulo: modulus).bytes(encodedMessage.count)
    }
}
