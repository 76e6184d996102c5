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
    private let tag: [UInt8]

    /// Reads a received message in the one form in which ``bytes(head:payload:key:)`` writes it.
    ///
    /// The unprotected header is not covered by the MAC. So it must be the expected one to the byte, and so must the heads of all
    /// parts: no byte of a message can be changed without a refusal.
    ///
    /// - Parameter head: What precedes the claims in messages that are made with the key.
    init(_ bytes: [UInt8], head: [UInt8]) throws(CATRefusal) {
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
        guard Self.bytes(head: head, payload: payload, tag: tag) == bytes else {
            throw .malformed(
                "its unprotected header is another one, or written in another way; expected the configured key ID alone"
            )
        }
        (self.payload, self.tag) = (payload, tag)
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
        bytes(head: head, payload: payload, tag: try code(payload, key))
    }

    private static func bytes(head: [UInt8], payload: [UInt8], tag: [UInt8]) -> [UInt8] {
        CBORWriter.bytes(behind: head) { message in
            message.add(payload)
            message.add(tag)
        }
    }

    /// Whether the holder of `key` has made it.
    func isAuthentic(_ key: HMACKey) throws(GrantProblem) -> Bool {
        try Self.code(payload, key).isSame(inConstantTime: tag)
    }

    /// Over the MAC_structure (RFC 9052, 6.3).
    private static func code(_ payload: [UInt8], _ key: HMACKey) throws(GrantProblem) -> [UInt8] {
        let structure = CBORWriter.bytes { structure in
            structure.addArray(of: 4)
            structure.add("MAC0")
            structure.add(ownProtected)
            // No data of the application's own.
            structure.add([UInt8]())
            structure.add(payload)
        }
        return try key.code(for: structure)
    }
}
