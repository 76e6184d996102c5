/// The pairs of a query or a form as they were sent (WHATWG URL, `application/x-www-form-urlencoded`): names and values
/// stay encoded, and empty pairs are left out.
package struct FormPairs: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    /// - Parameter text: The query or the form without anything around it.
    package init(_ text: ArraySlice<UInt8>) { rest = text }

    package mutating func next() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        while !rest.isEmpty {
            let end = rest.position(of: UInt8(ascii: "&")) ?? rest.endIndex
            let pair = rest[..<end]
            rest = rest[end...].dropFirst()
            guard !pair.isEmpty else { continue }
            let mark = pair.position(of: UInt8(ascii: "=")) ?? pair.endIndex
            return (pair[..<mark], pair[mark...].dropFirst())
        }
        return nil
    }
}

extension String {
    /// Decodes part of a request target or a form; `nil` if an escape is invalid or the result is not UTF-8.
    package init?(percentEncoded text: ArraySlice<UInt8>, plus: UInt8 = UInt8(ascii: "+")) {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        guard let bytes = isPlain ? text : try? PercentEncoding.decode(text, plus: plus) else { return nil }
        self.init(utf8: bytes)
    }
}
