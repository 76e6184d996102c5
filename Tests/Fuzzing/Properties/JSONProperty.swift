internal import Foundation
internal import MediaToken

/// What is read is what Foundation reads; and what Foundation writes of it is read as the same.
///
/// Not all that Foundation reads: it lets pass a comma at the end of a list, and control characters in a text.
struct JSONProperty: FuzzProperty {
    func check(_ input: [UInt8]) throws {
        guard let object = try? StrictJSON.readObject(input[...]) else { return }
        let value = JSONValue.object(object.members)
        let judged = try? JSONDecoder().decode(JudgedJSON.self, from: Data(input)).value
        try demand(
            judged == value || judged == nil && Self.holdsExponent(input),
            "read as \(value); by Foundation as \(judged as Any)")
        let written = try JSONEncoder().encode(JudgedJSON(value: value))
        let again = try StrictJSON.readObject(Array(written)[...])
        try demand(again.members == object.members, "read as \(value); once more as \(again.members)")
    }

    /// To Foundation `0e2` is none, nor what is too near to zero.
    private static func holdsExponent(_ input: [UInt8]) -> Bool {
        String(decoding: input, as: UTF8.self).contains(/[0-9][eE]/)
    }
}

/// Any JSON, as Foundation reads and writes it.
private struct JudgedJSON: Codable {
    let value: JSONValue

    init(value: JSONValue) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let flag = try? container.decode(Bool.self) {
            value = .boolean(flag)
        } else if let number = try? container.decode(Double.self) {
            value = .number(number)
        } else if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let list = try? container.decode([JudgedJSON].self) {
            value = .list(list.map(\.value))
        } else {
            value = .object(try container.decode([String: JudgedJSON].self).mapValues(\.value))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list.map(JudgedJSON.init))
        case .object(let members): try container.encode(members.mapValues(JudgedJSON.init))
        }
    }
}
