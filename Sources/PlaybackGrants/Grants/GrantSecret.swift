internal import TextEncodings

/// A key that a CDN shares with us. It shows itself to nobody.
public struct GrantSecret: Sendable, CustomStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    /// - Throws: ``GrantProblem`` for the field `key` where there are no bytes.
    public init(_ bytes: [UInt8]) throws(GrantProblem) {
        guard !bytes.isEmpty else { throw GrantProblem("key", "has 0 bytes; expected at least 1") }
        self.bytes = bytes
    }

    /// Hexadecimal digits, two a byte, as Akamai hands keys out.
    public init(hexadecimal text: String) throws(GrantProblem) {
        try self.init(Self.bytes(hexadecimal: text))
    }

    package static func bytes(hexadecimal text: String) throws(GrantProblem) -> [UInt8] {
        let digits = text.utf8.map { Hexadecimal.value(of: $0) }
        guard digits.count.isMultiple(of: 2) else {
            throw GrantProblem("key", "has \(digits.count) digits; expected hexadecimal digits, two a byte")
        }
        let known = digits.prefix { $0 != nil }.compactMap(\.self)
        guard known.count == digits.count else {
            throw GrantProblem("key", "has something else at position \(known.count + 1); expected hexadecimal digits")
        }
        return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
    }

    /// Says that there is one.
    public var description: String { "(secret withheld)" }
    /// Nothing: a dump or a debugger's print shall not show it either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
