internal import CLibXML2

/// Reads small documents made of elements and text, and refuses whatever else XML has to offer: a DOCTYPE, entities
/// beyond the predefined five and numeric ones, comments, processing instructions. It never opens a file or a socket.
///
/// Nothing is handed out before the parser has seen the last byte and called the whole well-formed, so a document is
/// never half read. One reader keeps its parser context from document to document, since making one costs as much as
/// reading a token.
///
/// Not thread-safe: one caller at a time.
package final class StrictXMLReader {
    package static let depthLimit = 16
    package static let elementLimit = 256
    /// In the whole document.
    package static let attributeLimit = 512
    /// Declarations in the whole document. libxml2's canonicalisation takes time that grows with their square.
    package static let namespaceLimit = 32

    /// Pedantic, so that it tells of a namespace name that is no absolute URI.
    private static let options = XMLLibrary.options | Int32(bitPattern: XML_PARSE_PEDANTIC.rawValue)

    private let context: xmlParserCtxtPtr

    package init() throws(XMLRefusal) {
        XMLLibrary.initialize()
        guard let context = xmlNewParserCtxt() else { throw .outOfMemory }
        self.context = context
        context.pointee.sax.pointee = SAXHandlers.table
    }

    deinit {
        xmlFreeParserCtxt(context)
    }

    /// The document's elements in document order, the root first.
    ///
    /// - Parameter allowsDeclaration: whether an `<?xml …?>` may precede the root. Its encoding is not believed: the
    ///   bytes are UTF-8 or the document is refused.
    package func read(
        _ bytes: UnsafeBufferPointer<UInt8>, allowsDeclaration: Bool = false
    ) throws(XMLRefusal) -> [XMLElement] {
        try DocumentBytes.check(bytes, allowsDeclaration: allowsDeclaration)
        let events = XMLEvents(context: context)
        let wellFormed = withExtendedLifetime(events) {
            context.pointee.userData = Unmanaged.passUnretained(events).toOpaque()
            defer { context.pointee.userData = nil }
            bytes.withMemoryRebound(to: CChar.self) {
                // Returns the tree, of which our handlers build none: the context knows how it went.
                _ = xmlCtxtReadMemory(context, $0.baseAddress, Int32($0.count), nil, nil, Self.options)
            }
            return context.pointee.wellFormed == 1 && context.pointee.nsWellFormed == 1
        }
        if let refusal = events.refusal { throw refusal }
        guard wellFormed, events.isComplete else { throw events.malformed }
        return events.elements
    }
}

/// Process-wide facts about libxml2.
enum XMLLibrary {
    /// No network, and nothing printed to standard error. Entities are left alone, so an undeclared one is an error.
    static let options = Int32(
        bitPattern: XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
            | XML_PARSE_IGNORE_ENC.rawValue)

    /// Must have happened before a second thread parses; a static is made once.
    private static let initialized: Void = xmlInitParser()

    static func initialize() {
        initialized
    }
}

/// What is checked before a C parser sees the bytes.
enum DocumentBytes {
    static func check(_ bytes: UnsafeBufferPointer<UInt8>, allowsDeclaration: Bool) throws(XMLRefusal) {
        guard !bytes.contains(0) else { throw .holdsNUL }
        guard isUTF8(bytes) else { throw .notUTF8 }
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "<") else { throw .doesNotBeginWithTag }
        guard allowsDeclaration || bytes[1] != UInt8(ascii: "?") else { throw .declaration }
    }

    private static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
