internal import COpenSSL

/// Reads PEM text (RFC 7468) with any number of public keys and certificates.
enum PEMFile {
    static func read(_ bytes: [UInt8]) throws(KeyFileError) -> KeyFile {
        var entries: [KeyFile.Entry] = []
        var holdsPrivateKey = false
        for block in try blocks(of: bytes) {
            switch block.name {
            case "PUBLIC KEY", "RSA PUBLIC KEY":
                entries.append(try required(KeyFile.Entry.key(der: block.der), block))
            case "CERTIFICATE", "X509 CERTIFICATE":
                entries.append(try required(KeyFile.Entry.certificate(der: block.der), block))
            case let name where name.hasSuffix("PRIVATE KEY"):
                holdsPrivateKey = true
            default:
                throw .malformed("a PEM block '\(block.name)'; expected PUBLIC KEY or CERTIFICATE")
            }
        }
        return try KeyFile(format: .pem, entries: entries, holdsPrivateKey: holdsPrivateKey)
    }

    private static func required(_ entry: KeyFile.Entry?, _ block: Block) throws(KeyFileError) -> KeyFile.Entry {
        guard let entry else {
            throw .malformed("a PEM block '\(block.name)' whose content is not one, or is cut short")
        }
        return entry
    }

    private struct Block {
        let name: String
        let der: [UInt8]
    }

    private static func blocks(of bytes: [UInt8]) throws(KeyFileError) -> [Block] {
        var blocks: [Block] = []
        let failure = bytes.withUnsafeBytes { buffer -> Int32 in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { BIO_free(bio) }
            while let block = nextBlock(in: bio) { blocks.append(block) }
            defer { CryptoError.discardQueue() }
            return shim_ERR_GET_REASON(ERR_peek_last_error())
        }
        guard failure == PEM_R_NO_START_LINE else { throw .malformed("a damaged PEM block, or one cut short") }
        guard !blocks.isEmpty else { throw .malformed("neither PEM, DER, PKCS#12 nor JKS") }
        return blocks
    }

    /// Reads the next PEM block; `nil` at the end and on damage, which libcrypto's error queue distinguishes.
    private static func nextBlock(in bio: OpaquePointer?) -> Block? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var content: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(bio, &name, &header, &content, &count) == 1, let name, let content else { return nil }
        defer {
            CRYPTO_free(name, #file, Int32(#line))
            CRYPTO_free(header, #file, Int32(#line))
            CRYPTO_free(content, #file, Int32(#line))
        }
        return Block(
            name: String(cString: name), der: Array(UnsafeBufferPointer(start: content, count: count)))
    }
}
