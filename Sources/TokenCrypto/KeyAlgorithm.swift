internal import COpenSSL

/// Finds the algorithm of a key in its DER, as libcrypto's number, without decoding the key.
///
/// libcrypto computes while it decodes: the public half of a private key of DSA, or a point of a curve that the file
/// itself describes. The file would choose how long that takes.
enum KeyAlgorithm {
    /// The algorithm of a `SubjectPublicKeyInfo` (RFC 5280); `nil` for anything else.
    static func ofPublicKey(_ der: ArraySlice<UInt8>) -> Int32? {
        let parts = parts(of: der)
        return parts.map(\.tag) == [V_ASN1_SEQUENCE, V_ASN1_BIT_STRING] ? number(parts[0]) : nil
    }

    /// The `SubjectPublicKeyInfo` of a certificate; `nil` for anything else than a certificate.
    static func publicKey(ofCertificate der: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let fields = parts(of: der).first.map { parts(of: $0.bytes) } ?? []
        let hasVersion = fields.first?.tag == V_ASN1_CONTEXT_SPECIFIC
        let key = fields.dropFirst(hasVersion ? 6 : 5).first?.bytes
        return key.flatMap { ofPublicKey($0) == nil ? nil : $0 }
    }

    /// Whether a `SubjectPublicKeyInfo` describes the curve of its key, instead of naming one (RFC 3279, 2.3.5).
    static func describesCurve(_ publicKey: ArraySlice<UInt8>) -> Bool {
        let identifier = parts(of: publicKey).first.map { parts(of: $0.bytes) } ?? []
        return ofPublicKey(publicKey) == EVP_PKEY_EC && identifier.dropFirst().first?.tag != V_ASN1_OBJECT
    }

    /// The algorithm of an unencrypted private key: of PKCS#8 (RFC 5208), or of the forms that algorithms have of their
    /// own, which differ in the types of their parts; `nil` for anything else.
    static func ofPrivateKey(_ der: ArraySlice<UInt8>) -> Int32? {
        let parts = parts(of: der)
        let tags = parts.map(\.tag)
        func numbers(_ count: Int) -> [Int32] { [Int32](repeating: V_ASN1_INTEGER, count: count) }
        if tags.starts(with: [V_ASN1_INTEGER, V_ASN1_SEQUENCE, V_ASN1_OCTET_STRING]) { return number(parts[1]) }
        if tags.starts(with: [V_ASN1_INTEGER, V_ASN1_OCTET_STRING]) { return EVP_PKEY_EC }
        if tags == numbers(6) { return EVP_PKEY_DSA }
        return tags.starts(with: numbers(9)) ? EVP_PKEY_RSA : nil
    }

    private typealias Element = (tag: Int32, bytes: ArraySlice<UInt8>)

    /// The number of the algorithm that an `AlgorithmIdentifier` names.
    private static func number(_ identifier: Element?) -> Int32? {
        guard let name = identifier.flatMap({ parts(of: $0.bytes).first }),
            let object = decodeDER(
                Array(name.bytes), with: { d2i_ASN1_OBJECT(nil, $0, $1) }, discarding: ASN1_OBJECT_free)
        else {
            CryptoError.discardQueue()
            return nil
        }
        defer { ASN1_OBJECT_free(object) }
        return OBJ_obj2nid(object)
    }

    /// The first ten elements in the element at the front of `bytes`.
    private static func parts(of bytes: ArraySlice<UInt8>) -> [Element] {
        var (parts, rest) = ([Element](), content(of: bytes)?.bytes ?? [])
        while parts.count < 10, let next = content(of: rest) {
            parts.append((next.tag, rest[..<next.bytes.endIndex]))
            rest = rest[next.bytes.endIndex...]
        }
        CryptoError.discardQueue()
        return parts
    }

    /// The tag, with its class, and the content of the element at the front of `bytes`; `nil` if it is damaged, or does
    /// not say how long it is (BER).
    private static func content(of bytes: ArraySlice<UInt8>) -> Element? {
        bytes.withUnsafeBufferPointer { buffer in
            var (cursor, length, tag, tagClass) = (buffer.baseAddress, 0, Int32(0), Int32(0))
            let outcome = ASN1_get_object(&cursor, &length, &tag, &tagClass, buffer.count)
            guard outcome & 0x81 == 0, let start = buffer.baseAddress, let cursor else { return nil }
            let begin = bytes.startIndex + (cursor - start)
            return (tag | tagClass, bytes[begin..<begin + length])
        }
    }
}
