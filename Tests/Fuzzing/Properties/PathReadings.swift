internal import Foundation

/// What servers of different habits make of one target: each habit may be there or not.
struct PathReadings {
    private(set) var all: Set<[String]> = []

    init(of target: String) {
        let path = String(target.unicodeScalars.prefix { $0 != "?" })
        let letters = path.lowercased()
        // Rare signs alone make the last habits worth trying.
        let hasPlus = letters.contains("+") || letters.contains("2b")
        let hasU = letters.contains("%") && (letters.contains("u") || letters.contains("75") || letters.contains("55"))
        let habits = (0..<512).filter { (hasPlus || $0 & 128 == 0) && (hasU || $0 & 256 == 0) }
        for decodings in 1...3 {
            for habits in habits { all.insert(Self.read(path, decodings, habits)) }
        }
    }

    private static func read(_ path: String, _ decodings: Int, _ habits: Int) -> [String] {
        func has(_ habit: Int) -> Bool { habits >> habit & 1 == 1 }
        var path = path
        for _ in 0..<decodings { path = decoded(path, knowsU: has(8)) }
        if has(7) { path = path.replacing("+", with: " ") }
        if has(5) { path = String(path.unicodeScalars.prefix { $0 != "#" && $0 != "?" }) }
        if has(0) { path = path.replacing("\\", with: "/") }
        if has(1) { path = path.lowercased() }
        // As stores of objects, and some file systems, fold letters, and drop those that nobody sees.
        if has(6) { path = Self.folded(path) }
        // Ends at a NUL, as C has it.
        if has(2) { path = String(path.prefix { $0 != "\0" }) }
        var segments: [String] = []
        for part in path.unicodeScalars.split(separator: "/") {
            var segment = String(part)
            if has(3) { segment = String(segment.unicodeScalars.prefix { $0 != ";" }) }
            if segment == ".." {
                _ = segments.popLast()
            } else if !segment.isEmpty, segment != "." {
                if has(4) { while segment.hasSuffix(".") || segment.hasSuffix(" ") { segment.removeLast() } }
                segments.append(segment)
            }
        }
        return segments
    }

    private static func folded(_ text: String) -> String {
        let visible = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        return String(String.UnicodeScalarView(visible)).precomposedStringWithCompatibilityMapping
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .trimmingCharacters(in: .whitespaces).replacing("/ ", with: "/")
    }

    /// Decodes what can be, and leaves the rest.
    private static func decoded(_ text: String, knowsU: Bool) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if knowsU, byte == UInt8(ascii: "%"), rest.count >= 5,
                String(decoding: rest.prefix(1), as: UTF8.self).lowercased() == "u",
                let value = UInt16(String(decoding: rest.dropFirst().prefix(4), as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(value)
            {
                bytes += Array(String(scalar).utf8)
                rest = rest.dropFirst(5)
            } else if byte == UInt8(ascii: "%"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.count >= 2
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
