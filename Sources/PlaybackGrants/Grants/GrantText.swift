internal import TextEncodings
internal import TokenCrypto

extension String {
    /// The number in the text; `nil` unless it is written canonically, without a plus sign or leading zeros. The
    /// canonical form is required because CDNs sign the text, not the number.
    var plainNumber: Int64? {
        Int64(self).flatMap { hasSameBytes(as: String($0)) ? $0 : nil }
    }

    /// The text without `name=` at its start, if it has that.
    func withoutName(_ name: String) -> String {
        let prefix = name + "="
        return utf8.starts(with: prefix.utf8) ? String(Substring(utf8.dropFirst(prefix.utf8.count))) : self
    }

    /// Whether the text may be part of a cookie's value (RFC 6265, 4.1.1) and of a query.
    var isSendable: Bool {
        utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }
    }
}

extension GrantSecret {
    /// The secret as a key for HMAC.
    func mac(_ digest: DigestAlgorithm) throws(GrantError) -> HMACKey {
        do { return try HMACKey(digest, key: bytes) } catch { throw .cannotUse(error) }
    }
}

extension HMACKey {
    func code(for message: [UInt8]) throws(GrantError) -> [UInt8] {
        do { return try code(of: message) } catch { throw .cannotUse(error) }
    }
}

extension GrantError {
    fileprivate static func cannotUse(_ error: CryptoError) -> Self { Self("key", "cannot be used (\(error))") }
}
