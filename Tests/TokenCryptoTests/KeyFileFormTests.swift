import Foundation
import TestSupport
import Testing
import TokenCrypto

/// Key files as people have them: in stores of several entries, and in text that other programs have changed.
@Suite("Key files as people have them")
struct KeyFileFormTests {
    private static let pem =
        (try? String(
            contentsOf: Fixtures.vectors.appending(path: "keystores/certificate.pem"), encoding: .utf8)) ?? ""
    private static var base64: String {
        pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined(separator: "\n")
    }

    private func names(_ file: KeyFile) -> [String] {
        file.entries.map { if case .certificate(let certificate) = $0 { certificate.subject } else { "\($0)" } }
    }

    private static let texts: [(String, [UInt8])] = [
        ("UTF-16 with its mark", [0xFF, 0xFE] + pem.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
        ("UTF-16, big-endian", [0xFE, 0xFF] + pem.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }),
        ("UTF-16 without a mark", pem.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
        ("Base64 in UTF-16", [0xFF, 0xFE] + base64.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
        ("Base64 in lines", Array(base64.utf8)), ("Base64 in one line", Array(base64.replacing("\n", with: "").utf8)),
        ("Base64 without padding", Array(base64.replacing("=", with: "").utf8)),
        ("Base64 of the whole file", Array(Data(pem.utf8).base64EncodedData())),
        ("a mark of UTF-8", [0xEF, 0xBB, 0xBF] + pem.utf8),
        ("line breaks as two characters", Array(pem.replacing("\n", with: #"\n"#).utf8)),
        ("a variable", Array(#"KEY="\#(pem.replacing("\n", with: #"\r\n"#))""#.utf8)),
        ("JSON", Array(#"{"key": "\#(pem.replacing("\n", with: #"\n"#).replacing("/", with: #"\/"#))"}"#.utf8)),
        ("JSON in JSON", Array(pem.replacing("\n", with: #"\\n"#).utf8)),
        ("spaces for line breaks", Array(pem.replacing("\n", with: " ").utf8)),
        ("indented, with CRLF", Array(pem.split(separator: "\n").map { "    \($0)\r\n" }.joined().utf8)),
        ("text around it", Array("Bag Attributes\nsubject=x\n\(pem)\nsome more\0".utf8)),
    ]

    @Test("PEM is read however a program has written it down", arguments: texts)
    func text(name: String, bytes: [UInt8]) throws {
        #expect(names(try KeyFile(reading: bytes, password: nil)) == ["CN=Media Token Test,O=Example"])
    }

    @Test("a block that is damaged is an error, and so is a text without one")
    func damaged() {
        for (text, expected) in [
            (Self.pem.replacing("=", with: ""), "damaged"), (Self.pem.replacing("MII", with: "MI*"), "damaged"),
            (Self.pem.replacing("END CERT", with: "END XCERT"), "damaged"),
            (String(Self.base64.dropLast(8)), "DER that"),
            ("A line of text.", "neither PEM"), ("aGVsbG8=", "neither PEM"),
            ("-----BEGIN TRUSTED CERTIFICATE-----\nMIIA\n-----END TRUSTED CERTIFICATE-----", "'TRUSTED CERTIFICATE'"),
        ] {
            let error = #expect(throws: KeyFileError.self) { try KeyFile(reading: Array(text.utf8), password: nil) }
            #expect(error?.description.contains(expected) == true, "\(text.prefix(40)): \(error?.description ?? "")")
        }
    }

    /// Options of `openssl pkcs12 -export`, the password to read with, and the subjects of what is read.
    private static let protections: [([String], String?, [String])] = [
        (
            ["-inkey", "KEY", "-in", "LEAF", "-certfile", "OTHER"], "123456",
            ["CN=leaf", "CN=Media Token Test,O=Example"]
        ),
        (["-inkey", "KEY", "-in", "LEAF", "-certfile", "AUTHORITY"], "123456", ["CN=leaf"]),
        (["-nokeys", "-in", "LEAF", "-certfile", "OTHER"], "123456", ["CN=leaf", "CN=Media Token Test,O=Example"]),
        (["-nokeys", "-in", "OTHER", "-nomac", "-certpbe", "NONE"], nil, ["CN=Media Token Test,O=Example"]),
        (["-nokeys", "-in", "OTHER", "-nomac", "-certpbe", "NONE"], "any", ["CN=Media Token Test,O=Example"]),
        (
            ["-nokeys", "-in", "OTHER", "-nomac", "-certpbe", "AES-256-CBC"], "123456",
            ["CN=Media Token Test,O=Example"]
        ),
        (["-nokeys", "-in", "OTHER", "-certpbe", "PBE-SHA1-RC2-40"], "123456", ["CN=Media Token Test,O=Example"]),
        (["-nokeys", "-in", "OTHER", "-passout", "pass:"], "", ["CN=Media Token Test,O=Example"]),
        (["-inkey", "KEY", "-in", "LEAF", "-keypbe", "PBE-SHA1-RC4-128", "-certpbe", "NONE"], "123456", ["CN=leaf"]),
    ]

    private func archive(_ options: [String], _ made: IssuedCertificate) throws -> [UInt8] {
        let folder = made.directory.path
        let other = try made.directory.write(Self.pem, to: "other.pem")
        let files = [
            "KEY": made.key, "LEAF": folder + "/leaf.pem", "AUTHORITY": folder + "/authority.pem", "OTHER": other,
        ]
        let password = options.contains("-passout") ? [] : ["-passout", "pass:123456"]
        try Program("openssl").succeed(
            ["pkcs12", "-export", "-provider", "default", "-provider", "legacy", "-out", folder + "/out"] + password
                + options.map { files[$0] ?? $0 })
        return Array(try Data(contentsOf: URL(filePath: folder + "/out")))
    }

    @Test(
        "every certificate of a PKCS#12 is read, whatever else is in it, and however it is protected",
        arguments: protections)
    func archives(options: [String], password: String?, expected: [String]) throws {
        let made = try IssuedCertificate()
        let file = try KeyFile(reading: try archive(options, made), password: password)
        #expect(Set(names(file)) == Set(expected) && file.format == .pkcs12)
        #expect(file.holdsPrivateKey == options.contains("KEY"))
        #expect(file.leftOut.contains { $0.contains("'CN=authority'") } == options.contains("AUTHORITY"))
    }

    @Test("a wrong password, and a cipher that nobody has, are told apart, also without a digest")
    func protection() throws {
        let made = try IssuedCertificate()
        let cipher = ["-nokeys", "-in", "OTHER", "-nomac", "-certpbe", "PBE-SHA1-RC4-40"]
        let bytes = try archive(cipher, made)
        #expect(throws: KeyFileError.passwordMissing(.pkcs12)) { try KeyFile(reading: bytes, password: nil) }
        guard case .unusable(let wrong)? = try KeyFile(reading: bytes, password: "123457").entries.first else {
            Issue.record("read with a wrong password")
            return
        }
        #expect(wrong == .passwordWrong(.pkcs12))
        // The last byte of the cipher's number.
        let number: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01, 0x02]
        var unknown = bytes
        unknown[try #require(bytes.firstRange(of: number)).upperBound - 1] = 9
        guard case .unusable(let error)? = try KeyFile(reading: unknown, password: "123456").entries.first else {
            Issue.record("read with an unknown cipher")
            return
        }
        #expect(error.description.contains("entries encrypted with 1.2.840.113549.1.12.1.9, which"), "\(error)")
    }

    @Test("a certificate that has issued another one of its file is left out and named; one that was renewed is not")
    func issuers() throws {
        let made = try IssuedCertificate()
        for text in [made.certificate + made.authority, made.authority + made.certificate] {
            let file = try KeyFile(reading: Array(text.utf8), password: nil)
            #expect(names(file) == ["CN=leaf"] && file.leftOut.count == 1)
            #expect(file.leftOut.allSatisfy { $0.contains("'CN=authority'") && $0.contains("--with-issuers") })
            #expect(try KeyFile(reading: Array(text.utf8), password: nil, withIssuers: true).entries.count == 2)
        }
        // Signed by itself, for the same key and name as before, and once more for another key.
        func signed(_ key: String, _ days: String) throws -> String {
            try Program("openssl").succeed([
                "req", "-x509", "-new", "-key", key, "-subj", "/CN=same", "-days", days,
            ])
        }
        let renewed = try signed(made.key, "2") + signed(made.key, "3")
        let other = try signed(made.directory.path + "/authority.key", "2")
        let file = try KeyFile(reading: Array((renewed + other).utf8), password: nil)
        #expect(file.entries.count == 3 && file.leftOut.isEmpty)
    }

    @Test("an authority whose key is of another algorithm is an issuer like others")
    func otherIssuers() throws {
        let made = try IssuedCertificate()
        let (authority, request) = (made.directory.path + "/ec.pem", made.directory.path + "/ec.csr")
        try Program("openssl").succeed(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + ["-subj", "/CN=curve", "-keyout", authority + ".key", "-out", authority])
        try Program("openssl").succeed(["req", "-new", "-key", made.key, "-subj", "/CN=leaf", "-out", request])
        let leaf = try Program("openssl").succeed(
            ["x509", "-req", "-in", request, "-CA", authority, "-CAkey", authority + ".key", "-days", "2"])
        let chain = try leaf + String(contentsOfFile: authority, encoding: .utf8)
        let file = try KeyFile(reading: Array(chain.utf8), password: nil)
        #expect(names(file) == ["CN=leaf"] && file.entries.count == 1)
        #expect(file.leftOut.count == 1 && file.leftOut.allSatisfy { $0.contains("'CN=curve'") })
    }
}
