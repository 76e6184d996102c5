internal import Foundation
internal import MediaToken

/// What is read is what Foundation reads; and what Foundation reads is refused only for a reason that it does not know.
struct JSONProperty: FuzzProperty {
    func check(_ input: [UInt8]) throws {
        // Foundation's decoder stops the process where nesting is deep.
        guard input.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }) < 400 else { return }
        let judged = try? JSONDecoder().decode(JudgedJSON.self, from: Data(input)).value
        do {
            let object = try StrictJSON.readObject(input[...])
            guard let judged else {
                return try demand(Self.isJudgedOtherwise(input), "read, and Foundation does not read it")
            }
            try demand(judged == .object(object.members), "read as \(object.members); by Foundation as \(judged)")
        } catch let problem as StrictJSON.Problem {
            guard case .malformed = problem else { return }
            try demand(
                !(judged?.isObject ?? false) || Self.isJudgedOtherwise(input),
                "refused, and read by Foundation: \(problem.reason)")
        }
    }

    /// NUL and halves of surrogate pairs, and numbers that are long, or have a long exponent.
    private static func isJudgedOtherwise(_ input: [UInt8]) -> Bool {
        let text = String(decoding: input, as: UTF8.self).lowercased()
        return text.contains("\\u0000") || text.contains("\\ud") || text.contains(/[0-9.]{20}|[0-9]e[+-]?[0-9]{3}/)
    }
}

/// Any JSON, as Foundation decodes it.
private struct JudgedJSON: Decodable {
    let value: JSONValue

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
}

extension JSONValue {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }
}
