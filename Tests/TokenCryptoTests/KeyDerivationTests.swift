import Foundation
import TestSupport
import Testing
import TokenCrypto

/// PKCS#12 archives that choose how long a password is hashed.
@Suite("Rounds of hashing in a PKCS#12")
struct KeyDerivationTests {
    private static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap { $0 }
        return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }

    private static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, parts.flatMap { $0 }) }
    private static func bytes(_ parts: [UInt8]...) -> [UInt8] { element(0x04, parts.flatMap { $0 }) }
    private static func algorithm(_ identifier: [UInt8], _ parameters: [UInt8]...) -> [UInt8] {
        sequence([0x06, UInt8(identifier.count)] + identifier, sequence(parameters.flatMap { $0 }))
    }

    private static func number(_ value: Int64) -> [UInt8] {
        var digits = withUnsafeBytes(of: value.bigEndian) { Array($0)[...] }
        func sign(_ offset: Int) -> Int8 { Int8(bitPattern: digits[digits.startIndex + offset]) }
        while digits.count > 1, sign(0) == sign(1) >> 7 {
            digits.removeFirst()
        }
        return element(0x02, Array(digits))
    }

    private static let salt = bytes([1, 2, 3, 4, 5, 6, 7, 8])
    private static let pkcs: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01]
    private static let aes = sequence(
        [0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A], bytes([UInt8](repeating: 0, count: 16)))
    private static let sha256 = sequence([0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
    private static let hmac = sequence([0x06, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x09])

    /// PBE with SHA-1 and 3DES.
    private static func pbe(_ rounds: Int64) -> [UInt8] { algorithm(pkcs + [12, 1, 3], salt, number(rounds)) }
    private static func pbkdf2(_ rounds: Int64) -> [UInt8] {
        algorithm(pkcs + [5, 12], salt, number(rounds), number(32), hmac)
    }
    private static func scrypt(_ cost: Int64, _ blockSize: Int64, _ parallel: Int64) -> [UInt8] {
        algorithm([0x2B, 6, 1, 4, 1, 0xDA, 0x47, 4, 11], salt, number(cost), number(blockSize), number(parallel))
    }
    private static func pbes2(_ function: [UInt8]) -> [UInt8] { algorithm(pkcs + [5, 13], function, aes) }
    private static func pbmac1(_ function: [UInt8]) -> [UInt8] { algorithm(pkcs + [5, 14], function, hmac) }
    private static func mac(_ algorithm: [UInt8], _ rounds: Int64) -> [UInt8] {
        sequence(sequence(algorithm, bytes([UInt8](repeating: 0, count: 32))), salt, number(rounds))
    }

    private static func archive(_ encryptions: [[UInt8]], mac: [UInt8] = []) -> [UInt8] {
        func content(_ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
            sequence([0x06, 9] + pkcs + [7, kind], element(0xA0, value))
        }
        let data = [0x06, 9] + pkcs + [7, 1]
        let safes = encryptions.map { encryption in
            content(6, sequence(number(0), sequence(data, encryption, element(0x80, [UInt8](repeating: 0, count: 16)))))
        }
        return sequence(number(3), content(1, bytes(sequence(safes.flatMap { $0 }))), mac)
    }

    @Test(
        "more rounds in one file than are accepted are refused with their number",
        arguments: [
            (archive([pbe(6_000_000)]), "6000000"), (archive([pbes2(pbkdf2(6_000_000))]), "6000000"),
            (archive([pbes2(scrypt(16_384, 8, 50))]), "6553600"), (archive([], mac: mac(sha256, 6_000_000)), "6000000"),
            (archive([], mac: mac(pbmac1(pbkdf2(6_000_000)), 1)), "6000001"),
            (archive([pbe(2_000_000), pbes2(pbkdf2(2_000_000))], mac: mac(sha256, 2_000_000)), "6000000"),
            (archive([pbe(.max)]), "absurd number of"), (archive([pbes2(pbkdf2(-5))]), "absurd number of"),
            (archive([], mac: mac(sha256, -4_290_000_000)), "absurd number of"),
        ])
    func tooMany(archive: [UInt8], expected: String) {
        for password in ["123456", nil] {
            let error = #expect(throws: KeyFileError.self) { try KeyFile(reading: archive, password: password) }
            #expect(error?.description.contains("\(expected) rounds of hashing") == true, "\(error?.description ?? "")")
        }
    }

    @Test("an empty password is hashed once for each of its two encodings")
    func spellings() {
        let archive = Self.archive([Self.pbe(3_000_000)])
        let error = #expect(throws: KeyFileError.self) { try KeyFile(reading: archive, password: "") }
        #expect(error?.description.contains("6000000 rounds") == true)
        #expect(throws: Never.self) { try KeyFile(reading: archive, password: "x") }
    }

    @Test("as many rounds as are accepted are carried out, and so are parameters that libcrypto does not know")
    func accepted() throws {
        for encryption in [Self.pbes2(Self.pbkdf2(5_000_000)), Self.pbes2(Self.pbe(1)), Self.sha256] {
            let file = try KeyFile(reading: Self.archive([encryption]), password: "123456")
            guard case .unusable? = file.entries.first else {
                Issue.record("read with a wrong password")
                continue
            }
        }
    }

    @Test("a private key as encrypted DER is not decrypted")
    func privateKey() throws {
        let key = Self.sequence(Self.pbes2(Self.pbkdf2(Int64(Int32.max))), Self.bytes([UInt8](repeating: 0, count: 16)))
        let error = #expect(throws: KeyFileError.self) { try KeyFile(reading: key, password: "123456") }
        #expect(error?.description.contains("encrypted") == true)
    }
}
