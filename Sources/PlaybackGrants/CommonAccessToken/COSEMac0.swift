internal import TokenCrypto

/// A CWT in a COSE_Mac0 (RFC 8392, 6; RFC 9052, 6.2) with HMAC 256/256: `61(17([protected, unprotected, payload, tag]))`.
///
/// What it holds is anybody's until ``isAuthentic(_:)`` has said otherwise.
struct COSEMac0 {
    /// The heads of the tags 61 and 17. libcbor 0.8, which is Debian's, does not know the second one.
    private static let tags: [UInt8] = [0xD8, 61, 0xC0 | 17]
    private static let (algorithm, keyID) = (Int64(1), Int64(4))
    private static let hmac256 = Int64(5)
    /// The protected header of those that we make.
    private static let ownProtected = CBORWriter.bytes { $0.addMap { $0.add(algorithm, hmac256) } }

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

    /// All that stands in front of the claims, in those that are made with one key.
    static func head(keyIdentifier: [UInt8]) -> [UInt8] {
        CBORWriter.bytes(behind: tags) { message in
            message.addArray(of: 4)
            message.add(ownProtected)
            message.addMap { $0.add(keyID, keyIdentifier) }
        }
    }

    /// Makes one.
    static func bytes(head: [UInt8], payload: [UInt8], key: HMACKey) throws(GrantProblem) -> [UInt8] {
        let tag = try code(ownProtected, payload, key)
        return CBORWriter.bytes(behind: head) { message in
            message.add(payload)
            message.add(tag)
        }
    }

    /// Whether the holder of `key` has made it.
    func isAuthentic(_ key: HMACKey) throws(GrantProblem) -> Bool {
        try Self.code(protected, payload, key).isSame(inConstantTime: tag)
    }

    /// Over the MAC_structure (RFC 9052, 6.3).
    private static func code(
        _ protected: [UInt8], _ payload: [UInt8], _ key: HMACKey
    ) throws(GrantProblem) -> [UInt8] {
        let structure = CBORWriter.bytes { structure in
            structure.addArray(of: 4)
            structure.add("MAC0")
            structure.add(protected)
            // No data of the application's own.
            structure.add([UInt8]())
            structure.add(payload)
        }
        return try key.code(for: structure)
    }
}
