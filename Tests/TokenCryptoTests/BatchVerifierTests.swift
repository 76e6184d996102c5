import TestSupport
import Testing

@testable import TokenCrypto

@Suite("Several signatures at once")
struct BatchVerifierTests {
    private typealias Token = BatchVerifier.Question

    private static let engines = BatchVerifier.Engine.available
    /// The engine that most tests run with. The model takes a quarter of a second for a group in an unoptimized build.
    private static let fastest = engines.suffix(1)

    private static func sign(_ count: Int, with key: RSASigningKey) throws -> [Token] {
        try (0..<count).map { number in
            let message = Array("message \(number)".utf8)
            return Token(try key.sign(message), over: try SHA256Hasher.digest(message))
        }
    }

    /// Which tokens are valid, as the engine says, which has so many at once as there are lanes.
    private static func valid(_ tokens: [Token], _ verifier: BatchVerifier) -> [Bool] {
        stride(from: 0, to: tokens.count, by: BatchVerifier.lanes).flatMap { first in
            verifier.verify(tokens[first...].prefix(BatchVerifier.lanes))
        }
    }

    /// Tests tokens that are no valid ones, each beside some that are, so that each lane has both now and then.
    private static func expectNone(_ hostile: [Token], beside good: [Token], _ verifier: BatchVerifier) {
        var (all, expected): ([Token], [Bool]) = ([], [])
        for (number, token) in hostile.enumerated() {
            all.append(token)
            expected.append(false)
            guard number % 3 == 0 else { continue }
            all.append(good[number % good.count])
            expected.append(true)
        }
        let found = valid(all, verifier)
        let wrong = all.indices.filter { found[$0] != expected[$0] }
        #expect(wrong.isEmpty, "of \(all.count)")
    }

    @Test("what is signed is valid, and nothing else", arguments: [1024, 2048, 3072, 4096], engines)
    func changed(bits: Int, engine: BatchVerifier.Engine) throws {
        let key = try RSASigningKey.generate(bits: bits)
        let good = try Self.sign(BatchVerifier.lanes, with: key)
        let verifier = try #require(BatchVerifier(key: key.publicKey, engine: engine))
        #expect(Self.valid(good, verifier).allSatisfy { $0 })
        var hostile: [Token] = []
        for bit in stride(from: 0, to: bits, by: engine == .model ? 199 : 5) {
            var token = good[bit % good.count]
            token.signature[bit / 8] ^= 1 << UInt8(bit % 8)
            hostile.append(token)
        }
        for bit in stride(from: 0, to: 256, by: engine == .model ? 37 : 1) {
            let token = good[bit % good.count]
            var digest = token.digest.bytes
            digest[bit / 8] ^= 1 << UInt8(bit % 8)
            hostile.append(Token(token.signature, over: SHA256Digest(bigEndian: digest)))
        }
        Self.expectNone(hostile, beside: good, verifier)
    }

    @Test("numbers that are no signature are none", arguments: [1024, 2048, 3072, 4096], fastest)
    func numbers(bits: Int, engine: BatchVerifier.Engine) throws {
        // Among many signatures, one is small enough for the modulus to be added to it without another byte, unless the
        // modulus is nearly as large as its bytes allow.
        var (key, modulus) = (try RSASigningKey.generate(bits: bits), [UInt8]())
        modulus = try OpenSSL.modulus(of: key)
        while modulus[0] >= 0xC8 {
            key = try RSASigningKey.generate(bits: bits)
            modulus = try OpenSSL.modulus(of: key)
        }
        let tokens = try Self.sign(64, with: key)
        let good = try #require(tokens.first { BigEndian.sum($0.signature, modulus).first == 0 })
        let verifier = try #require(BatchVerifier(key: key.publicKey, engine: engine))
        let one = [UInt8](repeating: 0, count: bits / 8 - 1) + [1]
        let hostile = [
            Array(BigEndian.sum(good.signature, modulus).dropFirst()), BigEndian.difference(modulus, good.signature),
            modulus, Array(BigEndian.sum(modulus, one).suffix(bits / 8)), BigEndian.difference(modulus, one), one,
            [UInt8](repeating: 0, count: bits / 8), [UInt8](repeating: 0xFF, count: bits / 8),
            Array(good.signature.dropLast()), good.signature + [0], [0] + good.signature, [],
        ]
        Self.expectNone(hostile.map { Token($0, over: good.digest) }, beside: [good], verifier)
        // A lane that is put a second time has only what was put last.
        for signature in hostile {
            verifier.put(good.signature, over: good.digest, in: 0)
            verifier.put(signature, over: good.digest, in: 0)
            #expect(verifier.verify() == 0)
        }
    }

