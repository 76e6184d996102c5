internal import Glibc

/// Reads the documents that nearly all tokens are, without libxml2: elements with plain names, ASCII text and CDATA
/// sections.
///
/// It only ever recognises a subset of what ``StrictXMLReader`` accepts, with the same elements. Whatever else a
/// document has (an attribute, a prefix, an entity, a comment, a character beyond ASCII, a mistake), libxml2 decides
/// about it.
struct PlainDocument {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let start: UnsafePointer<UInt8>
    /// The index that the first byte has in the document's array.
    private let origin: Int
    private var list: [XMLElement] = []
    /// The indexes of the elements that are open.
    private var open = InlineArray<16, Int>(repeating: 0)
    private var depth = 0
    private var position = 0

    private init?(_ bytes: UnsafeBufferPointer<UInt8>, from origin: Int) {
        // Unreached: A buffer without an address is empty; the property's have one.
        guard let start = bytes.baseAddress else { return nil }
        (self.bytes, self.start, self.origin) = (bytes, start, origin)
        // A token has some ten elements.
        list.reserveCapacity(16)
    }

    /// The document's elements, the root first; `nil` if it is not plain.
    static func read(_ bytes: ArraySlice<UInt8>) -> XMLElements? {
        let list: [XMLElement]? = bytes.withUnsafeBufferPointer {
            // A CDATA section that looks like a long tag is refused when libxml2 reads a document, so it is refused
            // here.
            guard $0.count <= byteLimit, DocumentBytes.areTagsShort($0),
                var document = PlainDocument($0, from: bytes.startIndex)
            else {
                return nil
            }
            return document.read() ? document.list : nil
        }
        return list.map { XMLElements($0, in: bytes) }
    }

    private static let sectionEnd: StaticString = "]]>"
    private static let nameLimit = 1000
    /// The longest document in bytes. libxml2 has limits of its own for far longer ones.
    private static let byteLimit = 65_536

    private mutating func read() -> Bool {
        guard bytes.first == UInt8(ascii: "<"), beginElement() else { return false }
        while depth > 0 {
            guard let tag = position(of: "<", from: position), tag + 1 < bytes.count else { return false }
            if tag > position {
                guard takeText(upTo: tag, isSection: false) else { return false }
            }
            switch bytes[tag + 1] {
            case UInt8(ascii: "/"):
                guard endElement() else { return false }
            case UInt8(ascii: "!"):
                guard takeSection() else { return false }
            default:
                guard beginElement() else { return false }
            }
        }
        return position == bytes.count
    }

    private var innermost: Int { open[depth - 1] }

    /// Reads a start tag of nothing but a name.
    private mutating func beginElement() -> Bool {
        guard depth < min(open.count, StrictXMLReader.depthLimit), list.count < StrictXMLReader.elementLimit
        else { return false }
        let begin = position + 1
        var end = begin
        while end < bytes.count, bytes[end].isPlainNameByte { end += 1 }
        // A name begins with a letter: not with a digit, a hyphen or a dot. libxml2 refuses names of some 50,000 bytes.
        guard end - begin <= Self.nameLimit, end < bytes.count, bytes[begin].isASCIILetter,
            bytes[end] == UInt8(ascii: ">")
        else { return false }
        if depth > 0, !list[innermost].hasChildren { list[innermost].hasChildren = true }
        open[depth] = list.count
        list.append(XMLElement(name: origin + begin..<origin + end, depth: depth))
        depth += 1
        position = end + 1
        return true
    }

    /// Takes a run of text or a CDATA section; `false` if the element already has one that is not next to it.
    private mutating func takeText(upTo end: Int, isSection: Bool) -> Bool {
        guard isPlain(upTo: end, isSection: isSection) else { return false }
        let isBlank = bytes[position..<end].allSatisfy(\.isXMLWhiteSpace)
        defer { position = end }
        return list[innermost].take(origin + position..<origin + end, isBlank: isBlank)
    }

    private mutating func takeSection() -> Bool {
        guard take("<![CDATA["), let end = endOfSection(), takeText(upTo: end, isSection: true) else { return false }
        position += Self.sectionEnd.utf8CodeUnitCount
        return true
    }

    private mutating func endElement() -> Bool {
        let name = list[innermost].name
        let begin = position + "</".utf8.count
        guard bytes.count - begin > name.count,
            memcmp(start + begin, start + (name.lowerBound - origin), name.count) == 0,
            bytes[begin + name.count] == UInt8(ascii: ">")
        else { return false }
        position = begin + name.count + 1
        depth -= 1
        return true
    }

    private mutating func take(_ literal: StaticString) -> Bool {
        guard holds(literal, at: position) else { return false }
        position += literal.utf8CodeUnitCount
        return true
    }

    private func holds(_ literal: StaticString, at position: Int) -> Bool {
        let length = literal.utf8CodeUnitCount
        return bytes.count - position >= length && memcmp(start + position, literal.utf8Start, length) == 0
    }

    private func position(of byte: Unicode.Scalar, from begin: Int) -> Int? {
        guard let found = memchr(start + begin, Int32(byte.value), bytes.count - begin) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    private func endOfSection() -> Int? {
        var end = position
        while let bracket = position(of: "]", from: end) {
            if holds(Self.sectionEnd, at: bracket) { return bracket }
            end = bracket + 1
        }
        return nil
    }

    /// Whether the bytes up to `end` are characters of XML 1.0, 2.2, in ASCII, and none of them means something else
    /// there.
    private func isPlain(upTo end: Int, isSection: Bool) -> Bool {
        let count = end - position
        if !isSection {
            let specials = (UInt8(ascii: "&"), UInt8(ascii: "]"))
            guard memchr(start + position, Int32(specials.0), count) == nil,
                memchr(start + position, Int32(specials.1), count) == nil
            else { return false }
        }
        var next = position
        while next + 8 <= end, Self.arePrintable(UnsafeRawPointer(start + next).loadUnaligned(as: UInt64.self)) {
            next += 8
        }
        while next < end, bytes[next].isPlain { next += 1 }
        return next == end
    }

    /// Whether each of eight bytes is from 0x20 to 0x7E. A byte that is not sets the highest bit of its own sum or
    /// difference.
    private static func arePrintable(_ word: UInt64) -> Bool {
        let (ones, highest): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        return (word | (word &+ ones) | (word &- (ones << 5))) & highest == 0
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }

    fileprivate var isPlainNameByte: Bool {
        isASCIILetter || self &- UInt8(ascii: "0") < 10 || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
            || self == UInt8(ascii: ".")
    }

    fileprivate var isPlain: Bool { self >= 0x20 && self < 0x7F || self == 0x09 || self == 0x0A }
}
