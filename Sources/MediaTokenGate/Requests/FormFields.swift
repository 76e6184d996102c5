internal import TextEncodings

/// The pairs of a query or a form, still encoded (WHATWG URL, `application/x-www-form-urlencoded`).
struct FormFields {
    private static let pairLimit = 256

    /// Whether there are more pairs than are read.
    let isTooLong: Bool
    /// Whether all pairs were read, and their names can be decoded.
    let isWhole: Bool
    private let fields: [(name: String, value: ArraySlice<UInt8>)]
    /// What a `+` stands for there.
    private static let space = UInt8(ascii: " ")

    /// By bytes: to `String`, a separator and the accent behind it are one character.
    init(_ text: String) {
        // An array is gone through several times as fast as a text.
        let pairs = Array(text.utf8).split(separator: UInt8(ascii: "&"), maxSplits: Self.pairLimit)
        isTooLong = pairs.count > Self.pairLimit
        fields = pairs.compactMap { pair in
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = String(percentEncoded: pair[..<mark], plus: Self.space) else { return nil }
            return (name, pair[mark...].dropFirst())
        }
        isWhole = !isTooLong && fields.count == pairs.count
    }

    /// As they were sent: how a token is wrapped is the library's affair.
    func encoded(_ name: String) -> [String] {
        values(name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Decoded; one that cannot be is `nil`.
    func decoded(_ name: String) -> [String?] {
        values(name).map { String(percentEncoded: $0, plus: Self.space) }
    }

    private func values(_ name: String) -> [ArraySlice<UInt8>] {
        fields.compactMap { $0.name.hasSameBytes(as: name) ? $0.value : nil }
    }
}

extension String {
    /// Decodes a part of a target or a form; `nil` where an escape is cut short, or the result is not UTF-8.
    init?(percentEncoded text: ArraySlice<UInt8>, plus: UInt8 = UInt8(ascii: "+")) {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        guard let bytes = isPlain ? text : try? PercentEncoding.decode(text, plus: plus) else { return nil }
        self.init(validating: bytes, as: UTF8.self)
    }
}
