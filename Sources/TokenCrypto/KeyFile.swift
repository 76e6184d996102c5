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

        /// The entry that `read` returns; an unusable entry if `read` throws, and `nil` if it returns `nil`.
        init?(_ read: () throws(KeyFileError) -> Entry?) {
            do {
                guard let entry = try read() else { return nil }
                self = entry
            } catch {
                self = .unusable(error)
            }
        }

        /// Reads a DER certificate; `nil` for anything else.
        static func certificate(der: [UInt8]) -> Entry? {
            Entry { () throws(KeyFileError) in try Certificate(ifDER: der).map { .certificate($0) } }
        }

        /// Reads a DER public key; `nil` for anything else.
        static func key(der: [UInt8]) -> Entry? {
            Entry { () throws(KeyFileError) in try RSAPublicKey(ifDER: der).map { .key($0) } }
        }
    }

    /// The largest file accepted, in bytes. A key file has a few kilobytes; the limit stops reading a file that is no
    /// key file.
    package static let sizeLimit = 1 << 20

    package let format: Format
    package let entries: [Entry]
    /// Whether the file also holds a private key. It is neither read nor needed, and should not be there.
    package let holdsPrivateKey: Bool

    /// Reads the keys from a file's bytes.
    ///
    /// - Parameter password: used to decrypt PKCS#12, and to check the integrity digest of JKS; ignored for other
    ///   formats.
    /// - Throws: ``KeyFileError`` if the file as a whole cannot be read.
    package init(reading bytes: [UInt8], password: String?) throws(KeyFileError) {
        let sequenceTag: UInt8 = 0x30
        if bytes.isEmpty {
            throw .empty
        } else if bytes.starts(with: JavaKeyStore.magic) {
            self = try JavaKeyStore.read(bytes, password: password)
        } else if bytes.starts(with: JavaKeyStore.jceksMagic) {
            throw .malformed("a JCEKS keystore; expected type JKS (convert it with keytool -importkeystore)")
        } else if bytes[0] == sequenceTag {
            self = try Self.readDER(bytes, password: password)
        } else {
            self = try PEMFile.read(bytes)
        }
    }

    init(format: Format, entries: [Entry], holdsPrivateKey: Bool) throws(KeyFileError) {
        guard !entries.isEmpty || holdsPrivateKey else { throw .malformed("\(format.rawValue) without any key") }
        self.format = format
        self.entries = entries
        self.holdsPrivateKey = holdsPrivateKey
    }

    /// Reads DER. The formats are different ASN.1 types, so at most one of these readings consumes the whole file.
    private static func readDER(_ bytes: [UInt8], password: String?) throws(KeyFileError) -> KeyFile {
        if let entry = Entry.key(der: bytes) ?? Entry.certificate(der: bytes) {
            return try KeyFile(format: .der, entries: [entry], holdsPrivateKey: false)
        }
        if let archive = PKCS12Archive(ifDER: bytes) {
            return try archive.open(password: password)
        }
        if isPrivateKey(bytes) {
            return try KeyFile(format: .der, entries: [], holdsPrivateKey: true)
        }
        throw .malformed("DER that is no public key, certificate or PKCS#12, or is encrypted or cut short")
    }

    private static func isPrivateKey(_ bytes: [UInt8]) -> Bool {
        let pointer = decodeDER(bytes, with: { d2i_AutoPrivateKey(nil, $0, $1) }, discarding: EVP_PKEY_free)
        CryptoError.discardQueue()
        EVP_PKEY_free(pointer)
        return pointer != nil
    }
}
