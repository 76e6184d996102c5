/// The first difference of two documents in canonical form: where it is, and what each document has there.
///
/// It is found in the bytes of ``CanonicalXML/form(of:)``, which have no entities, comments or CDATA. The work grows
/// with the number of elements, of which the strict reader allows few.
package struct CanonicalDifference: Equatable, Sendable {
    /// What differs at the path.
    package enum Kind: Equatable, Sendable {
        /// Two texts or attribute values, as the canonical forms write them.
        case values(expected: String, found: String)
        /// The name of the element that is found in the place of the expected one.
        case otherElement(found: String)
        /// The expected document alone has the element or attribute.
        case missing
        /// The other document alone has the element or attribute.
        case extra
    }

    /// The path, such as `/rss/channel/item[2]/media:rating/@scheme`. An element has a number if it has siblings of its
    /// name.
    package private(set) var path: String
    package let kind: Kind

    /// Compares two canonical forms; `nil` if they are the same, or not canonical forms.
    package init?(between expected: [UInt8], and found: [UInt8]) {
        var (left, right) = (CanonicalReader(expected), CanonicalReader(found))
        guard let one = left.element(at: 0), let other = right.element(at: 0) else { return nil }
        guard one.name == other.name else {
            self.init("/\(text(one.name))", .otherElement(found: text(other.name)))
            return
        }
        guard var difference = Self.difference(one, other) else { return nil }
        difference.path = "/\(text(one.name))" + difference.path
        self = difference
    }

    private init(_ path: String, _ kind: Kind) {
        (self.path, self.kind) = (path, kind)
    }

    /// The first difference of two elements of one name, with the path from there.
    private static func difference(_ expected: CanonicalElement, _ found: CanonicalElement) -> Self? {
        if let difference = attributeDifference(expected, found) { return difference }
        if expected.texts.count == expected.children.count, found.texts.count == found.children.count {
            return texts(expected.texts.first, found.texts.first)
        }
        for index in 0..<max(expected.children.count, found.children.count) {
            let (one, other) = (expected.child(index), found.child(index))
            switch (one?.element, other?.element) {
            case (let element?, let otherElement?) where element.name == otherElement.name:
                guard var difference = difference(element, otherElement) else { continue }
                difference.path = "/\(step(to: index, of: expected, beside: found))" + difference.path
                return difference
            case (let element?, let otherElement?):
                if found.names(from: index).contains(element.name) {
                    return Self("/\(step(to: index, of: found, beside: expected))", .extra)
                }
                let isMissing = expected.names(from: index).contains(otherElement.name)
                return Self(
                    "/\(step(to: index, of: expected, beside: found))",
                    isMissing ? .missing : .otherElement(found: text(otherElement.name)))
            case (_?, nil) where other == nil: return Self("/\(step(to: index, of: expected, beside: found))", .missing)
            case (nil, _?) where one == nil: return Self("/\(step(to: index, of: found, beside: expected))", .extra)
            default:
                if let difference = texts(one?.shown, other?.shown) { return difference }
            }
        }
        return nil
    }

    private static func attributeDifference(_ expected: CanonicalElement, _ found: CanonicalElement) -> Self? {
        let (values, others) = (expected.values, found.values)
        for (name, value) in expected.attributes {
            guard let other = others[name] else { return Self("/@\(text(name))", .missing) }
            guard other == value else {
                return Self("/@\(text(name))", .values(expected: text(value), found: text(other)))
            }
        }
        return found.attributes.first { values[$0.name] == nil }.map { Self("/@\(text($0.name))", .extra) }
    }

    private static func texts(_ expected: [UInt8]?, _ found: [UInt8]?) -> Self? {
        expected == found ? nil : Self("", .values(expected: text(expected ?? []), found: text(found ?? [])))
    }

    /// The name of an element's child, with its number if either element has several children of that name.
    private static func step(to index: Int, of parent: CanonicalElement, beside other: CanonicalElement) -> String {
        guard let name = parent.child(index)?.element?.name else { return "" }
        let isAlone = [parent, other].allSatisfy { $0.names(from: 0).count { $0 == name } < 2 }
        let number = parent.children[...index].count { $0.element?.name == name }
        return text(name) + (isAlone ? "" : "[\(number)]")
    }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

private struct CanonicalElement {
    enum Child {
        case element(CanonicalElement)
        case text([UInt8])

        var element: CanonicalElement? { if case .element(let element) = self { element } else { nil } }
        /// The text, or the tag of the element.
        var shown: [UInt8] {
            switch self {
            case .element(let element): Array("<".utf8) + element.name + Array(">".utf8)
            case .text(let text): text
            }
        }
    }

    let name: [UInt8]
    var attributes: [(name: [UInt8], value: [UInt8])] = []
    var children: [Child] = []

    var texts: [[UInt8]] { children.compactMap { if case .text(let text) = $0 { text } else { nil } } }
    var values: [[UInt8]: [UInt8]] { Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first } }

    func child(_ index: Int) -> Child? { children.indices.contains(index) ? children[index] : nil }
    func names(from index: Int) -> [[UInt8]] { children.dropFirst(index).compactMap { $0.element?.name } }
}

/// Reads a canonical form. In others it finds no element, or a part of one; it never reads beyond their end.
private struct CanonicalReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func element(at depth: Int) -> CanonicalElement? {
        guard depth < StrictXMLReader.depthLimit, take("<") else { return nil }
        var element = CanonicalElement(name: take { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ">") })
        while take(" ") {
            let name = take { $0 != UInt8(ascii: "=") }
            guard take("=\"") else { return nil }
            element.attributes.append((name, take { $0 != UInt8(ascii: "\"") }))
            guard take("\"") else { return nil }
        }
        guard take(">") else { return nil }
        while !take("</") {
            if rest.first == UInt8(ascii: "<") {
                guard let child = self.element(at: depth + 1) else { return nil }
                element.children.append(.element(child))
            } else {
                let text = take { $0 != UInt8(ascii: "<") }
                guard !text.isEmpty else { return nil }
                element.children.append(.text(text))
            }
        }
        _ = take { $0 != UInt8(ascii: ">") }
        return take(">") ? element : nil
    }

    private mutating func take(_ literal: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
        guard rest.starts(with: bytes) else { return false }
        rest = rest.dropFirst(bytes.count)
        return true
    }

    private mutating func take(while belongs: (UInt8) -> Bool) -> [UInt8] {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return Array(taken)
    }
}
