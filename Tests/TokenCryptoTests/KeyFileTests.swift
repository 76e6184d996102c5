import Foundation
import TestSupport
import Testing
import TokenCrypto

@Suite("Key files")
struct KeyFileTests {
    private static let keystores = Fixtures.vectors.appending(path: "keystores")
    /// The subject of the one certificate in `Tests/Vectors/keystores`.
    private static let subject = "CN=Media Token Test,O=Example"

    private func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.keystores.appending(path: name)))
    }

    private func fingerprintByOpenSSL() throws -> String {
        let file = Self.keystores.appending(path: "certificate.pem").path
        let pem = try Program("openssl").succeed(["x509", "-in", file, "-noout", "-pubkey"])
        let directory = try TemporaryDirectory()
        let der = "\(directory.path)/key.der"
        try Program("openssl").succeed(["pkey", "-pubin", "-outform", "der", "-out", der], input: Data(pem.utf8))
        return String(try Program("sha256sum").succeed([der]).prefix(64))
    }

    @Test(
        "one certificate in every format that Java and OpenSSL write",
        arguments: [
            ("certificate.pem", KeyFile.Format.pem), ("trust.jks", .jks), ("trust.p12", .pkcs12),
            ("trust-java8.p12", .pkcs12),
        ])
    func formats(name: String, format: KeyFile.Format) throws {
        let file = try KeyFile(reading: read(name), password: "123456")
        #expect(file.format == format)
        #expect(!file.holdsPrivateKey)
        guard file.entries.count == 1, case .certificate(let certificate) = file.entries[0] else {
            Issue.record("expected one certificate")
            return
        }
        #expect(certificate.subject == Self.subject)
        #expect(certificate.key.bits == 2048)
        #expect(certificate.key.exponent == 65_537)
        #expect(certificate.key.fingerprint.hexadecimal == (try fingerprintByOpenSSL()))
        #expect(certificate.validity.lowerBound == 1_420_070_400)
    }

    @Test("a public key as openssl writes it: PEM and DER, both kinds")
    func publicKeys() throws {
        let directory = try TemporaryDirectory()
        let key = try directory.write(try TestKeys.standard.pemText(), to: "key.pem")
        for options in [["-pubout"], ["-RSAPublicKey_out"]] {
            for form in ["PEM", "DER"] {
                let out = "\(directory.path)/out"
                try Program("openssl").succeed(["rsa", "-in", key, "-outform", form, "-out", out] + options)
                let file = try KeyFile(reading: Array(try Data(contentsOf: URL(filePath: out))), password: nil)
                guard case .key(let key) = file.entries.first, file.entries.count == 1 else {
                    Issue.record("expected one key")
                    continue
                }
                #expect(key.fingerprint == TestKeys.standard.publicKey.fingerprint)
            }
        }
    }

    @Test(
        "no command takes a public key out of a private one whose public key would be refused",
        arguments: [
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            ["genpkey", "-algorithm", "ED25519"],
            ["genpkey", "-algorithm", "RSA-PSS"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-outform", "DER"],
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
        ])
    func privateKeysOfOthers(command: [String]) throws {
        let out = try TemporaryDirectory()
        let path = "\(out.path)/out"
        try Program("openssl").succeed(command + ["-out", path])
        let file = try KeyFile(reading: Array(try Data(contentsOf: URL(filePath: path))), password: nil)
        guard file.holdsPrivateKey, case .unusable? = file.entries.first, file.commandForPublicKeys(in: path) == nil
        else {
            Issue.record("\(file.entries), \(file.commandForPublicKeys(in: path) ?? "")")
            return
        }
        let outcome = try Program.mediaToken.run(["keys", "import", path, "--to", out.path + "/to"])
        #expect(outcome.status == 2 && outcome.errors.contains("RSA") && !outcome.errors.contains("run '"))
    }

    @Test(
        "every file cut at any length, or with a byte changed, is an error or the same key",
        arguments: ["certificate.pem", "trust.jks", "trust.p12", "trust-java8.p12"])
    func damaged(name: String) throws {
        let bytes = try read(name)
        for length in bytes.indices {
            let file = try? KeyFile(reading: Array(bytes[..<length]), password: "123456")
            // Without its last line break a PEM file is still whole.
            #expect(file == nil || name.hasSuffix("pem") && length >= bytes.count - 2, "cut to \(length)")
        }
        for index in bytes.indices where name.hasSuffix("jks") {
            var altered = bytes
            altered[index] ^= 1
            #expect(throws: KeyFileError.self, "byte \(index)") { try KeyFile(reading: altered, password: "123456") }
        }
    }
}
