internal import Basics

/// A CBOR value (RFC 8949), limited to the kinds that tokens use.
enum CBORValue: Equatable, Sendable {
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORPair])
    case boolean(Bool)
    case number(Double)
    case null

    /// The value as an integer; `nil` if it is not an integer or does not fit into Int64.
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

    /// The pairs of a map; `nil` if the value is not a map or has a key that is not an integer.
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

extension CBORValue {
    /// The value for people, as in the diagnostic notation (RFC 8949, 8). A text has no quotation marks.
    var shown: String {
        switch self {
        case .unsigned(let number): "\(number)"
        case .negative(let number): "-1 - \(number)"
        case .bytes(let bytes): "h'\(bytes.hexadecimal)'"
        case .text(let text): text
        case .array(let items): "[\(items.map(\.shown).joined(separator: ", "))]"
        case .map(let pairs): "{\(pairs.map { "\($0.key.shown): \($0.value.shown)" }.joined(separator: ", "))}"
        case .boolean(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .null: "null"
        }
    }
}
