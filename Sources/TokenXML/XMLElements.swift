internal import Basics
internal import Glibc

/// The elements of a strictly read document in document order, the root first. There is always a root.
///
/// Names and texts are ranges of one block of bytes, so that reading a document allocates no object for each of them.
/// This is a class, so that handing a document on costs one reference.
package final class XMLElements: Sendable {
    package let list: [XMLElement]
    /// The names and texts: the document itself if it is plain, and else what libxml2 has made of it.
    @usableFromInline
    let bytes: ArraySlice<UInt8>
    private let decorations: [XMLElement.Decoration]

    /// - Parameters:
    ///   - bytes: the bytes whose indexes the elements' ranges are.
    ///   - decorations: those that the elements name by their numbers.
    init(_ list: [XMLElement], in bytes: ArraySlice<UInt8>, _ decorations: [XMLElement.Decoration] = []) {
        (self.list, self.bytes, self.decorations) = (list, bytes, decorations)
    }

    package var root: XMLElement { list[0] }

    /// The local name of an element.
    package func name(of element: XMLElement) -> String { String(decoding: bytes[element.name], as: UTF8.self) }

    /// What an element's start tag has beside a plain name, for people, such as `the attribute 'x'`; `nil` if nothing.
    package func decoration(of element: XMLElement) -> String? {
        guard element.isDecorated else { return nil }
        let decoration = decorations[Int(element.decoration) - 1]
        let name = String(decoding: bytes[decoration.name], as: UTF8.self)
        return "the \(decoration.kind.rawValue) '\(printable(name, limit: XMLElement.Decoration.shownBytes))'"
    }

    /// Whether `name` is the local name of an element.
    @inlinable
    package func isNamed(_ name: StaticString, _ element: XMLElement) -> Bool {
        // Most names already differ in length.
        element.name.count == name.utf8CodeUnitCount && holds(name, at: element.name.lowerBound)
    }

    @usableFromInline
    func holds(_ name: StaticString, at position: Int) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memcmp(start + (position - self.bytes.startIndex), name.utf8Start, name.utf8CodeUnitCount) == 0
        }
    }

    /// The text and CDATA runs of an element, joined: all of them if it has no children, else those before its first
    /// child.
    package func text(of element: XMLElement) -> String {
        String(decoding: bytes[element.text], as: UTF8.self)
    }

    /// Passes the element's text, as ``text(of:)`` returns it, to `body` as UTF-8.
    @inlinable
    package func withText<Value>(of element: XMLElement, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        bytes[element.text].withUnsafeBufferPointer(body)
    }
}

/// One element, whose name and text are stored in ``XMLElements``.
package struct XMLElement: Sendable {
    @usableFromInline
    let name: Range<Int>
    @usableFromInline
    var text: Range<Int>
    /// The depth of the element: 0 for the root, 1 for its children.
    package let depth: Int
    /// The number, from 1, of what the start tag has beside a plain name; 0 if nothing. An element of a token has none,
    /// and its memory is copied for each token.
    let decoration: Int32
    package var isDecorated: Bool { decoration != 0 }
    package internal(set) var hasChildren = false
    /// Whether the element's own text, before, between and after its children, is only white space.
    package internal(set) var isBlank = true
    /// Whether the element has no text, before its first child if it has any.
    package var isEmpty: Bool { text.isEmpty }

    /// An attribute, a prefix or a namespace of a start tag.
    struct Decoration: Sendable {
        enum Kind: String {
            case attribute, prefix, namespace
        }

        static let shownBytes = 40

        let kind: Kind
        /// The beginning of its name, or of the namespace's.
        let name: Range<Int>
    }

    init(name: Range<Int>, depth: Int, decoration: Int32 = 0) {
        (self.name, self.depth, self.decoration) = (name, depth, decoration)
        text = name.upperBound..<name.upperBound
    }

    /// Takes a run of text where the document has it; `false` if the element already has text, which is not next to it.
    mutating func take(_ run: Range<Int>, isBlank: Bool) -> Bool {
        if !isBlank { self.isBlank = false }
        guard !hasChildren, !run.isEmpty else { return true }
        guard text.isEmpty else { return false }
        text = run
        return true
    }
}

extension UInt8 {
    /// Whether the byte is white space under XML 1.0, 2.3: space, tab, carriage return or line feed.
    var isXMLWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
