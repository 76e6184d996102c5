import Foundation
import TestSupport
import Testing
import TokenCrypto

/// Files with keys that libcrypto would compute with for long. Here they have contents that it cannot decode at all:
/// their algorithm is named all the same, so nothing was decoded.
@Suite("The algorithm of a key is told before the key is decoded")
struct KeyAlgorithmTests {
    private static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap { $0 }
        return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }

    private static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
    private static func number(_ digits: UInt8...) -> [UInt8] { element(0x02, digits) }
    private static func name(_ identifier: [UInt8]) -> [UInt8] { [0x06, UInt8(identifier.count)] + identifier }

    private static let rsa = name([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1])
    private static let curve = name([0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1])
    private static let dsa = name([0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1])

    /// A public key whose curve is described by nonsense.
    private static let curveKey = publicKey(sequence(curve, sequence(number(1))), [4, 1, 2, 3])

    private static func publicKey(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        sequence(algorithm, element(0x03, [0] + key))
    }

    /// A certificate that has the same name for its subject and its issuer, and a signature that is none.
    private static func certificate(_ key: [UInt8], hasVersion: Bool = true) -> [UInt8] {
        let algorithm = sequence(name([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 11]), [5, 0])
        let owner = sequence(element(0x31, sequence(name([0x55, 4, 3]), element(0x0C, Array("same".utf8)))))
        let validity = sequence(
            element(0x17, Array("200101000000Z".utf8)), element(0x17, Array("400101000000Z".utf8)))
        let version = hasVersion ? element(0xA0, number(2)) : []
        let contents = sequence(version, number(7), algorithm, owner, validity, owner, key)
        return sequence(contents, algorithm, element(0x03, [UInt8](repeating: 0, count: 257)))
    }

    private static func pem(_ name: String, _ der: [UInt8]) -> [UInt8] {
        Array("-----BEGIN \(name)-----\n\(Data(der).base64EncodedString())\n-----END \(name)-----\n".utf8)
    }

    private func refusals(_ file: KeyFile) -> [KeyFileError] {
        file.entries.compactMap { if case .unusable(let error) = $0 { error } else { nil } }
    }

    @Test(
        "a public key or a certificate is refused by its algorithm",
        arguments: [
            curveKey, pem("PUBLIC KEY", curveKey), certificate(curveKey), certificate(curveKey, hasVersion: false),
            pem("CERTIFICATE", certificate(curveKey)),
        ])
    func publicKeys(bytes: [UInt8]) throws {
        let file = try KeyFile(reading: bytes, password: nil)
        #expect(refusals(file) == [.notRSA(found: "id-ecPublicKey")] && file.entries.count == 1)
    }

    @Test(
        "a private key is noticed by its form, and refused by its algorithm",
        arguments: [
            (sequence(number(0), sequence(dsa, number(1)), element(0x04, [1])), "DSA"),
            (sequence(number(0), sequence(curve, number(1)), element(0x04, [1])), "id-ecPublicKey"),
            (sequence(number(0), number(1), number(1), number(1), number(1), number(1)), "DSA"),
            (sequence(number(1), element(0x04, [1])), "id-ecPublicKey"),
            (sequence(number(0), sequence(rsa, [5, 0]), element(0x04, [1])), nil),
        ])
    func privateKeys(der: [UInt8], name: String?) throws {
        for bytes in [der, Self.pem("PRIVATE KEY", der)] {
            let file = try KeyFile(reading: bytes, password: nil)
            #expect(file.holdsPrivateKey && refusals(file) == (name.map { [.notRSA(found: $0)] } ?? []))
        }
    }

    @Test("a private key of DSA costs no computation, whatever the size of its numbers")
    func costly() throws {
        let large = Self.element(0x02, [UInt8](repeating: 0x55, count: 10_000))
        let key = Self.sequence(
            Self.number(0), Self.sequence(Self.dsa, Self.sequence(large, Self.number(7), Self.number(2))),
            Self.element(0x04, large))
        // libcrypto takes a minute for it.
        let time = try Program.processorTime { _ = try KeyFile(reading: key, password: nil) }
        #expect(time < .seconds(10))
    }

    @Test("certificates of equal names are compared up to a number of signatures, and refused beyond it")
    func namesakes() throws {
        func file(_ count: Int, withIssuers: Bool = false) throws -> KeyFile {
            let texts = (0..<count).map { index in
                let key = TestKeys.publicDER(modulus: [0x80, UInt8(index)] + [UInt8](repeating: 0x55, count: 254))
                return Self.pem("CERTIFICATE", Self.certificate(Self.publicKey(Self.sequence(Self.rsa, [5, 0]), key)))
            }
            return try KeyFile(reading: texts.flatMap { $0 }, password: nil, withIssuers: withIssuers)
        }
        // Each is compared with all others.
        #expect(try file(10).entries.count == 10)
        let error = #expect(throws: KeyFileError.self) { try file(11) }
        #expect(error?.description.contains("110 signatures") == true && error?.description.contains("100") == true)
        #expect(try file(11, withIssuers: true).entries.count == 11)
    }

    @Test("a key with a longer exponent than any that is loaded is not tried as an issuer's")
    func exponent() throws {
        let directory = try TemporaryDirectory()
        func made(_ exponent: String) throws -> KeyFile {
            let key = directory.path + "/key", authority = directory.path + "/authority.pem"
            try Program("openssl").succeed(
                ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_pubexp:\(exponent)", "-out", key])
            try Program("openssl").succeed(
                ["req", "-x509", "-new", "-key", key, "-subj", "/CN=authority", "-days", "2", "-out", authority])
            let request = try Program("openssl").succeed(
                ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=leaf", "-keyout", directory.path + "/leaf"])
            let leaf = try Program("openssl").succeed(
                ["x509", "-req", "-CA", authority, "-CAkey", key, "-set_serial", "7", "-days", "2"],
                input: Data(request.utf8))
            let text = try String(contentsOfFile: authority, encoding: .utf8) + leaf
            return try KeyFile(reading: Array(text.utf8), password: nil)
        }
        #expect(try made("65537").entries.count == 1)
        #expect(try made("36893488147419103233").entries.count == 2)
    }
}
