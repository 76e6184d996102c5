internal import Basics

/// Reads PEM text (RFC 7468) with any number of public keys and certificates.
///
/// Text between blocks is ignored. Within a block, white space and the escapes that a JSON string or a shell's quotes
/// leave there are ignored too, such as `\n` for a line break; anything else that is not Base64 is an error.
enum PEMFile {
    /// Reads the keys and certificates of a text.
    ///
    /// - Returns: `nil` for a text without a block.
    static func read(_ text: [UInt8], withIssuers: Bool) throws(KeyFileError) -> KeyFile? {
        var (found, holdsPrivateKey) = ([KeyFile.Found](), false)
        let blocks = try blocks(of: text)
        guard !blocks.isEmpty else { return nil }
        for block in blocks {
            switch block.name {
            case "PUBLIC KEY", "RSA PUBLIC KEY":
                found.append(try required(KeyFile.Found.key(der: try block.der), block))
            case "CERTIFICATE", "X509 CERTIFICATE":
                found.append(try required(KeyFile.Found.certificate(der: try block.der), block))
            case "PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY":
                holdsPrivateKey = true
                // One that is encrypted says nothing of its public key.
                found += (try? block.der).flatMap(KeyFile.Found.privateKey) ?? []
            case let name where name.hasSuffix("PRIVATE KEY"):
                holdsPrivateKey = true
                let problem = "a PEM block '\(printable(name))'; expected a public key or a certificate of RSA"
                found.append(.entry(.unusable(.malformed(problem))))
            default:
                throw .malformed("a PEM block '\(printable(block.name))'; expected PUBLIC KEY or CERTIFICATE")
            }
        }
        return try KeyFile(format: .pem, found, holdsPrivateKey: holdsPrivateKey, withIssuers: withIssuers)
    }

    /// The bytes of a text that is Base64 and nothing else, as a file is whose first and last line are missing; `nil`
    /// for any other text.
    static func bareBase64(_ text: [UInt8]) -> [UInt8]? {
        let digits = digits(of: text[...])
        return digits.isEmpty ? nil : try? Base64.decode(digits[...], alphabet: .standard, padding: .optional)
    }

    private static func required(_ found: KeyFile.Found?, _ block: Block) throws(KeyFileError) -> KeyFile.Found {
        guard let found else {
            throw .malformed("a PEM block '\(block.name)' whose content is not one, or is cut short")
        }
        return found
    }

    private struct Block {
        let name: String
        let content: ArraySlice<UInt8>

        var der: [UInt8] {
            get throws(KeyFileError) {
                do { return try Base64.decode(digits(of: content)[...], alphabet: .standard, padding: .required) } catch
                {
                    throw PEMFile.damaged
                }
            }
        }
    }

    private static let damaged = KeyFileError.malformed("a damaged PEM block, or one cut short")
    private static let dashes = Array("-----".utf8)
    /// U+FEFF in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let begin = Array("-----BEGIN ".utf8)

    private static func blocks(of text: [UInt8]) throws(KeyFileError) -> [Block] {
        var (blocks, rest) = ([Block](), text[...])
        while let start = rest.firstRange(of: begin) {
            guard let head = rest[start.upperBound...].firstRange(of: dashes) else { throw damaged }
            let name = rest[start.upperBound..<head.lowerBound]
            let end = Array("-----END ".utf8) + name + dashes
            guard let foot = rest[head.upperBound...].firstRange(of: end) else { throw damaged }
            blocks.append(
                Block(name: String(decoding: name, as: UTF8.self), content: rest[head.upperBound..<foot.lowerBound]))
            rest = rest[foot.upperBound...]
        }
        return blocks
    }

    /// The text without white space, quotes, a byte order mark and escapes.
    private static func digits(of text: ArraySlice<UInt8>) -> [UInt8] {
        let escaped = Array("nrt".utf8)
        var (digits, isEscaped) = ([UInt8](), false)
        for byte in text.starts(with: byteOrderMark) ? text.dropFirst(byteOrderMark.count) : text {
            defer { isEscaped = byte == UInt8(ascii: "\\") }
            if byte.isASCIIWhiteSpace || [UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'")].contains(byte) {
                continue
            }
            if isEscaped, escaped.contains(byte) { continue }
            digits.append(byte)
        }
        return digits
    }
}
