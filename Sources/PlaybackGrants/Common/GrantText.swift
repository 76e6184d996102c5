internal import Basics
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

    /// The first character that cannot be part of a query, or is one of `separators`; `nil` if there is none.
    func unsendable(_ separators: String = "") -> Unicode.Scalar? {
        let excluded = "\";\\" + separators
        let index = utf8.firstIndex { !(0x21...0x7E).contains($0) || excluded.utf8.contains($0) }
        return index.map { unicodeScalars[$0] }
    }

    /// Whether the text may be the value of a cookie (RFC 6265, 4.1.1).
    var isCookieValue: Bool { unsendable(",") == nil }

    /// The text with its escapes decoded, and `+` as a space if `plusIsSpace`; `nil` if that is no text.
    func unescaped(plusIsSpace: Bool = false) -> String? {
        let bytes = try? PercentEncoding.decode(Array(utf8)[...], plus: UInt8(ascii: plusIsSpace ? " " : "+"))
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension Unicode.Scalar {
    /// The character in quotation marks.
    var shown: String { self == " " ? "a space" : "'\(printable(String(self)))'" }
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
