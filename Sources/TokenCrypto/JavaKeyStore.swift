internal import COpenSSL

/// A Java keystore of type JKS, the form in which Adobe distributes `media_token_keystore.jks`.
///
/// The layout is that of the JDK's own `sun.security.provider.JavaKeyStore`, with all numbers big-endian: magic,
/// version, count; for each entry a tag, alias and creation time, then one certificate (tag 2) or an encrypted private
/// key and its chain (tag 1); last a SHA-1 digest over the password, a fixed phrase and everything before it.
package enum JavaKeyStore {
    package static let magic: [UInt8] = [0xFE, 0xED, 0xFE, 0xED]
    static let jceksMagic: [UInt8] = [0xCE, 0xCE, 0xCE, 0xCE]

    private static let digestLength = 20
    private static let phrase = Array("Mighty Aphrodite".utf8)

    static func read(_ bytes: [UInt8], password: String?, withIssuers: Bool) throws(KeyFileError) -> KeyFile {
        guard let password else { throw .passwordMissing(.jks) }
        guard bytes.count > digestLength else { throw .malformed("a JKS that is cut short") }
        let content = bytes.dropLast(digestLength)
        guard digest(of: content, password: password) == Array(bytes.suffix(digestLength)) else {
            throw .passwordWrong(.jks)
        }
        return try readEntries(of: content, withIssuers: withIssuers)
    }

    /// The keystore's own integrity digest: SHA-1 over the password as UTF-16BE, the phrase, and the content.
    package static func digest(of content: ArraySlice<UInt8>, password: String) -> [UInt8]? {
        let salted = password.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + phrase + content
        var output = [UInt8](repeating: 0, count: digestLength)
        let outcome = salted.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &output, nil, EVP_sha1(), nil) }
        return outcome == 1 ? output : nil
    }

    /// A store of version 2 that trusts `certificates`.
    ///
    /// - Parameters:
    ///   - created: The creation time of the entries, in milliseconds since 1970.
    ///   - password: What protects the store from changes. It hides nothing.
    /// - Returns: `nil` if libcrypto has no SHA-1.
    package static func store(
        trusting certificates: [(alias: String, certificate: Certificate)], created: Int64, password: String
    ) -> [UInt8]? {
        var content = magic + bigEndian(2, bytes: 4) + bigEndian(certificates.count, bytes: 4)
        for (alias, certificate) in certificates {
            content += bigEndian(2, bytes: 4) + text(alias) + bigEndian(Int(created), bytes: 8) + text("X.509")
            content += bigEndian(certificate.derBytes.count, bytes: 4) + certificate.derBytes
        }
        return digest(of: content[...], password: password).map { content + $0 }
    }

    private static func text(_ ascii: String) -> [UInt8] { bigEndian(ascii.utf8.count, bytes: 2) + ascii.utf8 }

    private static func bigEndian(_ number: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func readEntries(
        of content: ArraySlice<UInt8>, withIssuers: Bool
    ) throws(KeyFileError) -> KeyFile {
        var reader = BigEndianReader(content)
        try reader.skip(magic.count)
        let version = try reader.number(bytes: 4)
        guard version == 1 || version == 2 else {
            throw .malformed("a JKS of version \(version); expected 1 or 2")
        }
        let count = try reader.number(bytes: 4)
        var found: [KeyFile.Found] = []
        var holdsPrivateKey = false
        for _ in 0..<count {
            let tag = try reader.number(bytes: 4)
            try reader.skip(reader.number(bytes: 2))  // alias
            try reader.skip(8)  // creation time
            switch tag {
            case 1:
                holdsPrivateKey = true
                try reader.skip(reader.number(bytes: 4))
                // The first certificate is the key's own; those after it belong to its issuers and sign no tokens.
                for position in 0..<(try reader.number(bytes: 4)) {
                    let one = try readCertificate(from: &reader, version: version)
                    found.append(position == 0 ? one : one.asIssuer)
                }
            case 2:
                found.append(try readCertificate(from: &reader, version: version))
            default:
                throw .malformed("a JKS with an entry of unknown kind \(tag)")
            }
        }
        guard reader.isAtEnd else { throw .malformed("a JKS with bytes after its last entry") }
        return try KeyFile(format: .jks, found, holdsPrivateKey: holdsPrivateKey, withIssuers: withIssuers)
    }

    private static func readCertificate(
        from reader: inout BigEndianReader, version: Int
    ) throws(KeyFileError) -> KeyFile.Found {
        if version == 2 {
            let type = try reader.take(reader.number(bytes: 2))
            guard type.elementsEqual("X.509".utf8) else {
                throw .malformed("a JKS with a certificate other than X.509")
            }
        }
        guard let certificate = KeyFile.Found.certificate(der: Array(try reader.take(reader.number(bytes: 4)))) else {
            throw .malformed("a JKS with a damaged certificate")
        }
        return certificate
    }
}

/// Reads numbers and runs of bytes from the front. Every length is checked against the bytes that are left before it is
/// used.
private struct BigEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(KeyFileError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .malformed("a JKS with a length beyond its end") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func skip(_ count: Int) throws(KeyFileError) {
        _ = try take(count)
    }

    mutating func number(bytes count: Int) throws(KeyFileError) -> Int {
        try take(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
