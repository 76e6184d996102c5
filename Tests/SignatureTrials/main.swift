// Verifies random and hostile signatures, several at once and by libcrypto's general way, and says where the two
// differ:
//
//     swift run -c release signature-trials [COUNT]
//
// COUNT signatures (default 1000000), rounded up to groups of eight, for each size of key and each engine that this
// processor has; the model, which is slow, gets one in a hundred of them. Exits with 1 at the first difference, and if
// none of them was valid.
internal import Glibc
internal import TestSupport
internal import TokenCrypto

/// A key, signatures of it, and what is not far from them.
struct Trials {
    private let length: Int
    private let pool: [BatchVerifier.Question]
    private let modulus: [UInt8]
    let publicKey: RSAPublicKey

    init(bits: Int) throws {
        let key = try RSASigningKey.generate(bits: bits)
        publicKey = key.publicKey
        length = key.publicKey.signatureLength
        modulus = try OpenSSL.modulus(of: key)
        pool = try (0..<64).map { number in
            let message = Array("message \(number) of \(bits) bits".utf8)
            return BatchVerifier.Question(try key.sign(message), over: try SHA256Hasher.digest(message))
        }
    }

    /// Half of them are signatures as they were made; the others differ from one in a bit, a byte, an end, the digest,
    /// or all.
    func next() -> BatchVerifier.Question {
        var token = pool[.random(in: 0..<pool.count)]
        switch UInt8.random(in: 0..<20) {
        case 0...9: break
        case 10...12: token.signature[Int.random(in: 0..<length)] ^= 1 << UInt8.random(in: 0..<8)
        case 13: token.signature[Int.random(in: 0..<length)] = .random(in: 0...255)
        case 14: token.digest = pool[.random(in: 0..<pool.count)].digest
        case 15: token.signature = (0..<length).map { _ in .random(in: 0...255) }
        case 16: token.signature = sum(token.signature, modulus)
        case 17: token.signature = sum(modulus, [UInt8](repeating: .random(in: 0...1) * 255, count: length))
        case 18: token.signature = [UInt8](repeating: 0, count: length - 1) + [.random(in: 0...255)]
        default:
            let places = Int.random(in: 0..<length)..<length
            token.signature.replaceSubrange(places, with: places.map { _ in .random(in: 0...3) * 85 })
        }
        return token
    }

    /// The sum of two numbers, without what does not fit into as many bytes as the modulus has.
    private func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { BigEndian.sum(left, right).suffix(length) }

    /// Returns how many signatures of so many groups were valid, and `nil` if the engine and libcrypto differ.
    func run(groups: Int, with batch: BatchVerifier, judge: GeneralVerifier) -> Int? {
        var valid = 0
        for _ in 0..<groups {
            let group = (0..<BatchVerifier.lanes).map { _ in next() }
            for (token, found) in zip(group, batch.verify(group[...])) {
                let isValid = judge.isValid(token.signature, over: token.digest)
                guard isValid == found else {
                    print("libcrypto says \(isValid) to \(token)")
                    return nil
                }
                if isValid { valid += 1 }
            }
        }
        return valid
    }
}

guard let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) : 1_000_000, count > 0 else {
    print("expected a number of signatures")
    exit(64)
}
for bits in [1024, 2048, 3072, 4096] {
    let trials = try Trials(bits: bits)
    for engine in BatchVerifier.Engine.available {
        let groups = (engine == .model ? count / 100 : count) / BatchVerifier.lanes + 1
        guard let batch = BatchVerifier(key: trials.publicKey, engine: engine) else { exit(2) }
        guard let valid = trials.run(groups: groups, with: batch, judge: try GeneralVerifier(key: trials.publicKey)),
            valid > 0
        else { exit(1) }
        print(
            "\(bits) bits, \(engine): \(groups * BatchVerifier.lanes) signatures, \(valid) of them valid, no difference"
        )
    }
}
