internal import MediaToken

/// A path that means the same to everybody: to the proxy that serves it, to us, and to a cache in between.
///
/// A path that two programs could read in two ways (`/open/../live`, `/open/%2e%2e/live`, `/open%2flive`, `//live`, and what
/// a second decoding would make such a path) is none. Whoever may see `/open` would else be let into `/live`.
struct GatePath: Equatable, Sendable {
    /// Percent-decoded once.
    let segments: [String]
    /// As the most lenient of servers takes them: without parameters (`;…`, as Java's servers have them), without what
    /// looks like a query or a fragment once it is decoded, without the dots and spaces at the end that some file systems
    /// drop, and in lower case.
    let lenientSegments: [String]

    /// Reads the path of a target; a query behind it does not count. `nil` where it could be read in two ways.
    init?(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        // A fragment is never sent (RFC 9112, 3.2). Some cut it off, others do not.
        guard path.first == UInt8(ascii: "/"), !path.contains(UInt8(ascii: "#")) else { return nil }
        var parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // A slash at the end names what lies below.
        if parts.last?.isEmpty ?? true { parts.removeLast() }
        var (segments, lenientSegments): ([String], [String]) = ([], [])
        for part in parts {
            guard let segment = String(percentEncoded: part), let lenient = Self.lenient(segment) else { return nil }
            segments.append(segment)
            lenientSegments.append(lenient)
        }
        (self.segments, self.lenientSegments) = (segments, lenientSegments)
    }

    /// `nil` for one that some server takes for several, for a step up, or for nothing.
    private static func lenient(_ segment: String) -> String? {
        let isPlain = segment.utf8.allSatisfy {
            $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        // The replacement character stands for bytes that were no UTF-8, and might be a slash to somebody.
        guard isPlain, !holdsEscape(segment.utf8), !segment.unicodeScalars.contains("\u{FFFD}") else { return nil }
        var name = segment.utf8.prefix { !";?#".utf8.contains($0) }
        while let last = name.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { name.removeLast() }
        return name.isEmpty ? nil : Substring(name).lowercased()
    }

    /// Whether a second decoding would find something.
    private static func holdsEscape(_ text: String.UTF8View) -> Bool {
        let isHexadecimal = { (byte: UInt8) in Character(Unicode.Scalar(byte)).isHexDigit }
        return text.indices.contains { index in
            guard text[index] == UInt8(ascii: "%") else { return false }
            let digits = text[index...].dropFirst().prefix(2)
            return digits.count == 2 && digits.allSatisfy(isHexadecimal)
        }
    }

    /// Whether this is `prefix`, or lies below it. Segments are compared byte by byte.
    func isWithin(_ prefix: GatePath) -> Bool {
        segments.count >= prefix.segments.count
            && zip(prefix.segments, segments).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    /// The same as the most lenient of servers sees it. To `String`, canonically equivalent names are the same, as they are
    /// to some file systems.
    func isLenientlyWithin(_ prefix: GatePath) -> Bool { lenientSegments.starts(with: prefix.lenientSegments) }
}

/// The pairs of a query or a form, still encoded (WHATWG URL, `application/x-www-form-urlencoded`).
struct FormFields {
    private let fields: [(name: String, value: Substring)]
    /// What a `+` stands for there.
    private static let space = UInt8(ascii: " ")

    init(_ text: String) {
        fields = text.split(separator: "&").compactMap { pair in
            let mark = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = String(percentEncoded: pair[..<mark].utf8, plus: Self.space) else { return nil }
            return (name, mark == pair.endIndex ? "" : pair[pair.utf8.index(after: mark)...])
        }
    }

    /// As they were sent: how a token is wrapped is the library's affair.
    func encoded(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map { String($0.value) }
    }

    /// Decoded; one that cannot be is `nil`.
    func decoded(_ name: String) -> [String?] {
        fields.filter { $0.name == name }.map { String(percentEncoded: $0.value.utf8, plus: Self.space) }
    }
}

extension String {
    /// Decodes a part of a target or a form; `nil` where an escape is cut short, or the result is not UTF-8.
    init?(percentEncoded text: some Sequence<UInt8>, plus: UInt8 = UInt8(ascii: "+")) {
        guard let bytes = try? PercentEncoding.decode(Array(text)[...], plus: plus) else { return nil }
        self.init(validating: bytes, as: UTF8.self)
    }
}
