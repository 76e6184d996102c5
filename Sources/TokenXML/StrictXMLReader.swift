internal import CLibXML2
internal import Glibc

/// Reads small documents made of elements and text, and rejects everything else that XML allows: a DOCTYPE, entities
/// beyond the predefined five and numeric ones, comments, processing instructions. It never opens a file or a socket.
///
/// It returns nothing before libxml2 has parsed the last byte and found the whole document well-formed, so a document
/// is never half read. One reader keeps its parser context from document to document, since creating one costs as much
/// as reading a token.
///
/// It is not thread-safe: it serves one caller at a time.
package final class StrictXMLReader {
    package static let depthLimit = 16
    package static let elementLimit = 256
    /// The largest number of attributes in the whole document.
    package static let attributeLimit = 512
    /// The largest number of namespace declarations in the whole document. The time of libxml2's canonicalisation grows
    /// with the square of that number.
    package static let namespaceLimit = 32

    /// The parser's options, which make it pedantic, so that libxml2 reports a namespace name that is no absolute URI.
    private static let options = XMLLibrary.options | Int32(bitPattern: XML_PARSE_PEDANTIC.rawValue)

    private let context: xmlParserCtxtPtr
    private var events: XMLEvents

    package init() throws(XMLError) {
        XMLLibrary.initialize()
        // Unreached: Out of memory.
        guard let context = xmlNewParserCtxt() else { throw .outOfMemory }
        self.context = context
        events = XMLEvents(context: context)
        context.pointee.sax.pointee = SAXHandlers.table
    }

    deinit {
        xmlFreeParserCtxt(context)
    }

    /// Returns the document's elements in document order, the root first.
    ///
    /// - Parameter allowsDeclaration: whether an `<?xml …?>` may precede the root. Its encoding is ignored: the bytes
    ///   must be UTF-8, or the document is rejected.
    package func read(
        _ bytes: ArraySlice<UInt8>, allowsDeclaration: Bool = false
    ) throws(XMLError) -> XMLElements {
        if let elements = PlainDocument.read(bytes) { return elements }
        return try bytes.withUnsafeBufferPointer { (bytes) throws(XMLError) in
            try readByLibrary(bytes, allowsDeclaration: allowsDeclaration)
        }
    }

    /// Reads a document with libxml2, plain or not.
    package func readByLibrary(
        _ bytes: UnsafeBufferPointer<UInt8>, allowsDeclaration: Bool = false
    ) throws(XMLError) -> XMLElements {
        try DocumentBytes.check(bytes, allowsDeclaration: allowsDeclaration)
        guard DocumentBytes.hold(DocumentBytes.carriageReturn, bytes) else { return try readLines(bytes) }
        return try DocumentBytes.withLineFeeds(bytes).withUnsafeBufferPointer {
            (bytes) throws(XMLError) in
            try readLines(bytes)
        }
    }

    private func readLines(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) -> XMLElements {
        try withUnsafeMutablePointer(to: &events) { (events) throws(XMLError) in
            events.pointee.reset()
            context.pointee.userData = UnsafeMutableRawPointer(events)
            defer { context.pointee.userData = nil }
            try parse(bytes)
            if let refusal = events.pointee.refusal { throw refusal }
            let isWellFormed = context.pointee.wellFormed == 1 && context.pointee.nsWellFormed == 1
            guard isWellFormed, events.pointee.isComplete else { throw fault(in: bytes, events) }
            return events.pointee.elements
        }
    }

    /// Finds the fault of a document that was not well-formed, and its place: the document is read again with libxml2's
    /// pull parser, which does not look ahead and so stops at the fault itself.
    private func fault(
        in bytes: UnsafeBufferPointer<UInt8>, _ events: UnsafeMutablePointer<XMLEvents>
    ) -> XMLError {
        let first = events.pointee.malformed
        events.pointee.reset()
        bytes.withMemoryRebound(to: CChar.self) { bytes in
            _ = xmlCtxtReadMemory(context, bytes.baseAddress, Int32(bytes.count), nil, nil, Self.options)
        }
        // Unreached: No document is known that libxml2 refuses as a whole and not byte by byte; the line decides
        // between two refusals.
        if case .malformed(0, _, _) = events.pointee.malformed { return events.pointee.refusal ?? first }
        return events.pointee.malformed
    }

    /// Pushes the whole document to libxml2 at once. The parser then takes half the instructions of its pull mode,
    /// which near the end asks for more input at each character, and it checks a CDATA section in one go.
    private func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) {
        // Unreached: Out of memory.
        guard xmlCtxtResetPush(context, nil, 0, nil, nil) == 0 else { throw .outOfMemory }
        xmlCtxtUseOptions(context, Self.options)
        let isLast: Int32 = 1
        bytes.withMemoryRebound(to: CChar.self) { bytes in
            // The return value is an error number; the context knows whether the whole document was well-formed.
            _ = xmlParseChunk(context, bytes.baseAddress, Int32(bytes.count), isLast)
        }
    }
}

