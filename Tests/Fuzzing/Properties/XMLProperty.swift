internal import TokenXML

/// Four readings agree: the strict one, libxml2's of a document that is plain too, the tree that canonical form is made
/// of, and the second reader's.
struct XMLProperty: FuzzProperty {
    func check(_ input: [UInt8]) throws {
        let reader = try StrictXMLReader()
        let read = try? reader.read(input[...], allowsDeclaration: true)
        let byLibrary = try? input.withUnsafeBufferPointer {
            try reader.readByLibrary($0, allowsDeclaration: true)
        }
        try demand(read.map(Self.details) == byLibrary.map(Self.details), "libxml2 reads otherwise")
        guard let elements = read.map(Self.elements) else { return }
        try demand(
            try Self.read(input, after: "<other a='1'><x>&amp;</x></other>") == elements,
            "a kept reader reads otherwise")
        // The second reader knows no namespaces: names are local ones in both.
        let second = try PlainXMLReader(String(decoding: input, as: UTF8.self)).elements
        try demand(second == elements, "read as \(elements); the second reader has \(second)")
        guard let canonical = try? Self.canonical(input) else { return }
        let again = try Self.read(canonical)
        try demand(Self.essence(again) == Self.essence(elements), "read as \(elements); its canonical form as \(again)")
    }

    /// What canonical form leaves as it is: the white space between elements may go.
    static func essence(_ elements: [PlainXMLReader.Element]) -> [PlainXMLReader.Element] {
        elements.indices.map { index in
            var element = elements[index]
            let hasChildren = index + 1 < elements.count && elements[index + 1].depth > element.depth
            if hasChildren { element.text = "" }
            return element
        }
    }

    /// All that is known of each element.
    private static func details(_ read: XMLElements) -> [String] {
        read.list.map {
            "\(read.name(of: $0)) \($0.depth) \($0.isDecorated) \($0.hasChildren) \($0.isBlank) \(read.text(of: $0))"
        }
    }

    static func read(_ bytes: [UInt8], after other: String? = nil) throws -> [PlainXMLReader.Element] {
        let reader = try StrictXMLReader()
        if let other { _ = try reader.read(Array(other.utf8)[...]) }
        return elements(try reader.read(bytes[...], allowsDeclaration: true))
    }

    private static func elements(_ read: XMLElements) -> [PlainXMLReader.Element] {
        read.list.map { element in
            PlainXMLReader.Element(name: read.name(of: element), depth: element.depth, text: read.text(of: element))
        }
    }

    static func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
        try bytes.withUnsafeBufferPointer { try CanonicalXML.form(of: $0) }
    }
}
