internal import Basics

/// A key that the CDN shares with the maker of the grants. Its description and dumps do not show it.
public struct GrantSecret: Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// Creates a secret from its bytes.
    ///
    /// - Throws: ``GrantError`` for the field `key` if there are no bytes.
    public init(_ bytes: [UInt8]) throws(GrantError) {
        guard !bytes.isEmpty else { throw GrantError("key", "has 0 bytes; expected at least 1") }
        self.bytes = bytes
    }

    /// Creates a secret from hexadecimal digits, two per byte, the form in which Akamai issues keys.
    public init(hexadecimal text: String) throws(GrantError) {
        try self.init(Self.bytes(hexadecimal: text))
    }

    package static func bytes(hexadecimal text: String) throws(GrantError) -> [UInt8] {
        let digits = text.utf8.map { Hexadecimal.value(of: $0) }
        guard digits.count.isMultiple(of: 2) else {
            throw GrantError("key", "has \(digits.count) digits; expected hexadecimal digits, two a byte")
        }
        let known = digits.prefix { $0 != nil }.compactMap(\.self)
        guard known.count == digits.count else {
            throw GrantError("key", "has something else at position \(known.count + 1); expected hexadecimal digits")
        }
        return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
    }

    /// A fixed text that does not show the secret.
    public var description: String { "(secret withheld)" }
    /// An empty mirror, so that a dump or a debugger does not show the secret either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