/// Process-wide options and initialization of libxml2.
enum XMLLibrary {
    /// The options of every parse: no network access, and nothing printed to standard error. Entities are not
    /// substituted, so an undeclared one is an error.
    static let options = Int32(
        bitPattern: XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
            | XML_PARSE_IGNORE_ENC.rawValue)

    /// Initializes libxml2, which must happen before a second thread parses; a static is initialized only once.
    private static let initialized: Void = xmlInitParser()

    static func initialize() {
        initialized
    }
}

/// The checks of a document's bytes before a C parser sees them.
enum DocumentBytes {
    static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    static func check(_ bytes: UnsafeBufferPointer<UInt8>, allowsDeclaration: Bool) throws(XMLError) {
        guard !hold(0, bytes) else { throw .holdsNUL }
        guard isUTF8(bytes) else { throw .notUTF8 }
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "<") else { throw .doesNotBeginWithTag }
        guard allowsDeclaration || bytes[1] != UInt8(ascii: "?") else { throw .declaration }
        guard areTagsShort(bytes) else { throw .tooManyAttributes(limit: StrictXMLReader.attributeLimit) }
    }

    /// Whether no tag can have more attributes than a document may: libxml2 compares each attribute with all others of
    /// its element before it reports them. No attribute value contains a `<`, and text that looks like a tag within a
    /// CDATA section counts as one.
    static func areTagsShort(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // That many attributes need more bytes than most documents have.
        let shortest = " a=\"\"".utf8.count
        guard let start = bytes.baseAddress, bytes.count > StrictXMLReader.attributeLimit * shortest else {
            return true
        }
        var next = 0
        while let tag = memchr(start + next, Int32(UInt8(ascii: "<")), bytes.count - next) {
            next = UnsafeRawPointer(start).distance(to: tag) + 1
            var (values, quote) = (0, UInt8?.none)
            while next < bytes.count, bytes[next] != UInt8(ascii: "<") {
                let byte = bytes[next]
                if quote == nil, byte == UInt8(ascii: ">") { break }
                if byte == quote {
                    (values, quote) = (values + 1, nil)
                } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                }
                next += 1
            }
            guard values <= StrictXMLReader.attributeLimit else { return false }
        }
        return true
    }

    static func hold(_ byte: UInt8, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Unreached: A buffer without an address is empty; the property's have one.
        bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
    }

    /// Returns the bytes with each line break as one line feed, as XML 1.0, 2.11 requires. libxml2 does not do this in
    /// a CDATA section that is pushed.
    static func withLineFeeds(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(bytes.count)
        var last = lineFeed
        for byte in bytes {
            if byte != lineFeed || last != carriageReturn { lines.append(byte == carriageReturn ? lineFeed : byte) }
            last = byte
        }
        return lines
    }

    private static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
