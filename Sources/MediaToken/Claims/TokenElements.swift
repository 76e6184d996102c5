package import TokenXML

/// The elements of one token's signed XML; the token may be of any kind.
package struct TokenElements: Sendable {
    package let kind: TokenKind
    package let fields: FieldElements

    init(reading payload: ArraySlice<UInt8>, with reader: StrictXMLReader) throws(ClaimsError) {
        let fields: FieldElements
        do { fields = try FieldElements(reading: payload, with: reader) } catch { throw .xml(error) }
        guard let kind = TokenKind(rootOf: fields) else { throw .unknownRoot(fields.rootName) }
        if let decoration = fields.elements.decoration(of: fields.root) { throw .decoratedRoot(with: decoration) }
        guard fields.root.isBlank else { throw .strayText }
        (self.kind, self.fields) = (kind, fields)
    }

    /// Reads unsigned bytes with a new parser, so that their names do not stay in the dictionary of a kept parser.
    package init(readingUnverified payload: ArraySlice<UInt8>) throws(ClaimsError) {
        let reader: StrictXMLReader
        // Unreached: Out of memory.
        do { reader = try StrictXMLReader() } catch { throw .xml(error) }
        try self.init(reading: payload, with: reader)
    }
}
