/// A second reader of the XML that tokens are made of, for comparison: elements, text, CDATA, character references. It
/// is written without a look at libxml2, knows no limits, and understands only documents that are well-formed.
struct PlainXMLReader {
    struct Element: Equatable {
        var name: String
        var depth: Int
        /// Its text before its first child.
        var text = ""
    }

    private var rest: Substring.UnicodeScalarView
    private(set) var elements: [Element] = []
    private var open: [Int] = []
    private var hasChild: [Bool] = []

    init(_ text: String) throws {
        // XML 1.0, 2.11. By scalars, as to `String` a line break of two is one character.
        let parts = Array(text.utf8).split(separator: 0x0D, omittingEmptySubsequences: false)
        let lines = parts.prefix(1) + parts.dropFirst().map { $0.first == 0x0A ? $0 : [0x0A] + $0 }
        rest = Substring(decoding: Array(lines.joined()), as: UTF8.self).unicodeScalars
        while !rest.isEmpty { try readNext() }
        try demand(open.isEmpty && !elements.isEmpty, "the second reader finds no end")
    }

    private mutating func readNext() throws {
        if take("<![CDATA[") {
            append(String(try readUntil("]]>")))
        } else if take("<?xml") {
            _ = try readUntil("?>")
        } else if take("<!") || take("<?") {
            throw Violation(description: "the second reader finds a comment, a DOCTYPE or an instruction")
        } else if take("</") {
            let name = try readUntil(">").trimmingSuffix(while: \.isWhitespace)
            guard let last = open.popLast() else {
                throw Violation(description: "the second reader finds no such element")
            }
            try demand(
                name.split(separator: ":").last.map(String.init) == elements[last].name,
                "the second reader finds another end than it expects")
            hasChild.removeLast()
        } else if take("<") {
            try readStartTag()
        } else if take("&") {
            append(try readReference())
        } else if let scalar = rest.popFirst() {
            append(String(scalar))
        }
    }

    private mutating func readStartTag() throws {
        var (tag, quote): (String, Unicode.Scalar?) = ("", nil)
        while true {
            guard let scalar = rest.popFirst() else {
                throw Violation(description: "the second reader finds no end of a tag")
            }
            if scalar == quote { quote = nil } else if quote == nil, scalar == "\"" || scalar == "'" { quote = scalar }
            if scalar == ">", quote == nil { break }
            tag.unicodeScalars.append(scalar)
        }
        let name = tag.unicodeScalars.prefix { !" \t\n/".unicodeScalars.contains($0) }
        let localName = String(name).split(separator: ":").last.map(String.init) ?? ""
        if !hasChild.isEmpty { hasChild[hasChild.count - 1] = true }
        elements.append(Element(name: localName, depth: open.count))
        guard tag.unicodeScalars.last != "/" else { return }
        open.append(elements.count - 1)
        hasChild.append(false)
    }

    private mutating func readReference() throws -> String {
        let name = String(try readUntil(";"))
        let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        if let character = known[name] { return character }
        let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
        guard name.hasPrefix("#"), let value = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
            let scalar = Unicode.Scalar(value)
        else { throw Violation(description: "the second reader finds a reference that is none") }
        return String(scalar)
    }

    private mutating func append(_ text: String) {
        guard let last = open.last, hasChild.last == false else { return }
        elements[last].text.unicodeScalars.append(contentsOf: text.unicodeScalars)
    }

    private mutating func take(_ literal: String) -> Bool {
        guard rest.starts(with: literal.unicodeScalars) else { return false }
        rest.removeFirst(literal.unicodeScalars.count)
        return true
    }

    private mutating func readUntil(_ end: String) throws -> Substring {
        var found = ""
        while !rest.isEmpty {
            if take(end) { return Substring(found) }
            if let scalar = rest.popFirst() { found.unicodeScalars.append(scalar) }
        }
        throw Violation(description: "the second reader finds no '\(end)'")
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Unicode.Scalar) -> Bool) -> Substring {
        var scalars = unicodeScalars
        while let last = scalars.last, isTrimmed(last) { scalars.removeLast() }
        return Substring(scalars)
    }
}

extension Unicode.Scalar {
    fileprivate var isWhitespace: Bool { self == " " || self == "\t" || self == "\n" }
}
