import Foundation
import TestSupport
import Testing
import TokenCrypto

@Suite("Digests and signatures")
struct SignatureTests {
    @Test("SHA-256 of the examples of FIPS 180-4")
    func digest() throws {
        #expect(
            try SHA256Hasher.digest(Array("abc".utf8)).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            try SHA256Hasher.digest([]).hexadecimal
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test("a kept hasher starts afresh each time")
    func keptHasher() throws {
        let hasher = try SHA256Hasher()
        let first = try hasher.digest(Array("one".utf8)[...])
        _ = try hasher.digest(Array("two".utf8)[...])
        #expect(try hasher.digest(Array("one".utf8)[...]) == first)
    }

    @Test("what openssl signs is verified, also after signatures that are none")
    func interoperability() throws {
        func sign(_ options: String...) throws -> [UInt8] { try OpenSSL.sign(Array("message".utf8), options) }
        let verifier = try SignatureVerifier(key: TestKeys.standard.publicKey)
        let digest = try SHA256Hasher.digest(Array("message".utf8))
        let good = try sign("-sha256")
        #expect(verifier.isValid(good, over: digest))
        #expect(!verifier.isValid(try sign("-sha512"), over: digest))
        #expect(!verifier.isValid(good, over: try SHA256Hasher.digest(Array("massage".utf8))))
        #expect(!verifier.isValid([], over: digest))
        // The kept context still works after all that.
        #expect(verifier.isValid(good, over: digest))
    }

    @Test("says what libcrypto's own verification says", arguments: [1024, 1031, 2048, 3072])
    func judgedByLibcrypto(bits: Int) throws {
        let key = try RSASigningKey.generate(bits: bits)
        let (verifier, judge) = (try SignatureVerifier(key: key.publicKey), try GeneralVerifier(key: key.publicKey))
        var (valid, invalid) = (0, 0)
        for number in 0..<64 {
            let message = Array("message \(number)".utf8)
            let digest = try SHA256Hasher.digest(message)
            var signature = try key.sign(message)
            // Half of them as they are, the others with one bit changed somewhere.
            if number % 2 == 1 { signature[number * signature.count / 64] ^= 1 << UInt8(number % 8) }
            let verdict = judge.isValid(signature, over: digest)
            #expect(verifier.isValid(signature, over: digest) == verdict)
            if verdict { valid += 1 } else { invalid += 1 }
        }
        #expect((valid, invalid) == (32, 32))
    }

    @Test("a signature that is a multiple of the modulus away from a valid one is none")
    func beyondTheModulus() throws {
        // With a modulus that leaves room at the top, valid + modulus has as many bytes.
        let key = try RSASigningKey.generate(bits: 2041)
        let digest = try SHA256Hasher.digest(Array("message".utf8))
        let valid = try key.sign(Array("message".utf8))
        let verifier = try SignatureVerifier(key: key.publicKey)
        #expect(verifier.isValid(valid, over: digest))
        let sum = BigEndian.sum(valid, try OpenSSL.modulus(of: key))
        let beyond = Array(sum.dropFirst())
        #expect(sum[0] == 0 && beyond != valid)
        #expect(!verifier.isValid(beyond, over: digest))
    }

    @Test("a valid signature without the zero that it begins with is none")
    func withoutLeadingZero() throws {
        // The first byte of this key's signatures has one bit, so that about half of them begin with a zero.
        let key = try RSASigningKey.generate(bits: 1033)
        let verifier = try SignatureVerifier(key: key.publicKey)
        var count = 0
        for number in 0..<64 {
            let message = Array("message \(number)".utf8)
            let (signature, digest) = (try key.sign(message), try SHA256Hasher.digest(message))
            #expect(verifier.isValid(signature, over: digest))
            guard signature[0] == 0 else { continue }
            count += 1
            #expect(!verifier.isValid(Array(signature.dropFirst()), over: digest))
            #expect(!verifier.isValid([0] + signature, over: digest))
        }
        #expect(count > 0)
    }

    @Test("a signature tells who made it, whatever it signs, and what is none tells nothing")
    func origin() throws {
        for (key, other) in [(TestKeys.standard, TestKeys.stranger), (TestKeys.short, TestKeys.standard)] {
            let signature = try key.sign(Array("message".utf8))
            #expect(key.publicKey.hasMade(signature) && !other.publicKey.hasMade(signature))
            for index in signature.indices {
                var damaged = signature
                damaged[index] ^= 1
                #expect(!key.publicKey.hasMade(damaged), "byte \(index)")
            }
            for text in [
                [], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0xFF, count: signature.count),
            ] {
                #expect(!key.publicKey.hasMade(text))
            }
        }
        for options in [["-sha1"], ["-sha512"], ["-sha256", "-sigopt", "rsa_padding_mode:pss"]] {
            #expect(
                !TestKeys.standard.publicKey.hasMade(try OpenSSL.sign(Array("message".utf8), options)), "\(options)")
        }
        // The last operation has left nothing that the next one would take for its own failure.
        #expect(TestKeys.standard.publicKey.hasMade(try TestKeys.standard.sign(Array("message".utf8))))
    }

    @Test("a modulus has room for eight bytes of padding")
    func shortestModulus() throws {
        for (bits, isUsable) in [(496, true), (489, true), (488, false), (256, false)] {
            let key = try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(bits: bits)))
            #expect(key.bits == bits)
            #expect(((try? SignatureVerifier(key: key)) != nil) == isUsable, "\(bits)")
        }
    }

    @Test("an exponent is odd, and more than one")
    func exponents() throws {
        for (exponent, isUsable) in [([1], false), ([2], false), ([3], true), ([1, 0, 0], false), ([1, 0, 1], true)]
            as [([UInt8], Bool)]
        {
            let key = try #require(try RSAPublicKey(ifDER: TestKeys.publicDER(bits: 1024, exponent: exponent)))
            #expect(((try? SignatureVerifier(key: key)) != nil) == isUsable, "\(exponent)")
        }
    }

    @Test("what is signed here is verified by openssl")
    func otherDirection() throws {
        let directory = try TemporaryDirectory()
        let message = try directory.write("message", to: "message")
        let key = try directory.write(try TestKeys.standard.publicKey.pemText(), to: "key.pem")
        let signature = try TestKeys.standard.sign(Array("message".utf8))
        let file = try directory.write(Data(signature), to: "signature")
        try Program("openssl").succeed(["dgst", "-sha256", "-verify", key, "-signature", file, message])
    }
}
