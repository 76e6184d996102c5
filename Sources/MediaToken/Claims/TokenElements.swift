internal import TokenXML

/// The elements of one token's signed XML, of whichever kind.
struct TokenElements: Sendable {
    let kind: TokenKind
    let fields: FieldElements

    init(reading payload: ArraySlice<UInt8>, with reader: StrictXMLReader) throws(FormatProblem) {
        let fields: FieldElements
        do { fields = try FieldElements(reading: payload, with: reader) } catch { throw .xml(error) }
        guard let kind = TokenKind(rootOf: fields) else { throw .unknownRoot(fields.rootName) }
        guard !fields.root.isDecorated else { throw .decoratedRoot }
        guard fields.root.isBlank else { throw .strayText }
        (self.kind, self.fields) = (kind, fields)
    }

    /// Reads with a parser of its own: the names in bytes that nobody signed stay out of the kept ones' dictionaries.
    init(readingUnverified payload: ArraySlice<UInt8>) throws(FormatProblem) {
        let reader: StrictXMLReader
        do { reader = try StrictXMLReader() } catch { throw .xml(error) }
        try self.init(reading: payload, with: reader)
    }
}
