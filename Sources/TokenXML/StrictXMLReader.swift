internal import CLibXML2
internal import Glibc

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
    private var events: XMLEvents

    package init() throws(XMLRefusal) {
        XMLLibrary.initialize()
        guard let context = xmlNewParserCtxt() else { throw .outOfMemory }
        self.context = context
        events = XMLEvents(context: context)
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
    ) throws(XMLRefusal) -> XMLElements {
        try DocumentBytes.check(bytes, allowsDeclaration: allowsDeclaration)
        guard DocumentBytes.hold(DocumentBytes.carriageReturn, bytes) else { return try readLines(bytes) }
        return try DocumentBytes.withLineFeeds(bytes).withUnsafeBufferPointer {
            (bytes) throws(XMLRefusal) in
            try readLines(bytes)
        }
    }

    private func readLines(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLRefusal) -> XMLElements {
        try withUnsafeMutablePointer(to: &events) { (events) throws(XMLRefusal) in
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

    /// What is wrong with a document that was not well-formed, and where: read once more in libxml2's other way, which does
    /// not look ahead and so stops at the fault itself.
    private func fault(
        in bytes: UnsafeBufferPointer<UInt8>, _ events: UnsafeMutablePointer<XMLEvents>
    ) -> XMLRefusal {
        let first = events.pointee.malformed
        events.pointee.reset()
        bytes.withMemoryRebound(to: CChar.self) { bytes in
            _ = xmlCtxtReadMemory(context, bytes.baseAddress, Int32(bytes.count), nil, nil, Self.options)
        }
        if case .malformed(0, _, _) = events.pointee.malformed { return events.pointee.refusal ?? first }
        return events.pointee.malformed
    }

    /// Pushes the whole document at once. The parser then takes half the instructions that it takes when it asks for more
    /// by itself, which it does near the end at each character, and it checks a CDATA section in one go.
    private func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLRefusal) {
        guard xmlCtxtResetPush(context, nil, 0, nil, nil) == 0 else { throw .outOfMemory }
        xmlCtxtUseOptions(context, Self.options)
        let isLast: Int32 = 1
        bytes.withMemoryRebound(to: CChar.self) { bytes in
            // What it returns is an error number; the context knows whether the whole was well-formed.
            _ = xmlParseChunk(context, bytes.baseAddress, Int32(bytes.count), isLast)
        }
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
    static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    static func check(_ bytes: UnsafeBufferPointer<UInt8>, allowsDeclaration: Bool) throws(XMLRefusal) {
        guard !hold(0, bytes) else { throw .holdsNUL }
        guard isUTF8(bytes) else { throw .notUTF8 }
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "<") else { throw .doesNotBeginWithTag }
        guard allowsDeclaration || bytes[1] != UInt8(ascii: "?") else { throw .declaration }
        guard areTagsShort(bytes) else { throw .tooManyAttributes(limit: StrictXMLReader.attributeLimit) }
    }

    /// Whether no tag can have more attributes than a document may: libxml2 compares each with all others of its element,
    /// before it tells of them. No value holds a `<`, and what looks like a tag
    /// within a CDATA section counts as one.
    private static func areTagsShort(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // So many need more bytes than most documents have.
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
        bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
    }

    /// With each line break as one line feed, as XML 1.0, 2.11 has it. libxml2 leaves that out in a CDATA section that is
    /// pushed.
    static func withLineFeeds(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if byte == lineFeed, index > 0, bytes[index - 1] == carriageReturn { continue }
            lines.append(byte == carriageReturn ? lineFeed : byte)
        }
        return lines
    }

    private static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
