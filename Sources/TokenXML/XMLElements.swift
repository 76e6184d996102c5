internal import Glibc

/// The elements of a strictly read document in document order, the root first. There is always a root.
///
/// All names and texts are stored one after the other in one block, so that reading a document allocates no object for
/// each of them.
package struct XMLElements: Sendable {
    package private(set) var list: [XMLElement] = []
    /// The block of names and texts, of which the first ``used`` bytes are in use. It has room for a usual token from
    /// the start.
    @usableFromInline
    private(set) var bytes = [UInt8](repeating: 0, count: 1024)
    private var used = 0

    package var root: XMLElement { list[0] }

    /// The local name of an element.
    package func name(of element: XMLElement) -> String { String(decoding: bytes[element.name], as: UTF8.self) }

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
            return memcmp(start + position, name.utf8Start, name.utf8CodeUnitCount) == 0
        }
    }

    /// The text and CDATA runs of an element, joined: all of them if it has no children, else those before its first
    /// child.
    package func text(of element: XMLElement) -> String {
        withText(of: element) { String(decoding: $0, as: UTF8.self) }
    }

    /// Passes the element's text, as ``text(of:)`` returns it, to `body` as UTF-8.
    @inlinable
    package func withText<Value>(of element: XMLElement, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[element.text])) }
    }

    mutating func removeAll() {
        list.removeAll(keepingCapacity: true)
        used = 0
    }

    /// - Parameter parent: the parent's index; `nil` for the root.
    mutating func append(name: UnsafeBufferPointer<UInt8>, in parent: Int?, depth: Int, isDecorated: Bool) {
        if let parent { list[parent].hasChildren = true }
        let begin = used
        append(name)
        list.append(XMLElement(name: begin..<used, text: used..<used, depth: depth, isDecorated: isDecorated))
    }

    /// Appends to the text of the element at `index`.
    mutating func append(_ text: UnsafeBufferPointer<UInt8>, at index: Int) {
        if list[index].isBlank { list[index].isBlank = text.allSatisfy(\.isXMLWhiteSpace) }
        guard !list[index].hasChildren else { return }
        append(text)
        list[index].text = list[index].text.lowerBound..<used
    }

    private mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        guard let start = more.baseAddress else { return }
        if bytes.count - used < more.count {
            bytes += repeatElement(0, count: max(bytes.count, more.count))
        }
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let free = bytes.baseAddress?.advanced(by: used) else { return }
            free.update(from: start, count: more.count)
        }
        used += more.count
    }
}

/// One element, whose name and text are stored in ``XMLElements``.
package struct XMLElement: Sendable {
    @usableFromInline
    let name: Range<Int>
    @usableFromInline
    fileprivate(set) var text: Range<Int>
    /// The depth of the element: 0 for the root, 1 for its children.
    package let depth: Int
    /// Whether the start tag has more than a plain name: an attribute, a prefix or a namespace.
    package let isDecorated: Bool
    package fileprivate(set) var hasChildren = false
    /// Whether the element's own text, before, between and after its children, is only white space.
    package fileprivate(set) var isBlank = true
    /// Whether the element has no text, before its first child if it has any.
    package var isEmpty: Bool { text.isEmpty }
}

extension UInt8 {
    /// Whether the byte is white space under XML 1.0, 2.3: space, tab, carriage return or line feed.
    fileprivate var isXMLWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
