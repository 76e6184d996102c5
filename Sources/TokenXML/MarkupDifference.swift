/// A detail in which two documents with the same canonical form can differ.
package enum MarkupDetail: String, CaseIterable, Sendable {
    case quotes
    case attributeOrder = "the order of attributes"
    case spaceInTags = "white space in tags"
    case spaceBetweenElements = "white space between elements"
    case emptyTags = "empty-element tags"
    case namespaces = "namespace declarations that change nothing"
    case escapes = "CDATA or escapes"
    case lineBreaks = "line breaks"
}

extension CanonicalXML {
    /// The details in which two documents differ that have the same canonical form; none if they are the same.
    package static func details(between one: [UInt8], and other: [UInt8]) -> Set<MarkupDetail> {
        let (left, right) = (Markup(one), Markup(other))
        guard left.tags.count == right.tags.count else { return [] }
        var details: Set<MarkupDetail> = []
        for (tag, other) in zip(left.tags, right.tags) { tag.compare(with: other, &details) }
        for (content, other) in zip(left.contents, right.contents) where content != other {
            let isLineBreak = content.filter { $0 != 0x0D } == other.filter { $0 != 0x0D }
            let isSpace = (content + other).allSatisfy(\.isXMLWhiteSpace)
            details.insert(isLineBreak ? .lineBreaks : isSpace ? .spaceBetweenElements : .escapes)
        }
        return details
    }
}

/// The tags of a well-formed document, and the bytes before each.
private struct Markup {
    struct Tag {
        var attributes: [(name: [UInt8], value: [UInt8], quote: UInt8)] = []
        /// The white space, each run with what it stands before.
        var space: [UInt8] = []
        var isEmpty = false

        func compare(with other: Tag, _ details: inout Set<MarkupDetail>) {
            if isEmpty != other.isEmpty { details.insert(.emptyTags) }
            if attributes.count == other.attributes.count, space != other.space { details.insert(.spaceInTags) }
            let names = attributes.map(\.name)
            if !names.elementsEqual(other.attributes.map(\.name)) {
                let isOrder = Set(names) == Set(other.attributes.map(\.name))
                details.insert(isOrder ? .attributeOrder : .namespaces)
            }
            let others = Dictionary(other.attributes.map { ($0.name, $0) }) { first, _ in first }
            for attribute in attributes {
                guard let other = others[attribute.name] else { continue }
                if attribute.quote != other.quote { details.insert(.quotes) }
                if attribute.value != other.value { details.insert(.escapes) }
            }
        }
    }

    private(set) var tags: [Tag] = []
    private(set) var contents: [[UInt8]] = []

    init(_ document: [UInt8]) {
        var rest = document[...]
        var content: [UInt8] = []
        while let first = rest.first {
            if rest.starts(with: "<![CDATA[".utf8) {
                let end = rest.firstRange(of: Array("]]>".utf8))?.upperBound ?? rest.endIndex
                content += rest[..<end]
                rest = rest[end...]
            } else if first == UInt8(ascii: "<") {
                contents.append(content)
                content = []
                tags.append(Self.tag(&rest))
                // An empty-element tag counts as two, as in canonical form.
                if tags[tags.count - 1].isEmpty {
                    contents.append([])
                    tags.append(Tag())
                }
            } else {
                content.append(first)
                rest = rest.dropFirst()
            }
        }
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) -> Tag {
        var (tag, name) = (Tag(), [UInt8]())
        while let byte = rest.popFirst(), byte != UInt8(ascii: ">") {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let value = rest.prefix { $0 != byte }
                tag.attributes.append((name, Array(value), byte))
                rest = rest[value.endIndex...].dropFirst()
                name = []
            } else if byte.isXMLWhiteSpace {
                tag.space.append(byte)
                // The name of the element ends here; that of an attribute may have space before its equals sign.
                if name.first == UInt8(ascii: "<") { name = [] }
            } else if byte == UInt8(ascii: "/"), rest.first == UInt8(ascii: ">") {
                tag.isEmpty = true
            } else if byte == UInt8(ascii: "=") {
                tag.space.append(byte)
            } else {
                name.append(byte)
            }
        }
        return tag
    }
}
