internal import CLibXML2

/// Collects one document's elements from libxml2's SAX2 calls, and stops the parser at the first thing refused.
final class XMLEvents {
    private let context: xmlParserCtxtPtr
    private(set) var elements: [XMLElement] = []
    private(set) var refusal: XMLRefusal?
    private(set) var malformed = XMLRefusal.malformed(code: 0, line: 0, column: 0)
    private var open: [Int] = []
    private var attributes = 0
    private var namespaces = 0

    init(context: xmlParserCtxtPtr) {
        self.context = context
        elements.reserveCapacity(8)
        open.reserveCapacity(4)
    }

    /// Whether every element that was opened was closed again, and there was one.
    var isComplete: Bool { !elements.isEmpty && open.isEmpty }

    func begin(name: String, isPrefixed: Bool, attributes: Int, namespaces: Int) {
        self.attributes += attributes
        self.namespaces += namespaces
        guard open.count < StrictXMLReader.depthLimit else {
            return refuse(.tooDeep(limit: StrictXMLReader.depthLimit))
        }
        guard elements.count < StrictXMLReader.elementLimit else {
            return refuse(.tooManyElements(limit: StrictXMLReader.elementLimit))
        }
        guard self.attributes <= StrictXMLReader.attributeLimit else {
            return refuse(.tooManyAttributes(limit: StrictXMLReader.attributeLimit))
        }
        guard self.namespaces <= StrictXMLReader.namespaceLimit else {
            return refuse(.tooManyNamespaces(limit: StrictXMLReader.namespaceLimit))
        }
        let isDecorated = isPrefixed || attributes > 0 || namespaces > 0
        let element = XMLElement(name: name, depth: open.count, isDecorated: isDecorated, text: "")
        open.append(elements.count)
        elements.append(element)
    }

    func end() {
        _ = open.popLast()
    }

    func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard let innermost = open.last else { return }
        let text = String(decoding: text, as: UTF8.self)
        // Nearly always in one piece.
        if elements[innermost].text.isEmpty {
            elements[innermost].text = text
        } else {
            elements[innermost].text += text
        }
    }

    func refuse(_ refusal: XMLRefusal) {
        if self.refusal == nil { self.refusal = refusal }
        xmlStopParser(context)
    }

    /// The first of libxml2's complaints counts; those after it follow from it.
    func note(code: Int, line: Int, column: Int) {
        if case .malformed(0, _, _) = malformed { malformed = .malformed(code: code, line: line, column: column) }
    }
}

/// The functions that libxml2 calls. Each finds its ``XMLEvents`` in the parser's user data.
enum SAXHandlers {
    // A table of function pointers that nobody writes to once it is made.
    nonisolated(unsafe) static let table: xmlSAXHandler = {
        var handlers = xmlSAXHandler()
        handlers.initialized = XML_SAX2_MAGIC
        handlers.startElementNs = { user, name, prefix, uri, namespaceCount, _, attributeCount, _, _ in
            guard let name else { return }
            events(user)?.begin(
                name: String(cString: name), isPrefixed: prefix != nil || uri != nil,
                attributes: Int(attributeCount), namespaces: Int(namespaceCount))
        }
        handlers.endElementNs = { user, _, _, _ in events(user)?.end() }
        handlers.characters = { user, start, count in
            events(user)?.append(UnsafeBufferPointer(start: start, count: Int(count)))
        }
        handlers.ignorableWhitespace = handlers.characters
        handlers.cdataBlock = handlers.characters
        handlers.comment = { user, _ in events(user)?.refuse(.comment) }
        handlers.processingInstruction = { user, _, _ in events(user)?.refuse(.processingInstruction) }
        handlers.internalSubset = { user, _, _, _ in events(user)?.refuse(.documentType) }
        handlers.serror = { user, error in
            guard let error = error?.pointee else { return }
            if error.code == XML_WAR_NS_URI.rawValue || error.code == XML_WAR_NS_URI_RELATIVE.rawValue {
                events(user)?.refuse(.relativeNamespace)
            } else if error.level != XML_ERR_WARNING {
                events(user)?.note(code: Int(error.code), line: Int(error.line), column: Int(error.int2))
            }
        }
        return handlers
    }()

    private static func events(_ user: UnsafeMutableRawPointer?) -> XMLEvents? {
        user.map { Unmanaged<XMLEvents>.fromOpaque($0).takeUnretainedValue() }
    }
}
