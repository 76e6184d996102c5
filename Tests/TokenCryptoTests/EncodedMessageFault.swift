/// Messages for the RSA operation that look like EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 9.2). All but the first have been
/// taken for it by some verifier.
enum EncodedMessageFault: CaseIterable {
    case none
    /// Fewer bytes of padding, and bytes behind the digest instead (Bleichenbacher's forgery of 2006).
    case bytesBehindDigest
    /// The hash's parameters are left out, not NULL.
    case noParameters
    case otherHash
    case typeOfEncryption
    case noSeparator
    case paddingByte
    case leadingByte

    func encodedMessage(of digest: [UInt8], length: Int) -> [UInt8] {
        let full: [UInt8] = [
            0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
            0x20,
        ]
        let withoutParameters: [UInt8] = [
            0x30, 0x2F, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x04, 0x20,
        ]
        var info = (self == .noParameters ? withoutParameters : full) + digest
        if self == .otherHash { info[14] = 0x03 }
        let behind: [UInt8] = self == .bytesBehindDigest ? Array(repeating: 0x55, count: 100) : []
        var padding = [UInt8](repeating: 0xFF, count: length - 3 - info.count - behind.count)
        if self == .paddingByte { padding[padding.count / 2] = 0xFE }
        let type: UInt8 = self == .typeOfEncryption ? 0x02 : 0x01
        let separator: UInt8 = self == .noSeparator ? 0xFF : 0x00
        return [self == .leadingByte ? 0x01 : 0x00, type] + padding + [separator] + info + behind
    }
}
