internal import TokenXML

/// A strictly read document whose fields are elements with text: a token's signed XML, or a REST v1 `<play>`.
struct FieldElements: Sendable {
    private let elements: [XMLElement]

    init(reading bytes: ArraySlice<UInt8>, with reader: StrictXMLReader, allowsDeclaration: Bool = false)
        throws(XMLRefusal)
    {
        elements = try bytes.withUnsafeBufferPointer { (buffer) throws(XMLRefusal) in
            try reader.read(buffer, allowsDeclaration: allowsDeclaration)
        }
    }

    var root: XMLElement { elements[0] }

    /// The text of the one element of that name right below the root, or of `child` below that; `nil` where there is none.
    ///
    /// Elements deeper down never count: an extra element cannot smuggle a field in.
    func text(_ name: String, child: String? = nil) throws(FormatProblem) -> String? {
        var found: Int?
        var parent: String?
        for (index, element) in elements.enumerated() {
            if element.depth == 1 { parent = element.name }
            let matches =
                if let child { element.depth == 2 && parent == name && element.name == child } else {
                    element.depth == 1 && element.name == name
                }
            guard matches else { continue }
            guard found == nil else { throw .field(child ?? name, .duplicate) }
            found = index
        }
        return try found.map { (index) throws(FormatProblem) in try plainText(at: index) }
    }

    /// The same, for a field that has to be there.
    func requiredText(_ name: String) throws(FormatProblem) -> String {
        guard let text = try text(name) else { throw .field(name, .missing) }
        return text
    }

    private func plainText(at index: Int) throws(FormatProblem) -> String {
        let element = elements[index]
        guard !element.isDecorated else { throw .field(element.name, .decorated) }
        guard !hasChildren(at: index) else { throw .field(element.name, .nested) }
        guard !element.text.isEmpty else { throw .field(element.name, .empty) }
        return element.text
    }

    private func hasChildren(at index: Int) -> Bool {
        index + 1 < elements.count && elements[index + 1].depth > elements[index].depth
    }

    /// Every element that holds text rather than elements, to be shown. Its name is the path below the root.
    var fields: [TokenField] { fields { _ in true } }

    /// The same for those whose name `isWanted`.
    func fields(where isWanted: (String) -> Bool) -> [TokenField] {
        var path: [String] = []
        var fields: [TokenField] = []
        for (index, element) in elements.enumerated() where element.depth > 0 {
            path.removeLast(max(0, path.count - element.depth + 1))
            path.append(element.name)
            guard !hasChildren(at: index) else { continue }
            let name = path.count == 1 ? element.name : path.joined(separator: "/")
            if isWanted(name) { fields.append(TokenField(name: name, text: element.text)) }
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
