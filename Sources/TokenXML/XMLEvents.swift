internal import CLibXML2
internal import Glibc

/// Collects one document's elements from libxml2's SAX2 calls, and stops the parser at the first thing that is not
/// accepted.
struct XMLEvents {
    private let context: xmlParserCtxtPtr
    private var list: [XMLElement] = []
    /// The names and texts of the elements, one after the other.
    private var bytes: [UInt8] = []
    private(set) var refusal: XMLError?
    private(set) var malformed = Self.noComplaint
    private var open: [Int] = []
    private var attributes = 0
    private var namespaces = 0
    private var decorations: [XMLElement.Decoration] = []

    private static let noComplaint = XMLError.malformed(code: 0, line: 0, column: 0)

    init(context: xmlParserCtxtPtr) {
        self.context = context
    }

    /// Discards the last document, and keeps the memory that it took.
    mutating func reset() {
        list.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        decorations.removeAll(keepingCapacity: true)
        open.removeAll(keepingCapacity: true)
        (refusal, malformed) = (nil, Self.noComplaint)
        (attributes, namespaces) = (0, 0)
    }

    /// Whether the document has an element, every element is closed, and libxml2 reported no error.
    var isComplete: Bool { malformed == Self.noComplaint && !list.isEmpty && open.isEmpty }

    /// The elements of a document that is complete.
    var elements: XMLElements { XMLElements(list, in: bytes[...], decorations) }

    mutating func begin(
        name: UnsafeBufferPointer<UInt8>,
        decoration: (kind: XMLElement.Decoration.Kind, name: UnsafePointer<xmlChar>?)?,
        attributes: Int, namespaces: Int
    ) {
        self.attributes += attributes
        self.namespaces += namespaces
        guard open.count < StrictXMLReader.depthLimit else {
            return refuse(.tooDeep(limit: StrictXMLReader.depthLimit))
        }
        guard list.count < StrictXMLReader.elementLimit else {
            return refuse(.tooManyElements(limit: StrictXMLReader.elementLimit))
        }
        guard self.attributes <= StrictXMLReader.attributeLimit else {
            return refuse(.tooManyAttributes(limit: StrictXMLReader.attributeLimit))
        }
        guard self.namespaces <= StrictXMLReader.namespaceLimit else {
            return refuse(.tooManyNamespaces(limit: StrictXMLReader.namespaceLimit))
        }
        if let parent = open.last { list[parent].hasChildren = true }
        if let decoration {
            // One byte more than is shown, so that a name that goes on shows it.
            // Unreached: A name of no length that libxml2 would have to give.
            let count = decoration.name.map { strnlen($0, XMLElement.Decoration.shownBytes + 1) } ?? 0
            let shown = append(UnsafeBufferPointer(start: decoration.name, count: count))
            decorations.append(XMLElement.Decoration(kind: decoration.kind, name: shown))
        }
        let number = decoration == nil ? 0 : Int32(clamping: decorations.count)
        list.append(XMLElement(name: append(name), depth: open.count, decoration: number))
        open.append(list.count - 1)
    }

    mutating func end() {
        _ = open.popLast()
    }

    mutating func append(text: UnsafeBufferPointer<UInt8>) {
        // Unreached: libxml2 reports no text outside of the root; the line guards against an index out of bounds.
        guard let innermost = open.last else { return }
        if list[innermost].isBlank { list[innermost].isBlank = text.allSatisfy(\.isXMLWhiteSpace) }
        guard !list[innermost].hasChildren else { return }
        let run = append(text)
        let begin = list[innermost].isEmpty ? run.lowerBound : list[innermost].text.lowerBound
        list[innermost].text = begin..<run.upperBound
    }

    private mutating func append(_ characters: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let begin = bytes.count
        bytes += characters
        return begin..<bytes.count
    }

    mutating func refuse(_ refusal: XMLError) {
        if self.refusal == nil { self.refusal = refusal }
        stop()
    }

    /// Notes the first error that libxml2 reports, and stops the parser: each of many errors would create a text as
    /// long as the input that it is about.
    mutating func note(code: Int, line: Int, column: Int) {
        if case .malformed(0, _, _) = malformed { malformed = .malformed(code: code, line: line, column: column) }
        stop()
    }

    /// Makes libxml2 read no further. libxml2's own xmlStopParser() frees the input, and after some errors (`]]>` in
    /// text) libxml2 2.9 continues to read the freed memory.
    private func stop() {
        context.pointee.instate = XML_PARSER_EOF
        context.pointee.disableSAX = 1
    }
}

/// The functions that libxml2 calls. Each finds its ``XMLEvents`` in the parser's user data.
enum SAXHandlers {
    // The table of function pointers is never written to after it is made.
    nonisolated(unsafe) static let table: xmlSAXHandler = {
        var handlers = xmlSAXHandler()
        handlers.initialized = XML_SAX2_MAGIC
        handlers.startElementNs = {
            user, name, prefix, uri, namespaceCount, namespaces, attributeCount, _, attributes in
            // Unreached: libxml2 hands over no element without a name; the line satisfies the type.
            guard let name else { return }
            let bytes = UnsafeBufferPointer(start: name, count: Int(xmlStrlen(name)))
            let decoration: (XMLElement.Decoration.Kind, UnsafePointer<xmlChar>?)? =
                if prefix != nil { (.prefix, prefix) } else if attributeCount > 0 { (.attribute, attributes?[0]) } else
                {
                    // Namespaces that a tag declares are pairs of a prefix and a name.
                    // Unreached: A namespace that a tag declares without a prefix of its own; the vectors of structure
                    // have it.
                    uri != nil ? (.namespace, uri) : namespaceCount > 0 ? (.namespace, namespaces?[1]) : nil
                }
            events(user)?.pointee.begin(
                name: bytes, decoration: decoration, attributes: Int(attributeCount), namespaces: Int(namespaceCount))
        }
        handlers.endElementNs = { user, _, _, _ in events(user)?.pointee.end() }
        handlers.characters = { user, start, count in
            events(user)?.pointee.append(text: UnsafeBufferPointer(start: start, count: Int(count)))
        }
        handlers.ignorableWhitespace = handlers.characters
        handlers.cdataBlock = handlers.characters
        handlers.comment = { user, _ in events(user)?.pointee.refuse(.comment) }
        handlers.processingInstruction = { user, _, _ in events(user)?.pointee.refuse(.processingInstruction) }
        handlers.internalSubset = { user, _, _, _ in events(user)?.pointee.refuse(.documentType) }
        handlers.serror = { user, error in
            // Unreached: libxml2 hands over no complaint that is none; the line satisfies the type.
            guard let error = error?.pointee else { return }
            if error.code == XML_WAR_NS_URI.rawValue || error.code == XML_WAR_NS_URI_RELATIVE.rawValue {
                events(user)?.pointee.refuse(.relativeNamespace)
            } else if error.code == XML_ERR_NO_MEMORY.rawValue {
                // Unreached: Out of memory.
                events(user)?.pointee.refuse(.outOfMemory)
            } else if error.level != XML_ERR_WARNING {
                events(user)?.pointee.note(code: Int(error.code), line: Int(error.line), column: Int(error.int2))
            }
        }
        return handlers
    }()

    private static func events(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLEvents>? {
        user?.assumingMemoryBound(to: XMLEvents.self)
    }
}