    @Test("of all encoded messages, only the one of PKCS #1 is valid", arguments: PrimeKey.all, fastest)
    func encodedMessages(key: PrimeKey, engine: BatchVerifier.Engine) throws {
        let verifier = try #require(BatchVerifier(modulus: key.modulus(), engine: engine))
        let judge = try GeneralVerifier(key: key.publicKey())
        let digest = try SHA256Hasher.digest(Array("message".utf8))
        let message = try SignatureVerifier.encodedMessage(length: key.length, digest)
        var hostile = HostileMessages.all(of: message, digest: digest.bytes)
        for position in 0..<key.length where position % 16 == 0 || position > key.length - 60 {
            hostile.append(message)
            hostile[hostile.count - 1][position] ^= 1 << UInt8(position % 8)
        }
        func sign(_ message: [UInt8]) throws -> Token {
            #expect(message.count == key.length)
            return Token(try KnownSignatures.sign(message, modulus: key.modulus()), over: digest)
        }
        let good = try sign(message)
        #expect(judge.isValid(good.signature, over: digest))
        let tokens = try hostile.map(sign)
        #expect(tokens.allSatisfy { !judge.isValid($0.signature, over: digest) })
        Self.expectNone(tokens, beside: [good], verifier)
    }

    @Test("the arithmetic is right for numbers whose limbs are all zeros or all ones", arguments: engines)
    func extremes(engine: BatchVerifier.Engine) throws {
        for bits in engine == .model ? [1024, 4096] : [1024, 2048, 3072, 4096] {
            let (ones, zeros) = ([UInt8](repeating: 0xFF, count: bits / 8), [UInt8](repeating: 0, count: bits / 8 - 2))
            // Thirteen bytes are two limbs.
            let striped = (0..<(bits / 8)).map { UInt8((bits / 8 - 1 - $0) / 13 % 2 == 0 ? 0xFF : 0) }
            for modulus in [ones, [0x80] + zeros + [1], [0xFF] + zeros + [1], [0xFF] + striped.dropFirst()] {
                let below = BigEndian.difference(modulus, [1])
                let signatures = [
                    below, BigEndian.difference(modulus, [2]), [0x7F] + ones.dropFirst(), [0x7F] + striped.dropFirst(),
                    [0, 0] + striped.dropFirst(2).map { ~$0 }, [0x40] + zeros + [0], [0] + zeros + [1],
                    [0] + zeros + [2],
                ]
                try expectRight(signatures, modulus: modulus, engine)
            }
        }
    }

    /// Has the engine check that each number's power is what libcrypto computes, and that it is not one less.
    private func expectRight(_ signatures: [[UInt8]], modulus: [UInt8], _ engine: BatchVerifier.Engine) throws {
        let (number, digest) = (try BigNumber(modulus), try SHA256Hasher.digest(Array("message".utf8)))
        // What the power is without the digest takes the place of the encoded message.
        for signature in signatures {
            let power = try BigNumber(signature).power(65_537, modulo: number)
            let message = try power.bytes(modulus.count)
            let rest = BigEndian.difference(
                BigEndian.sum(message, modulus), digest.bytes)
            let right = try BigNumber(rest).multiplied(by: BigNumber([1]), modulo: number)
            let wrong = try BigNumber(BigEndian.sum(rest, [1])).multiplied(by: BigNumber([1]), modulo: number)
            for (message, isRight) in [(right, true), (wrong, false)] {
                let verifier = try #require(BatchVerifier(modulus: number, message: message, engine: engine))
                let group = [Token](repeating: Token(signature, over: digest), count: BatchVerifier.lanes)
                #expect(
                    verifier.verify(group[...]) == group.map { _ in isRight },
                    "\(modulus.prefix(9)) \(signature.prefix(9))")
            }
        }
    }

    @Test("lanes that are not filled are not valid, also if they were before", arguments: engines)
    func emptyLanes(engine: BatchVerifier.Engine) throws {
        let key = try RSASigningKey.generate(bits: 1024)
        let tokens = try Self.sign(BatchVerifier.lanes, with: key)
        let verifier = try #require(BatchVerifier(key: key.publicKey, engine: engine))
        #expect(verifier.verify() == 0)
        #expect(Self.valid(tokens, verifier).allSatisfy { $0 })
        #expect(verifier.verify() == 0)
        for lane in [2, 5] { verifier.put(tokens[lane].signature, over: tokens[lane].digest, in: lane) }
        #expect(verifier.verify() == 0b100100)
    }

    @Test("other keys are left to libcrypto")
    func otherKeys() throws {
        for bits in [1016, 1032, 2047, 2056, 8192] {
            let key = try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(bits: bits)))
            #expect(BatchVerifier(key: key, engine: .model) == nil, "\(bits)")
        }
        for exponent: [UInt8] in [[3], [17], [1, 0, 3], [1, 0, 0, 1], [1, 0, 0, 0, 0, 0, 1, 0, 1]] {
            let key = try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(bits: 2048, exponent: exponent)))
            #expect(BatchVerifier(key: key, engine: .model) == nil, "\(exponent)")
        }
        let usual = try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(bits: 2048)))
        #expect(BatchVerifier(key: usual, engine: .model) != nil)
    }

    @Test("the known signatures are valid until they are changed", arguments: engines)
    func known(engine: BatchVerifier.Engine) {
        #expect(KnownSignatures.agree(with: engine))
    }

    @Test("an engine that is wrong about a known signature, or about a changed one, fails its test")
    func faults() throws {
        let key = PrimeKey(bits: 1024)
        let verifier = try #require(BatchVerifier(modulus: key.modulus(), engine: .model))
        func agree(_ fault: @escaping ([Bool]) -> [Bool]) throws -> Bool {
            try KnownSignatures.agree(modulus: key.modulus()) { fault(verifier.verify($0[...])) }
        }
        #expect(try agree { $0 })
        #expect(try !agree { $0.map { _ in true } })
        #expect(try !agree { $0.map { _ in false } })
        #expect(try !agree { $0.reversed() })
        #expect(try !agree { $0.dropLast() })
        for lane in 0..<BatchVerifier.lanes {
            for stuck in [true, false] {
                #expect(try !agree { valid in valid.indices.map { $0 == lane ? stuck : valid[$0] } }, "\(lane)")
            }
        }
    }

    @Test("an engine is chosen by its name; an unknown one leaves all to libcrypto, and says so")
    func choice() {
        func choose(_ name: String?) -> (engine: BatchVerifier.Engine?, description: String, isDoubtful: Bool) {
            BatchEngine.choose(asked: name, test: KnownSignatures.agree)
        }
        #expect(choose("libcrypto").engine == nil && !choose("libcrypto").isDoubtful)
        #expect(choose("model").engine == .model && choose("model").isDoubtful)
        #expect(!choose(nil).isDoubtful && choose("auto").isDoubtful)
        for name in [nil, "", "ifma"] {
            #expect(choose(name).engine == (BatchVerifier.Engine.ifma.isAvailable ? .ifma : nil))
        }
        let failed = BatchEngine.choose(asked: "model") { _ in false }
        #expect(failed.engine == nil && failed.description.contains("failed its test"))
        let unknown = choose("avx\n2")
        #expect(unknown.engine == nil)
        #expect(unknown.description.contains("MEDIA_TOKEN_RSA=avx") && !unknown.description.contains("\n"))
    }
}

