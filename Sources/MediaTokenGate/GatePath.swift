/// A path that means the same to everybody: to the proxy that serves it, to us, and to a cache in between.
///
/// A path that two programs could read in two ways (`/open/../live`, `/open/%2e%2e/live`, `/open%2flive`, `//live`) is none.
/// Whoever may see `/open` would else be let into `/live`.
struct GatePath: Equatable, Sendable {
    /// Percent-decoded once.
    let segments: [String]

    /// Reads the path of a target; a query behind it does not count. `nil` where it could be read in two ways.
    init?(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        var parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // A slash at the end names what lies below.
        if parts.last?.isEmpty ?? true { parts.removeLast() }
        var segments: [String] = []
        for part in parts {
            guard let bytes = PercentDecoding.decode(part, plusIsSpace: false),
                let segment = String(validating: bytes, as: UTF8.self), Self.isPlain(segment)
            else { return nil }
            segments.append(segment)
        }
        self.segments = segments
    }

    private static func isPlain(_ segment: String) -> Bool {
        guard !segment.isEmpty, segment != ".", segment != ".." else { return false }
        return segment.utf8.allSatisfy {
            $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
    }

    /// Whether this is `prefix`, or lies below it. Segments are compared byte by byte.
    func isWithin(_ prefix: GatePath) -> Bool {
        segments.count >= prefix.segments.count
            && zip(prefix.segments, segments).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}

/// Percent-decoding (RFC 3986, 2.1) of one part of a target or a form.
enum PercentDecoding {
    /// `nil` where an escape is cut short or is none.
    static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    /// The same as text; `nil` too where it is not UTF-8.
    static func text(_ text: some Sequence<UInt8>, plusIsSpace: Bool) -> String? {
        decode(text, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// The pairs of a query or a form, still encoded (WHATWG URL, `application/x-www-form-urlencoded`).
struct FormFields {
    private let fields: [(name: String, value: Substring)]

    init(_ text: String) {
        fields = text.split(separator: "&").compactMap { pair in
            let mark = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentDecoding.text(pair[..<mark].utf8, plusIsSpace: true) else { return nil }
            return (name, mark == pair.endIndex ? "" : pair[pair.utf8.index(after: mark)...])
        }
    }

    /// As they were sent: how a token is wrapped is the library's affair.
    func encoded(_ name: String) -> [String] {
        fields.filter { $0.name == name }.map { String($0.value) }
    }

    /// Decoded; one that cannot be is `nil`.
    func decoded(_ name: String) -> [String?] {
        fields.filter { $0.name == name }.map { PercentDecoding.text($0.value.utf8, plusIsSpace: true) }
    }
}
