/// The first 64 fields of a query or of a `Cookie` header. A field that is given twice counts as absent.
struct QueryFields {
    private var values: [String: String?] = [:]

    init(_ query: String) {
        let separators = "&; "
        for pair in query.utf8.split(whereSeparator: { separators.utf8.contains($0) }).prefix(64) {
            let name = String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }))
            guard name.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
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
}
