internal import Foundation

/// Why a target must be denied whatever its route demands, found without the gate's code.
///
/// Each reason is a branch of its own, so that `Tests/Fuzzing/coverage` wants a seed for it.
struct PathFaults {
    private(set) var all: [String] = []

    init(in target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        if target.utf8.contains(where: { !(0x21...0x7E).contains($0) || $0 == UInt8(ascii: "#") }) {
            all.append("bytes that no target has")
        }
        if path.first != UInt8(ascii: "/") { all.append("no slash at its start") }
        var names = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if names.last?.isEmpty == true { names.removeLast() }
        if names.count > 256 { all.append("more names than are read") }
        for name in names { check(Array(name)) }
    }

    private mutating func check(_ encoded: [UInt8]) {
        guard let bytes = Self.decoded(encoded) else { return all.append("a broken escape") }
        guard let name = String(validating: bytes, as: UTF8.self) else { return all.append("no UTF-8") }
        if bytes.count > 255 { all.append("a name that file systems cut off (NAME_MAX)") }
        if name.utf8.contains(where: "/\\".utf8.contains) { all.append("an escaped slash") }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { all.append("a control character") }
        if name.range(of: "%([0-9A-Fa-fUu]|[^ -~])", options: .regularExpression) != nil {
            all.append("an escape within an escape")
        }
        if name.allSatisfy({ $0 == "." }), name.count < 3 { all.append("a step, or an empty name") }
        let kept = name.unicodeScalars.prefix { !";?#:".unicodeScalars.contains($0) }
        if kept.allSatisfy({ " +.".unicodeScalars.contains($0) }), kept.count < name.unicodeScalars.count {
            all.append("nothing before its parameters")
        } else if name.count > 2, kept.allSatisfy({ " +.".unicodeScalars.contains($0) }) {
            all.append("nothing but what file systems drop at a name's end")
        }
        if Self.hidesCharacter(name) { all.append("a character that nobody sees") }
        if Self.folded(name).unicodeScalars.allSatisfy({ " +.".unicodeScalars.contains($0) }), name.count > 2 {
            all.append("nothing but spaces and dots once it is folded")
        }
        if name.unicodeScalars.first?.properties.isGraphemeExtend == true { all.append("a mark on nothing") }
        if Self.signs(in: Self.folded(name)) > Self.signs(in: name) { all.append("a character that folds to a sign") }
    }

    /// Whether the name has a character that nobody sees, other than those that make one emoji of several.
    private static func hidesCharacter(_ name: String) -> Bool {
        var followsEmoji = false
        for scalar in name.unicodeScalars {
            guard scalar.properties.isDefaultIgnorableCodePoint else {
                followsEmoji = scalar.properties.isEmoji && scalar != "#" && scalar != "*"
                continue
            }
            let joins = [0x200D, 0xFE0E, 0xFE0F, 0xE007F].contains(scalar.value) || 0xE0061...0xE007A ~= scalar.value
            guard joins, followsEmoji else { return true }
        }
        return false
    }

    /// `nil` for an escape that is cut short, or is none.
    private static func decoded(_ encoded: [UInt8]) -> [UInt8]? {
        var (bytes, rest) = ([UInt8](), encoded[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func folded(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
        return name.precomposedStringWithCompatibilityMapping.folding(
            options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    private static func signs(in name: String) -> Int {
        name.unicodeScalars.count { "./\\%;?#:*".unicodeScalars.contains($0) }
    }
}
