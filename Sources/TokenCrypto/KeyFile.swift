internal import Basics
internal import COpenSSL

/// The public keys of one file, whatever its format.
///
/// The format is recognised by the first bytes alone, never by the file's name: since Java 9, a `.jks` is often a
/// PKCS#12.
package struct KeyFile: Sendable {
    package enum Format: String, Sendable {
        case pem = "PEM"
        case der = "DER"
        case pkcs12 = "PKCS#12"
        case jks = "JKS"
    }

    package enum Entry: Sendable {
        case key(RSAPublicKey)
        case certificate(Certificate)
        /// A key or certificate that cannot verify anything, and the reason.
        case unusable(KeyFileError)
    }

    /// What a reader finds in a file, before it is known which certificates have issued others.
    enum Found {
        case entry(Entry)
        case certificate(ParsedCertificate)
        /// A certificate that belongs to the issuers of another one, by its place in the file.
        case issuer(ParsedCertificate)
        /// Something that verifies nothing, by its name.
        case other(String)

        /// Reads a DER certificate; `nil` for anything else.
        static func certificate(der: [UInt8]) -> Found? {
            do throws(KeyFileError) { return try ParsedCertificate(ifDER: der).map { .certificate($0) } } catch {
                return .entry(.unusable(error))
            }
        }

        /// Reads a DER public key; `nil` for anything else.
        static func key(der: [UInt8]) -> Found? {
            do throws(KeyFileError) { return try RSAPublicKey(ifDER: der).map { .entry(.key($0)) } } catch {
                return .entry(.unusable(error))
            }
        }

        /// A certificate of a chain, after its first.
        var asIssuer: Found {
            if case .certificate(let certificate) = self {
                .issuer(certificate)
            } else {
                .other("an issuer's certificate")
            }
        }

        /// Notices a DER private key by its form, and finds only whether its public key would be unusable; `nil` for
        /// anything else.
        static func privateKey(der: [UInt8]) -> [Found]? {
            KeyAlgorithm.ofPrivateKey(der[...]).map { $0 == EVP_PKEY_RSA ? [] : [.entry(.unusable(.notRSA($0)))] }
        }
    }

    /// The largest file accepted, in bytes. A key file has a few kilobytes; the limit stops reading a file that is no
    /// key file.
    package static let sizeLimit = 1 << 20

    package let format: Format
    package let entries: [Entry]
    /// What the file has besides the entries, each as a clause that completes a line which begins with the file's name.
    package let leftOut: [String]
    /// Whether the file also holds a private key. It is neither read nor needed, and should not be there.
    package let holdsPrivateKey: Bool

    /// The command that takes the public keys out of this file, which has a private key, as a shell reads it; `nil` if
    /// they would be unusable.
    package func commandForPublicKeys(in path: String) -> String? {
        let path = "\"\(printable(path, limit: 300))\""
        if entries.contains(where: { if case .unusable = $0 { false } else { true } }) {
            let password = format == .pkcs12 || format == .jks ? " --password-file FILE" : ""
            return "media-token keys import \(path)\(password) --to public-keys"
        }
        guard entries.isEmpty else { return nil }
        return switch format {
        case .pkcs12: "openssl pkcs12 -in \(path) -nocerts -nodes | openssl pkey -pubout -out public.pem"
        case .pem, .der: "openssl pkey -in \(path) -pubout -out public.pem"
        case .jks: nil
        }
    }

    /// Reads the keys from a file's bytes.
    ///
    /// Text may be UTF-16, as Windows writes it, or only the Base64 of a key file.
    ///
    /// - Parameters:
    ///   - password: used to decrypt PKCS#12, and to check the integrity digest of PKCS#12 and JKS; ignored for other
    ///     formats.
    ///   - withIssuers: whether certificates that have issued another one of the file are entries too.
    /// - Throws: ``KeyFileError`` if the file as a whole cannot be read.
    package init(reading bytes: [UInt8], password: String?, withIssuers: Bool = false) throws(KeyFileError) {
        guard !bytes.isEmpty else { throw .empty }
        var recoder = UTF16Recoder(beginning: bytes.prefix(4))
        let text = recoder?.recode(bytes) ?? bytes
        for content in [text, PEMFile.bareBase64(text) ?? []] {
            if let file = try Self.read(content, password: password, withIssuers: withIssuers) {
                self = file
                return
            }
        }
        throw .malformed("neither PEM, DER, PKCS#12 nor JKS")
    }

    init(format: Format, _ found: [Found], holdsPrivateKey: Bool, withIssuers: Bool) throws(KeyFileError) {
        guard !found.isEmpty || holdsPrivateKey else { throw .malformed("\(format.rawValue) without any key") }
        let certificates = found.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
        let issuers = withIssuers ? [] : try ParsedCertificate.issuers(among: certificates)
        var (entries, leftOut) = ([Entry](), [String]())
        for one in found {
            switch one {
            case .entry(let entry): entries.append(entry)
            case .other(let name): leftOut.append("has \(name), which was left out: it verifies nothing")
            case .certificate(let certificate) where !issuers.contains(ObjectIdentifier(certificate)),
                .issuer(let certificate) where withIssuers:
                entries.append(certificate.entry)
            case .certificate(let certificate), .issuer(let certificate):
                leftOut.append(
                    "has the certificate '\(printable(certificate.subject))', which was left out: it is the issuer of another "
                        + "one in the file (to load it too, put it into a separate file, or use --with-issuers)")
            }
        }
        (self.format, self.entries, self.leftOut) = (format, entries, leftOut)
        self.holdsPrivateKey = holdsPrivateKey
    }

    /// Reads the format that the first bytes name; `nil` if they name none.
    private static func read(
        _ bytes: [UInt8], password: String?, withIssuers: Bool
    ) throws(KeyFileError) -> KeyFile? {
        let sequenceTag: UInt8 = 0x30
        if bytes.starts(with: JavaKeyStore.magic) {
            return try JavaKeyStore.read(bytes, password: password, withIssuers: withIssuers)
        } else if bytes.starts(with: JavaKeyStore.jceksMagic) {
            throw .malformed("a JCEKS keystore; expected type JKS (convert it with keytool -importkeystore)")
        } else if bytes.first == sequenceTag {
            return try readDER(bytes, password: password, withIssuers: withIssuers)
        } else {
            return try PEMFile.read(bytes, withIssuers: withIssuers)
        }
    }

    /// Reads DER. The formats are different ASN.1 types, so at most one of these readings consumes the whole file.
    private static func readDER(
        _ bytes: [UInt8], password: String?, withIssuers: Bool
    ) throws(KeyFileError) -> KeyFile {
        if let found = Found.key(der: bytes) ?? Found.certificate(der: bytes) {
            return try KeyFile(format: .der, [found], holdsPrivateKey: false, withIssuers: withIssuers)
        }
        if let archive = PKCS12Archive(ifDER: bytes) {
            return try archive.open(password: password, withIssuers: withIssuers)
        }
        if let found = Found.privateKey(der: bytes) {
            return try KeyFile(format: .der, found, holdsPrivateKey: true, withIssuers: withIssuers)
        }
        throw .malformed("DER that is no public key, certificate or PKCS#12, or is encrypted or cut short")
    }
}
