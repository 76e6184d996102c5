internal import Foundation
package import TokenCrypto

/// What `openssl` does: the judge of what we do ourselves, and the maker of what we refuse.
package enum OpenSSL {
    /// The RSA operation alone, with the private half of `key`.
    package static func privateOperation(on message: [UInt8], key: RSASigningKey = TestKeys.standard) throws -> [UInt8]
    {
        try run(message, key) { key, input, output in
            ["pkeyutl", "-decrypt", "-inkey", key, "-in", input, "-out", output, "-pkeyopt", "rsa_padding_mode:none"]
        }
    }

    /// - Parameter options: of `openssl dgst`: the digest, the padding.
    package static func sign(
        _ message: [UInt8], _ options: [String], key: RSASigningKey = TestKeys.standard
    ) throws -> [UInt8] {
        try run(message, key) { ["dgst"] + options + ["-sign", $0, "-out", $2, $1] }
    }

    /// - Parameter name: `sha1` and so on.
    package static func digest(_ message: [UInt8], _ name: String) throws -> [UInt8] {
        try run(message, nil) { ["dgst", "-\(name)", "-binary", "-out", $2, $1] }
    }

    package static func modulus(of key: RSASigningKey = TestKeys.standard) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let file = try directory.write(try key.publicKey.pemText(), to: "key.pem")
        let shown = try Program("openssl").succeed(["rsa", "-pubin", "-in", file, "-noout", "-modulus"])
        let digits = shown.split(separator: "=")[1].filter(\.isHexDigit)
        return [UInt8](hexadecimal: (digits.count % 2 == 1 ? "0" : "") + digits)
    }

    /// - Parameter arguments: made of the key's file, that of the input, and that of the output.
    private static func run(
        _ input: [UInt8], _ key: RSASigningKey?,
        _ arguments: (_ key: String, _ input: String, _ output: String) -> [String]
    ) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let keyFile = try key.map { try directory.write(try $0.pemText(), to: "key.pem") } ?? ""
        let (inputFile, outputFile) = (try directory.write(Data(input), to: "input"), "\(directory.path)/output")
        try Program("openssl").succeed(arguments(keyFile, inputFile, outputFile))
        return Array(try Data(contentsOf: URL(filePath: outputFile)))
    }
}

extension [UInt8] {
    /// Reads pairs of digits; what is none does not count.
    package init(hexadecimal: String) {
        let digits = hexadecimal.compactMap(\.hexDigitValue).map { UInt8($0) }
        self = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
