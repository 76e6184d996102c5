internal import TextEncodings
internal import TokenXML

/// A strictly read document whose fields are elements with text: a token's signed XML, or a REST v1 `<play>`.
struct FieldElements: Sendable {
    let elements: XMLElements

    init(reading bytes: ArraySlice<UInt8>, with reader: StrictXMLReader, allowsDeclaration: Bool = false)
        throws(XMLRefusal)
    {
        elements = try bytes.withUnsafeBufferPointer { (buffer) throws(XMLRefusal) in
            try reader.read(buffer, allowsDeclaration: allowsDeclaration)
        }
    }

    var root: XMLElement { elements.root }

    var rootName: String { elements.name(of: root) }

    func isRootNamed(_ name: StaticString) -> Bool { elements.isNamed(name, root) }

    /// The text of the one element of that name right below the root, or of `child` below that; `nil` where there is none.
    ///
    /// Elements deeper down never count: an extra element cannot smuggle a field in.
    func text(_ name: StaticString, child: StaticString? = nil) throws(FormatProblem) -> String? {
        var found: XMLElement?
        var isInParent = false
        for element in elements.list {
            if element.depth == 1 { isInParent = elements.isNamed(name, element) }
            let matches =
                if let child { element.depth == 2 && isInParent && elements.isNamed(child, element) } else {
                    element.depth == 1 && isInParent
                }
            guard matches else { continue }
            guard found == nil else { throw .field("\(child ?? name)", .duplicate) }
            found = element
        }
        guard let found else { return nil }
        try check(found, named: child ?? name)
        return elements.text(of: found)
    }

    /// The same, for a field that has to be there.
    func requiredText(_ name: StaticString) throws(FormatProblem) -> String {
        guard let text = try text(name) else { throw .field("\(name)", .missing) }
        return text
    }

    /// That an element holds text, and nothing else.
    func check(_ element: XMLElement, named name: StaticString) throws(FormatProblem) {
        guard !element.isDecorated else { throw .field("\(name)", .decorated) }
        guard !element.hasChildren else { throw .field("\(name)", .nested) }
        guard !element.isEmpty else { throw .field("\(name)", .empty) }
    }

    /// Every element that holds text rather than elements, to be shown. Its name is the path below the root.
    var fields: [TokenField] { fields(except: []) }

    /// The same without those right below the root that have one of these names.
    func fields(except known: [StaticString]) -> [TokenField] {
        func isKnown(_ element: XMLElement) -> Bool {
            element.depth == 1 && known.contains { elements.isNamed($0, element) }
        }
        var path: [String] = []
        var fields: [TokenField] = []
        for element in elements.list where element.depth > 0 {
            path.removeLast(max(0, path.count - element.depth + 1))
            path.append(elements.name(of: element))
            guard !element.hasChildren, !isKnown(element) else { continue }
            fields.append(TokenField(name: path.joined(separator: "/"), text: elements.text(of: element)))
        }
        return fields
    }
}

/// One field of a token, to be shown. It decides nothing.
///
/// Its description withholds the text, as some of a token's fields are personal data.
public struct TokenField: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The element's name; below another element, the path of names joined by `/`.
    public let name: String
    /// Its text, as it was signed: hostile, and in `sessionGUID` personal data.
    public let text: String

    /// The name alone.
    public var description: String { "\(printable(name)) (text withheld)" }
    /// The name alone: a dump shall not show the text either.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
