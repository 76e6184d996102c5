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

    @Test("what openssl signs is verified, and nothing else")
    func interoperability() throws {
        let directory = try TemporaryDirectory()
        let message = try directory.write("message", to: "message")
        let key = try directory.write(try TestKeys.standard.pemText(), to: "key.pem")
        func sign(_ options: String...) throws -> [UInt8] {
            let file = "\(directory.path)/signature"
            try Program("openssl").succeed(["dgst"] + options + ["-sign", key, "-out", file, message])
            return Array(try Data(contentsOf: URL(filePath: file)))
        }
        let verifier = try SignatureVerifier(key: TestKeys.standard.publicKey)
        let digest = try SHA256Hasher.digest(Array("message".utf8))
        let good = try sign("-sha256")
        #expect(verifier.isValid(good, over: digest))
        #expect(!verifier.isValid(try sign("-sha1"), over: digest))
        #expect(!verifier.isValid(try sign("-sha512"), over: digest))
        #expect(!verifier.isValid(try sign("-sha256", "-sigopt", "rsa_padding_mode:pss"), over: digest))
        #expect(!verifier.isValid(good, over: try SHA256Hasher.digest(Array("massage".utf8))))
        #expect(!verifier.isValid(Array(good.dropLast()), over: digest))
        #expect(!verifier.isValid(good + [0], over: digest))
        #expect(!verifier.isValid([0] + good, over: digest))
        #expect(!verifier.isValid([], over: digest))
        #expect(!verifier.isValid([UInt8](repeating: 0, count: good.count), over: digest))
        #expect(!verifier.isValid([UInt8](repeating: 0, count: good.count - 1) + [1], over: digest))
        #expect(!verifier.isValid([UInt8](repeating: 0xFF, count: good.count), over: digest))
        // The kept context still works after all that.
        #expect(verifier.isValid(good, over: digest))
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
