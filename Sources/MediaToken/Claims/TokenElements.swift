internal import TokenXML

/// The elements of one token's signed XML, strictly read, of whichever kind.
struct TokenElements: Sendable {
    let kind: TokenKind
    private let elements: [XMLElement]

    init(reading payload: ArraySlice<UInt8>, with reader: StrictXMLReader) throws(FormatProblem) {
        do {
            elements = try payload.withContiguousBytes { (bytes) throws(XMLRefusal) in try reader.read(bytes) }
        } catch {
            throw .xml(error)
        }
        let root = elements[0]
        guard let kind = TokenKind(root: root.name) else { throw .unknownRoot(root.name) }
        guard !root.isDecorated else { throw .decoratedRoot }
        guard root.text.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
            throw .strayText
        }
        self.kind = kind
    }

    /// Reads with a parser of its own: the names in bytes that nobody signed stay out of the kept ones' dictionaries.
    init(readingUnverified payload: ArraySlice<UInt8>) throws(FormatProblem) {
        let reader: StrictXMLReader
        do throws(XMLRefusal) { reader = try StrictXMLReader() } catch { throw .xml(error) }
        try self.init(reading: payload, with: reader)
    }

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

    /// The same, for a field without which there is no such token.
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
    var fields: [TokenField] {
        var path: [String] = []
        var fields: [TokenField] = []
        for (index, element) in elements.enumerated() where element.depth > 0 {
            path = path.prefix(element.depth - 1) + [element.name]
            if !hasChildren(at: index) {
                fields.append(TokenField(name: path.joined(separator: "/"), text: element.text))
            }
        }
        return fields
    }
}

/// One field of a token, to be shown. It decides nothing.
public struct TokenField: Hashable, Sendable {
    /// The element's name; below another element, the path of names joined by `/`.
    public let name: String
    /// Its text, as it was signed: hostile, and in `sessionGUID` personal data.
    public let text: String
}
