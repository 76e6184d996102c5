/// Reads the values of header fields in which clients send credentials.
package enum HeaderValues {
    /// The credentials of a bearer `Authorization` header; `nil` for another scheme. The scheme is not case-sensitive
    /// (RFC 9110, 11.1).
    package static func bearer(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = value.prefix { !$0.isBlank }
        guard scheme.count == 6, scheme.lazy.map(\.asciiLowercased).elementsEqual("bearer".utf8) else { return nil }
        return value.dropFirst(scheme.count).drop(while: \.isBlank)
    }

    /// The names and values of a `Cookie` header. Quotes around a value are syntax, not part of it (RFC 6265, 4.1.1).
    package static func cookies(
        _ header: ArraySlice<UInt8>
    ) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        let quote = UInt8(ascii: "\"")
        return header.split(separator: UInt8(ascii: ";")).compactMap { pair in
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = pair[mark...].dropFirst().trimmingBlanks()
            let isQuoted = value.count > 1 && value.first == quote && value.last == quote
            return (pair[..<mark].trimmingBlanks(), isQuoted ? value.dropFirst().dropLast() : value)
        }
    }
}
