internal import TokenXML

/// The answer of REST v1 as XML: `<play>` with the token in `serializedToken`. Its other fields repeat what the token
/// says, unsigned, and are not read.
enum PlayDocument {
    private static let root = "play"
    private static let field = "serializedToken"

    static func serializedToken(inXML text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        let elements: [XMLElement]
        do {
            // A reader of its own: the names in a stranger's document stay in the dictionary of the context.
            elements = try text.withContiguousBytes { (bytes) throws(XMLRefusal) in
                try StrictXMLReader().read(bytes, allowsDeclaration: true)
            }
        } catch {
            throw .document("a REST v1 <play>", .xml(error))
        }
        guard elements.first?.name == root else { throw .document("XML", .unexpected("a root other than <play>")) }
        let tokens = elements.filter { $0.depth == 1 && $0.name == field }
        guard tokens.count == 1 else {
            throw .document("a REST v1 <play>", .unexpected("\(tokens.count) <\(field)>; expected one"))
        }
        return Array(tokens[0].text.utf8)[...]
    }
}
