internal import Basics

/// An identifier that equals another only if both have the same UTF-8 bytes.
///
/// Swift's `String` also treats canonically equivalent texts as equal (an `é` of one or of two code points). Adobe's
/// identifiers are opaque, so comparing them like that could accept a token for an identifier that nobody configured.
public protocol ExactIdentifier: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The identifier as it was signed or configured.
    var text: String { get }
    /// Creates an identifier from any text; nothing is trimmed or folded.
    init(_ text: String)
}

extension ExactIdentifier {
    // Unreached: For other types that conform; the three identifiers have operators of their own, which cost less.
    /// Whether both identifiers have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the identifier's bytes.
    public func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }

    /// Creates an identifier from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// The text for display: characters that could harm a terminal or a log are escaped, and a long text is cut.
    public var description: String { printable(text) }
}

/// The programmer (TV network) that a token was issued to. REST v2 calls it the service provider.
public struct RequestorID: ExactIdentifier {
    /// The identifier as it was signed or configured.
    public let text: String
    /// Creates an identifier from any text.
    public init(_ text: String) { self.text = text }
    /// Whether both identifiers have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// A resource that may be played: a plain name such as `TNT`, or an MRSS document.
public struct ResourceID: ExactIdentifier {
    /// The identifier as it was signed or configured.
    public let text: String
    /// Creates an identifier from any text.
    public init(_ text: String) { self.text = text }
    /// Whether both identifiers have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// A TV provider (MVPD), or a proxy MVPD in front of others.
public struct MVPDID: ExactIdentifier {
    /// The identifier as it was signed or configured.
    public let text: String
    /// Creates an identifier from any text.
    public init(_ text: String) { self.text = text }
    /// Whether both identifiers have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
}

/// The viewer's identifier, anonymised by the MVPD. It usually stays the same for years, so it is personal data.
///
/// The description withholds the identifier, so that an interpolated string does not put it into a log.
public struct SessionGUID: Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier itself. Do not log it, and do not make it a metric's label.
    public let text: String

    init(_ text: String) { self.text = text }

    /// A text that says that the identifier is withheld.
    public var description: String { "(session GUID withheld)" }
    /// An empty mirror, so that neither a dump nor a debugger shows the identifier.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
