internal import Basics
internal import TokenCrypto

/// A CWT in a COSE_Mac0 (RFC 8392, 6; RFC 9052, 6.2) with HMAC 256/256:
/// `61(17([protected, unprotected, payload, tag]))`.
///
/// Treat the contents as untrusted until ``isAuthentic(_:)`` returns `true`.
struct COSEMac0 {
    /// The encoded tags 61 and 17. libcbor 0.8, the version in Debian 12, does not support tag 17.
    private static let tags: [UInt8] = [0xD8, 61, 0xC0 | 17]
    private static let (algorithm, keyID) = (Int64(1), Int64(4))
    private static let hmac256 = Int64(5)
    /// The protected header of the messages made here.
    private static let ownProtected = CBORWriter.bytes { $0.addMap { $0.add(algorithm, hmac256) } }

    let payload: [UInt8]
    /// The ID of the key that the message names, which its MAC does not cover.
    let keyIdentifier: [UInt8]
    private let tag: [UInt8]

    /// Reads a received message. Call ``demand(head:in:)`` before you rely on more than its key ID.
    init(_ bytes: [UInt8]) throws(CATError) {
        guard bytes.starts(with: Self.tags) else {
            let start = Array(bytes.prefix(Self.tags.count)).hexadecimal
            throw .malformed("it begins with h'\(start)'; expected h'd83dd1', the tags of a CWT in a COSE_Mac0")
        }
        let message: CBORValue
        do throws(CBORError) { message = try CBORReader.value(of: Array(bytes.dropFirst(Self.tags.count))) } catch {
            throw .malformed("its CBOR has \(error), after its tags, which is not read here")
        }
        guard let parts = message.array, parts.count == 4, let protected = parts[0].bytes,
            let unprotected = parts[1].labels, let payload = parts[2].bytes, let tag = parts[3].bytes
        else { throw .malformed("its COSE_Mac0 has other parts; expected a header, a header, claims, a MAC") }
        let header = (try? CBORReader.value(of: protected))?.labels ?? []
        guard header.count == 1, header[0].label == Self.algorithm, header[0].value.integer == Self.hmac256 else {
            throw .malformed("its protected header is another one; expected the algorithm HMAC 256/256 alone")
        }
        guard unprotected.count == 1, unprotected[0].label == Self.keyID,
            let keyIdentifier = unprotected[0].value.bytes
        else { throw .malformed("its unprotected header is another one; expected the ID of a key alone") }
        (self.payload, self.keyIdentifier, self.tag) = (payload, keyIdentifier, tag)
    }

    /// Throws unless the message, received as `bytes`, has exactly the form that ``bytes(head:payload:key:)`` writes.
    ///
    /// The MAC does not cover the unprotected header or the heads of the parts. So they must match the expected bytes
    /// exactly; any changed byte in a message then causes a rejection.
    ///
    /// - Parameter head: The bytes before the claims in messages made with the key.
    func demand(head: [UInt8], in bytes: [UInt8]) throws(CATError) {
        guard Self.bytes(head: head, payload: payload, tag: tag) == bytes else {
            throw .malformed("its parts are written in another way; expected the shortest heads")
        }
    }

    /// The bytes before the claims in messages made with a key of this ID.
    static func head(keyIdentifier: [UInt8]) -> [UInt8] {
        CBORWriter.bytes(behind: tags) { message in
            message.addArray(of: 4)
            message.add(ownProtected)
            message.addMap { $0.add(keyID, keyIdentifier) }
        }
    }

    /// Makes a message.
    static func bytes(head: [UInt8], payload: [UInt8], key: HMACKey) throws(GrantError) -> [UInt8] {
        bytes(head: head, payload: payload, tag: try code(payload, key))
    }

    private static func bytes(head: [UInt8], payload: [UInt8], tag: [UInt8]) -> [UInt8] {
        CBORWriter.bytes(behind: head) { message in
            message.add(payload)
            message.add(tag)
        }
    }

    /// Whether a holder of `key` has made the message.
    func isAuthentic(_ key: HMACKey) throws(GrantError) -> Bool {
        try Self.code(payload, key).isSame(inConstantTime: tag)
    }

    /// The MAC over the MAC_structure (RFC 9052, 6.3).
    private static func code(_ payload: [UInt8], _ key: HMACKey) throws(GrantError) -> [UInt8] {
        let structure = CBORWriter.bytes { structure in
            structure.addArray(of: 4)
            structure.add("MAC0")
            structure.add(ownProtected)
            // The external_aad is empty.
            structure.add([UInt8]())
            structure.add(payload)
        }
        return try key.code(for: structure)
    }
}
