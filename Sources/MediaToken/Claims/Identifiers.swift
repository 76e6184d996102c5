internal import TextEncodings

/// An identifier that is equal to another exactly where their UTF-8 bytes are.
///
/// Swift's `String` also calls canonically equivalent texts equal (an `é` of one or of two code points). Adobe's
/// identifiers are opaque, so that would accept a token for something that nobody named.
public protocol ExactIdentifier: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The identifier as it was signed or configured.
    var text: String { get }
    /// Takes any text; nothing is trimmed or folded.
    init(_ text: String)
}

extension ExactIdentifier {
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }

    /// Takes a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// The text, with what could harm a terminal or a log escaped, and cut where it is long.
    public var description: String { printable(text) }
}

/// The programmer that a token was issued to (REST v2 calls it the service provider).
public struct RequestorID: ExactIdentifier {
    /// As it was signed or configured.
    public let text: String
    /// Takes any text.
    public init(_ text: String) { self.text = text }
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// What may be played: a plain name such as `TNT`, or an MRSS document.
public struct ResourceID: ExactIdentifier {
    /// As it was signed or configured.
    public let text: String
    /// Takes any text.
    public init(_ text: String) { self.text = text }
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// A TV provider, or one that stands in front of others (proxy MVPD).
public struct MVPDID: ExactIdentifier {
    /// As it was signed or configured.
    public let text: String
    /// Takes any text.
    public init(_ text: String) { self.text = text }
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// The viewer, as the MVPD anonymised it: usually the same for years, so personal data.
///
/// Its description does not show it, so that it does not end up in a log by way of an interpolated string.
public struct SessionGUID: Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier itself. Do not log it, and do not make it a metric's label.
    public let text: String

    init(_ text: String) { self.text = text }

    /// Says that it is withheld.
    public var description: String { "(session GUID withheld)" }
    /// Nothing: a dump or a debugger's print shall not show it either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