/// A key whose modulus is a public prime, so that a test can sign any number, also one that no signer makes.
struct PrimeKey: Sendable, CustomTestStringConvertible {
    let bits: Int

    static let all = [1024, 2048, 3072, 4096].map { PrimeKey(bits: $0) }

    var length: Int { bits / 8 }
    var testDescription: String { "\(bits) bits" }

    func modulus() throws -> BigNumber { try #require(KnownSignatures.prime(bits: bits)) }

    func publicKey() throws -> RSAPublicKey {
        try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(modulus: modulus().bytes(length))))
    }
}

/// Encoded messages that other verifiers have taken for valid ones, or that are nearly valid.
enum HostileMessages {
    private static let digestInfo: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ]

    static func all(of good: [UInt8], digest: [UInt8]) -> [[UInt8]] {
        let withoutNull: [UInt8] = [
            0x30, 0x2F, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x04, 0x20,
        ]
        let longLength: [UInt8] = [0x30, 0x81, 0x31] + digestInfo.dropFirst(2)
        let trailing: [UInt8] = [0x30, 0x33] + digestInfo.dropFirst(2)
        let sha512: [UInt8] = digestInfo.prefix(14) + [0x03] + digestInfo.dropFirst(15)
        let garbage = [UInt8](repeating: 0x5A, count: good.count - 11 - digestInfo.count - digest.count)
        func padded(_ content: [UInt8], type: UInt8 = 1, filler: UInt8 = 0xFF) -> [UInt8] {
            [0, type] + repeatElement(filler, count: good.count - 3 - content.count) + [0] + content
        }
        return [
            // Bleichenbacher's: garbage after a short padding, behind the digest, in the parameters.
            [0, 1] + repeatElement(0xFF, count: 8) + [0] + digestInfo + digest + garbage,
            padded(trailing + digest + [5, 0]), padded(withoutNull + digest), padded(longLength + digest),
            padded(sha512 + digest), padded(digest), padded(digestInfo + digest, type: 2),
            padded(digestInfo + digest, type: 0, filler: 0), padded(digestInfo + digest, filler: 0xFE),
            padded(digestInfo + digest.dropLast() + [digest[31] ^ 1]), padded(digestInfo + digest.reversed()),
            good.dropFirst() + [0],
            [UInt8](repeating: 0, count: good.count - 32) + digest,
            [UInt8](repeating: 0, count: good.count), [UInt8](repeating: 0, count: good.count - 1) + [1],
        ]
    }
}

extension SHA256Digest {
    fileprivate init(bigEndian bytes: [UInt8]) {
        func word(_ number: Int) -> UInt64 { bytes[(8 * number)..<(8 * number + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(words: (word(0), word(1), word(2), word(3)))
    }
}
