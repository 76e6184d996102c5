internal import Basics

/// The first 64 fields of a query, or of a `Cookie` header, whose cookies have `; ` between them; a query contains no
/// space. A field that is given twice counts as absent.
struct QueryFields {
    private static let limit = 64

    private let text: String
    private let names: [String]
    private var values: [String: String?] = [:]
    private let isCut: Bool
    /// Whether the fields are cookies.
    let areCookies: Bool

    init(_ text: String) {
        self.text = text
        areCookies = zip(text.utf8, text.utf8.dropFirst()).contains {
            $0 == UInt8(ascii: ";") && $1 == UInt8(ascii: " ")
        }
        let separator = UInt8(ascii: areCookies ? ";" : "&")
        let pairs = text.utf8.split(separator: separator).map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
        isCut = pairs.count > Self.limit
        names = pairs.prefix(Self.limit).map { pair in String(Substring(pair.prefix { $0 != UInt8(ascii: "=") })) }
        for (name, pair) in zip(names, pairs) where name.utf8.allSatisfy({ $0 < 0x80 }) {
            let value = String(Substring(pair.dropFirst(name.utf8.count + 1)))
            values[name] = .some(values[name] == nil ? value : nil)
        }
    }

    subscript(name: String) -> String? { values[name] ?? nil }

    /// Whether the field is given, once or more often.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of a field.
    ///
    /// - Throws: ``GrantError`` for the field `format` if the field is missing or given twice.
    func required(_ name: String) throws(GrantError) -> String {
        if let value = self[name] { return value }
        throw GrantError("format", has(name) ? "has \(name) twice" : "has no \(name)")
    }

    /// Why a CDN may read other fields with these names; `nil` if every program reads the same.
    ///
    /// - Parameter url: The requested URL without the grant, which may have such fields too.
    func doubt(about expected: [String], in url: String?) -> String? {
        // Unreached: More fields than are read, in a check of the command line; its tests have them.
        if isCut { return "has more than \(Self.limit) fields, and only the first \(Self.limit) were read" }
        let (readings, own) = (Self.readings(of: text), Self.readings(of: url ?? ""))
        for name in expected {
            // Unreached: A URL of the command line with a field of the grant; the tests of checks have it.
            if own.contains(where: name.isSame) {
                return "the URL to check has a field '\(name)', as the grant may have"
            }
            // Unreached: A field under a second spelling, in a check of the command line; its tests have it.
            if readings.count(where: name.isSame) != names.count(where: name.hasSameBytes) {
                return "has '\(name)' in more than one spelling or place, and which one the CDN reads is not known"
            }
        }
        return nil
    }

    /// All names of fields that some program may read in a text: it may split at other separators, and decode escapes.
    static func readings(of text: String) -> [String] {
        let separators = "&;,:/?# \t\r\n"
        return text.utf8.split { separators.utf8.contains($0) }.map { part in
            let name = String(Substring(part.prefix { $0 != UInt8(ascii: "=") }))
            // Unreached: A field under a second spelling, in a check of the command line; its tests have it.
            return String(Substring((name.unescaped() ?? name).utf8[...].trimmingBlanks()))
        }
    }
}
