internal import TextEncodings
internal import TokenXML

/// One field of a token, for display. It decides nothing.
///
/// The description withholds the text, since some fields of a token are personal data.
public struct TokenField: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The element's name; for an element inside another, the path of names, joined by `/`.
    public let name: String
    /// The element's text as signed. It can be hostile, and in `sessionGUID` it is personal data.
    public let text: String

    /// The name only.
    public var description: String { "\(printable(name)) (text withheld)" }
    /// The name only, so that a dump does not show the text.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension FieldElements {
    /// Every element without children, except those directly below the root that have a name in `known`.
    package func fields(except known: [StaticString] = []) -> [TokenField] {
        texts(except: known).map { TokenField(name: $0.path, text: $0.text) }
    }
}
