/// A value of CBOR (RFC 8949), as far as tokens use it.
enum CBORValue: Equatable, Sendable {
    case unsigned(UInt64)
    /// -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORPair])
    case boolean(Bool)
    case number(Double)
    case null

    /// `nil` for what is no integer, or beyond Int64.
    var integer: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { -1 - $0 }
        default: nil
        }
    }

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    var array: [CBORValue]? { if case .array(let items) = self { items } else { nil } }

    /// A map whose keys are all integers.
    var labels: [(label: Int64, value: CBORValue)]? {
        guard case .map(let pairs) = self else { return nil }
        let labels = pairs.compactMap { pair in pair.key.integer.map { (label: $0, value: pair.value) } }
        return labels.count == pairs.count ? labels : nil
    }
}

struct CBORPair: Equatable, Sendable {
    let key: CBORValue
    let value: CBORValue
}
