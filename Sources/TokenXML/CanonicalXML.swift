internal import CLibXML2

/// Writes the Canonical XML 1.0 (W3C) of a small document, after CDATA has become text and white space between elements
/// has been removed.
///
/// Two documents with the same canonical form differ only in details that XML treats as insignificant: quote style,
/// order of attributes, CDATA or escapes, empty-element tags, and white space between elements. Comments and processing
/// instructions are rejected, as in ``StrictXMLReader``: leaving them out would make `A<!-- -->B` equal to `AB`.
package enum CanonicalXML {
    /// The largest document accepted, in bytes.
    package static let sizeLimit = 16_384
    /// The largest product of namespace declarations and elements: libxml2 looks for each declaration at each element.
    private static let workLimit = 2048

    /// Returns the canonical form's bytes. The work is bounded, since the document may come from anybody.
    package static func form(of bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) -> [UInt8] {
        guard bytes.count <= sizeLimit else { throw .tooLong(limit: sizeLimit) }
        let elements = try StrictXMLReader().readByLibrary(bytes).list.count
        let declarations = bytes.indices.count { bytes[$0...].starts(with: "xmlns".utf8) }
        guard declarations * elements <= workLimit else { throw .tooManyNamespaces(limit: workLimit / elements) }
        guard let document = parse(bytes) else { throw .outOfMemory }
        defer { xmlFreeDoc(document) }
        if let root = xmlDocGetRootElement(document) { dropWhiteSpaceBetweenElements(below: root) }

        var output: UnsafeMutablePointer<xmlChar>?
        let withoutComments: Int32 = 0
        let count = xmlC14NDocDumpMemory(document, nil, Int32(XML_C14N_1_0.rawValue), nil, withoutComments, &output)
        guard count >= 0, let output else { throw .outOfMemory }
        defer { shim_xmlFree(output) }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }

    /// Parses a document that the strict reader has accepted, this time into a tree in which CDATA is ordinary text.
    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> xmlDocPtr? {
        let options = XMLLibrary.options | Int32(bitPattern: XML_PARSE_NOCDATA.rawValue)
        return bytes.withMemoryRebound(to: CChar.self) {
            xmlReadMemory($0.baseAddress, Int32($0.count), nil, "UTF-8", options)
        }
    }

    /// Removes white space between elements, which is white space whose parent has element children and no other text.
    private static func dropWhiteSpaceBetweenElements(below element: xmlNodePtr) {
        let children = Array(sequence(first: element.pointee.children, next: { $0?.pointee.next }).compactMap(\.self))
        let elements = children.filter { $0.pointee.type == XML_ELEMENT_NODE }
        let texts = children.filter { $0.pointee.type == XML_TEXT_NODE }
        elements.forEach(dropWhiteSpaceBetweenElements)
        guard !elements.isEmpty, texts.allSatisfy({ xmlIsBlankNode($0) == 1 }) else { return }
        for text in texts {
            xmlUnlinkNode(text)
            xmlFreeNode(text)
        }
    }
}
