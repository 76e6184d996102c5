import Foundation
import MediaToken
import TestSupport
import Testing
import TokenCrypto

/// Files that are given as keys. The code is `LOADED` or `REFUSED`.
enum KeyFileVectors {
    static func load(_ vector: Vector) throws -> VectorOutcome {
        let directory = try TemporaryDirectory()
        let content = try content(of: vector, directory)
        let cut = vector.length.map { $0 < 0 ? content.dropLast(-$0) : content.prefix($0) } ?? content[...]
        let path = try directory.write(Data(cut), to: "key")
        do {
            // In the middle of the certificates' validity.
            let ring = try KeyRing(
                loading: [path], password: vector.password, requirements: KeyRequirements(minimumRSABits: 1024),
                at: Timestamp(milliseconds: 1_700_000_000_000))
            #expect(ring.keys.count == 1)
            return VectorOutcome(code: "LOADED", message: "")
        } catch {
            let message = error.description.replacing(directory.path, with: "")
            return VectorOutcome(code: "REFUSED", message: message)
        }
    }

    private static func content(of vector: Vector, _ directory: TemporaryDirectory) throws -> [UInt8] {
        if let base64 = vector.base64 { return Array(try #require(Data(base64Encoded: base64))) }
        if let options = vector.openssl { return try made(by: options, directory) }
        let original = try vector.file.map { Array(try Data(contentsOf: Fixtures.vectors.appending(path: $0))) }
        return try #require(vector.change(original ?? []), "nothing to replace")
    }

    /// What openssl writes, where private keys are needed that nobody commits. `KEY`, `OUT` and `CERTIFICATE` stand for
    /// files.
    private static func made(by options: [String], _ directory: TemporaryDirectory) throws -> [UInt8] {
        let key = try directory.write(try TestKeys.standard.pemText(), to: "private.pem")
        let output = "\(directory.path)/output"
        let certificate = "\(directory.path)/certificate.pem"
        try Program("openssl").succeed(
            ["req", "-x509", "-new", "-key", key, "-subj", "/CN=vector", "-days", "2", "-out", certificate])
        let files = ["KEY": key, "OUT": output, "CERTIFICATE": certificate]
        try Program("openssl").succeed(options.map { files[$0] ?? $0 })
        return Array(try Data(contentsOf: URL(filePath: output)))
    }
}
