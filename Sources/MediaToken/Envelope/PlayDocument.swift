internal import TokenXML

/// Reads the XML answer of REST v1: `<play>` with the token in `serializedToken`. The other fields repeat the token's
/// claims without a signature, so they are not read.
enum PlayDocument {
    static func serializedToken(inXML text: ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8> {
        let fields: FieldElements
        do {
            // A new reader is made, since names from an unsigned document would stay in the dictionary of a kept one.
            fields = try FieldElements(reading: text, with: StrictXMLReader(), allowsDeclaration: true)
        } catch {
            throw .document("a REST v1 <play>", .xml(error))
        }
        guard fields.isRootNamed("play") else { throw .document("XML", .unexpected("a root other than <play>")) }
        // Unreached: A <play> with an attribute, prefix or namespace; the vectors of documents have it, as a document
        // alone.
        if let decoration = fields.elements.decoration(of: fields.root) {
            throw .document("XML", .unexpected("a <play> with \(decoration)"))
        }
        do { return Array(try fields.requiredText("serializedToken").utf8)[...] } catch { throw .documentField(error) }
    }
}
