internal import TokenCrypto

/// A CWT in a COSE_Mac0 (RFC 8392, 6; RFC 9052, 6.2) with HMAC 256/256: `61(17([protected, unprotected, payload, tag]))`.
///
/// What it holds is anybody's until ``isAuthentic(_:)`` has said otherwise.
struct COSEMac0 {
    /// The heads of the tags 61 and 17. libcbor 0.8, which is Debian's, does not know the second one.
    private static let tags: [UInt8] = [0xD8, 61, 0xC0 | 17]
    private static let (algorithm, keyID) = (Int64(1), Int64(4))
    private static let hmac256 = Int64(5)

    let payload: [UInt8]
    private let protected: [UInt8]
    private let tag: [UInt8]

    /// Reads what was received: the tags as they must be, and HMAC 256/256 alone, as the protected header says.
    init(_ bytes: [UInt8]) throws(CATRefusal) {
        guard bytes.starts(with: Self.tags) else {
            throw .malformed("it is no CWT in a COSE_Mac0; expected the tags 61 and 17")
        }
        guard let message = CBORReader.value(of: Array(bytes.dropFirst(Self.tags.count))) else {
            throw .malformed("it is no CBOR")
        }
        guard let parts = message.array, parts.count == 4, let protected = parts[0].bytes,
            parts[1].labels != nil, let payload = parts[2].bytes, let tag = parts[3].bytes
        else { throw .malformed("its COSE_Mac0 has other parts; expected a header, a header, claims, a MAC") }
        let header = CBORReader.value(of: protected)?.labels ?? []
        guard header.count == 1, header[0].label == Self.algorithm, header[0].value.integer == Self.hmac256 else {
            throw .malformed("its protected header is another one; expected the algorithm HMAC 256/256 alone")
        }
        (self.protected, self.payload, self.tag) = (protected, payload, tag)
    }

    /// Makes one.
    static func bytes(payload: [UInt8], key: HMACKey, keyIdentifier: [UInt8]) throws(GrantProblem) -> [UInt8] {
        let protected = CBORWriter.bytes(of: .map([CBORPair(algorithm, .integer(hmac256))]))
        let tag = try code(protected, payload, key)
        let message = CBORValue.array([
            .bytes(protected), .map([CBORPair(keyID, .bytes(keyIdentifier))]), .bytes(payload), .bytes(tag),
        ])
        return tags + CBORWriter.bytes(of: message)
    }

    /// Whether the holder of `key` has made it.
    func isAuthentic(_ key: HMACKey) throws(GrantProblem) -> Bool {
        try Self.code(protected, payload, key).isSame(inConstantTime: tag)
    }

    /// Over the MAC_structure (RFC 9052, 6.3).
    private static func code(
        _ protected: [UInt8], _ payload: [UInt8], _ key: HMACKey
    ) throws(GrantProblem) -> [UInt8] {
        let structure = CBORValue.array([.text("MAC0"), .bytes(protected), .bytes([]), .bytes(payload)])
        return try key.code(for: CBORWriter.bytes(of: structure))
    }
}
