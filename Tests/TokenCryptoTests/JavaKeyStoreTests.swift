import Foundation
import TestSupport
import Testing
import TokenCrypto

/// Stores that keytool would not write here, with a digest that openssl makes. Hostile ones are in `key-files.json`.
@Suite("Java keystores")
struct JavaKeyStoreTests {
    private static let password = "pässword"

    private func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    private func text(_ text: String) -> [UInt8] {
        Array(number(UInt32(text.utf8.count)).suffix(2)) + text.utf8
    }

    private func certificate() throws -> [UInt8] {
        let file = Fixtures.vectors.appending(path: "keystores/certificate.pem").path
        let directory = try TemporaryDirectory()
        let der = "\(directory.path)/der"
        try Program("openssl").succeed(["x509", "-in", file, "-outform", "der", "-out", der])
        let bytes = Array(try Data(contentsOf: URL(filePath: der)))
        return text("X.509") + number(UInt32(bytes.count)) + bytes
    }

    private func trusted(_ certificate: [UInt8]) -> [UInt8] {
        number(2) + text("alias") + [UInt8](repeating: 0, count: 8) + certificate
    }

    private func read(count: UInt32, _ entries: [UInt8]) throws -> KeyFile {
        let content = [0xFE, 0xED, 0xFE, 0xED] + number(2) + number(count) + entries
        let salted =
            Self.password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } + "Mighty Aphrodite".utf8 + content
        let digest = try OpenSSL.digest(salted, "sha1")
        return try KeyFile(reading: content + digest, password: Self.password)
    }

    @Test("several certificates, and a password beyond ASCII")
    func several() throws {
        let entry = trusted(try certificate())
        #expect(try read(count: 2, entry + entry).entries.count == 2)
    }

    @Test("a private key is noticed; of its chain only its own certificate counts")
    func privateKey() throws {
        let certificate = try certificate()
        let entry =
            number(1) + text("alias") + [UInt8](repeating: 0, count: 8) + number(3) + [1, 2, 3]
            + number(2) + certificate + certificate
        let file = try read(count: 1, entry)
        #expect(file.holdsPrivateKey)
        #expect(file.entries.count == 1)
    }
}
