internal import Foundation
internal import MediaToken
internal import TestSupport
internal import TokenCrypto

/// What a key file gives is a key that comes back the same from its own bytes; and only a key that fulfils the
/// requirements is loaded.
struct KeyFileProperty: FuzzProperty {
    private static let password = "123456"
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    func check(_ input: [UInt8]) throws {
        try checkFile(input)
        // As a stranger would make it who knows the password: else nothing behind the digest is ever reached.
        if input.starts(with: JavaKeyStore.magic),
            let digest = JavaKeyStore.digest(of: input[...], password: Self.password)
        {
            try checkFile(input + digest)
        }
    }

    private func checkFile(_ bytes: [UInt8]) throws {
        guard let file = try? KeyFile(reading: bytes, password: Self.password) else { return }
        for text in file.leftOut { try demandOneLine(text) }
        for entry in file.entries {
            switch entry {
            case .key(let key): try check(key)
            case .certificate(let certificate): try check(certificate.key)
            case .unusable(let error): try demandOneLine("\(error)")
            }
        }
        let path = try directory.write(Data(bytes), to: "key.pem")
        do {
            let ring = try KeyRing(loading: path, minimumRSABits: 1024, password: Self.password)
            try demand(!file.holdsPrivateKey, "loaded from a file with a private key")
            for key in ring.keys { try demand((1024...8192).contains(key.bits), "loaded with \(key.bits) bits") }
        } catch let error as KeyRingError {
            for line in "\(error)".split(separator: "\n") { try demandOneLine(String(line)) }
        }
    }

    private func check(_ key: RSAPublicKey) throws {
        let again = try RSAPublicKey(ifDER: key.derBytes)
        try demand(again?.fingerprint == key.fingerprint, "its own DER gives another key")
        let written = try KeyFile(reading: Array(try key.pemText().utf8), password: nil)
        guard case .key(let read)? = written.entries.first else {
            throw Violation(description: "its own PEM gives no key")
        }
        try demand(
            read.fingerprint == key.fingerprint && read.exponent == key.exponent, "its own PEM gives another key")
    }
}
