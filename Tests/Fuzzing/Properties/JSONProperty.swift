internal import Basics
internal import Foundation

/// What is read is what Foundation reads; and what Foundation writes of it is read as the same. Each member has a
/// place.
///
/// Not all that Foundation reads: it lets pass a comma at the end of a list, and control characters in a text.
struct JSONProperty: FuzzProperty {
    func check(_ input: [UInt8]) throws {
        let object: JSONObject
        do { object = try StrictJSON.readObject(input[...]) } catch {
            try demandOneLine(error.reason)
            return try demandOneLine(error.reason(in: input))
        }
        // Each member has its place, and what is not there the place of the member that it would be in.
        let paths = object.members.keys.flatMap { [$0.step, $0.step + ".none[0]"] }
        let positions = StrictJSON.positions(of: paths, in: input)
        try demand(!positions.contains(nil), "a member has no place: \(paths), \(positions)")
        // No name is shown with a zero byte.
        try demand(StrictJSON.positions(of: ["\0"], in: input) == [nil], "what is not there has a place")
        let value = JSONValue.object(object.members)
        let shown: JSONValue = ["depth": 1, "value": value]
        let read = try? StrictJSON.readObject(Array(shown.document.utf8)[...], valueLimit: 1000)
        try demand(
            read.map { Self.isSame(.object($0.members), shown) } ?? Self.isDeep(value), "shown as \(shown.document)")
        // To Foundation names that are canonically equivalent are one.
        guard !Self.holdsEquivalentNames(value) else { return }
        let judged = try? JSONDecoder().decode(JudgedJSON.self, from: Data(input)).value
        try demand(
            judged.map { Self.isSame($0, value) } ?? Self.holdsExponent(input),
            "read as \(value); by Foundation as \(judged as Any)")
        let written = try JSONEncoder().encode(JudgedJSON(value: value))
        let again = JSONValue.object(try StrictJSON.readObject(Array(written)[...]).members)
        try demand(Self.isSame(again, value), "read as \(value); once more as \(again)")
    }

    /// Whether a value is nested so deep that no object around it is read.
    private static func isDeep(_ value: JSONValue, by levels: Int = StrictJSON.depthLimit - 1) -> Bool {
        switch value {
        case .list(let items): levels == 0 || items.contains { isDeep($0, by: levels - 1) }
        case .object(let members): levels == 0 || members.values.contains { isDeep($0, by: levels - 1) }
        default: false
        }
    }

    /// To Foundation `0e2` is no number, nor what is too near to zero.
    private static func holdsExponent(_ input: [UInt8]) -> Bool {
        let quote = UInt8(ascii: "\""), escape = UInt8(ascii: "\\")
        var (isText, isEscaped, last) = (false, false, UInt8(0))
        for byte in input {
            if byte == quote, !isEscaped { isText.toggle() }
            isEscaped = byte == escape && !isEscaped
            if !isText, byte | 0x20 == UInt8(ascii: "e"), (0x30...0x39).contains(last) { return true }
            last = byte
        }
        return false
    }

    private static func holdsEquivalentNames(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let members):
            Set(members.keys.map(\.text)).count < members.count || members.values.contains(where: holdsEquivalentNames)
        case .list(let list): list.contains(where: holdsEquivalentNames)
        default: false
        }
    }

    /// Texts by their bytes.
    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.list(let left), .list(let right)): left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { name, value in right[name].map { isSame(value, $0) } ?? false }
        default: left == right
        }
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
            value = .object(
                Dictionary(
                    uniqueKeysWithValues: try container.decode([String: JudgedJSON].self).map {
                        (JSONName($0), $1.value)
                    }))
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
        case .object(let members):
            try container.encode(Dictionary(uniqueKeysWithValues: members.map { ($0.text, JudgedJSON(value: $1)) }))
        }
    }
}
