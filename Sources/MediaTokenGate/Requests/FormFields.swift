internal import TextEncodings

/// The name-value pairs of a query or a form; values stay encoded (WHATWG URL, `application/x-www-form-urlencoded`).
struct FormFields {
    private static let pairLimit = 256

    /// Whether there are more pairs than are read.
    let isTooLong: Bool
    /// Whether all pairs were read and all their names can be decoded.
    let isWhole: Bool
    private let fields: [(name: String, value: ArraySlice<UInt8>)]
    /// The byte that a `+` in a form represents.
    private static let space = UInt8(ascii: " ")

    /// Splits `text`, which must be the query or the form without anything around it.
    init(_ text: ArraySlice<UInt8>) {
        let pairs = text.split(separator: UInt8(ascii: "&"), maxSplits: Self.pairLimit)
        isTooLong = pairs.count > Self.pairLimit
        fields = pairs.compactMap { pair in
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = String(percentEncoded: pair[..<mark], plus: Self.space) else { return nil }
            return (name, pair[mark...].dropFirst())
        }
        isWhole = !isTooLong && fields.count == pairs.count
    }

    /// The values of `name` as they were sent; the library decodes wrapped tokens.
    func encoded(_ name: String) -> [ArraySlice<UInt8>] { values(name) }

    /// The decoded values of `name`. A value is `nil` if it cannot be decoded.
    func decoded(_ name: String) -> [String?] {
        values(name).map { String(percentEncoded: $0, plus: Self.space) }
    }

    private func values(_ name: String) -> [ArraySlice<UInt8>] {
        fields.compactMap { $0.name.hasSameBytes(as: name) ? $0.value : nil }
    }
}

extension String {
    /// Decodes part of a request target or a form; `nil` if an escape is invalid or the result is not UTF-8.
    init?(percentEncoded text: ArraySlice<UInt8>, plus: UInt8 = UInt8(ascii: "+")) {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        guard let bytes = isPlain ? text : try? PercentEncoding.decode(text, plus: plus) else { return nil }
        self.init(validating: bytes, as: UTF8.self)
    }
}
