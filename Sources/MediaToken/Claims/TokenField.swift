internal import Basics
internal import TokenXML

/// One field of a token, for display only; it does not affect the verdict.
///
/// The description withholds the text, since some fields of a token are personal data.
public struct TokenField: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The element's name; for a nested element, the path of names, joined by `/`.
    public let name: String
    /// The element's text as signed. It can be hostile, and in `sessionGUID` it is personal data.
    public let text: String

    /// The field's name, without its text.
    public var description: String { "\(printable(name)) (text withheld)" }
    /// A mirror with the name only, so that a dump does not show the text.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension FieldElements {
    /// The fields of all elements without children, except those directly below the root whose name is in `known`.
    package func fields(except known: [StaticString] = []) -> [TokenField] {
        texts(except: known).map { TokenField(name: $0.path, text: $0.text) }
    }
}
