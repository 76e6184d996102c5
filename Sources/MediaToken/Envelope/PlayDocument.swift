internal import TokenXML

/// The answer of REST v1 as XML: `<play>` with the token in `serializedToken`. Its other fields repeat what the token
/// says, unsigned, and are not read.
enum PlayDocument {
    static func serializedToken(inXML text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        let fields: FieldElements
        do {
            // A reader of its own: the names in a stranger's document would stay in the dictionary of a kept one.
            fields = try FieldElements(reading: text, with: StrictXMLReader(), allowsDeclaration: true)
        } catch {
            throw .document("a REST v1 <play>", .xml(error))
        }
        guard fields.isRootNamed("play"), !fields.root.isDecorated else {
            throw .document("XML", .unexpected("a root other than <play>"))
        }
        return Array(try fields.requiredText("serializedToken").utf8)[...]
    }
}
