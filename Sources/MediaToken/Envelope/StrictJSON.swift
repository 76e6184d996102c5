internal import FoundationEssentials

/// Foundation's JSON decoder, with what it lets pass and what could be read two ways taken back: a key given twice (it
/// would keep the first, others the last), a byte order mark, any encoding but UTF-8; and nesting without a bound.
package enum StrictJSON {
    /// Opening brackets at the most, those in strings included; the decoder then never comes near its own limit of depth
    /// (512), where it can stop the process. An answer of Adobe's has three for each decision.
    package static let bracketLimit = 500

    package enum Problem: Error, Equatable, Sendable {
        case notUTF8
        case tooManyBrackets
        case duplicateKey(String)
        /// Where, as a path of keys, and what was wrong there.
        case unexpected(String)

        /// What is wrong, in a few words.
        package var reason: String {
            switch self {
            case .notUTF8: "it is not UTF-8"
            case .tooManyBrackets: "it has more than \(bracketLimit) brackets"
            case .duplicateKey(let key): "'\(printable(key))' is given twice"
            case .unexpected(let what): printable(what)
            }
        }
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from text: ArraySlice<UInt8>) throws(Problem)
        -> Value
    {
        guard !text.contains(0), String(validating: text, as: UTF8.self) != nil else { throw .notUTF8 }
        let brackets = text.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
        guard brackets <= bracketLimit else { throw .tooManyBrackets }
        let census = KeyCensus()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in census.count(path) }
        do {
            let value = try decoder.decode(type, from: Data(text))
            if let duplicate = census.duplicate { throw Problem.duplicateKey(duplicate) }
            return value
        } catch {
            throw Problem(error)
        }
    }
}

/// Counts the keys of each object as the decoder sees them, before it drops duplicates.
///
/// The decoder calls on the thread that decodes, and nobody else has this object: hence `@unchecked`.
private final class KeyCensus: @unchecked Sendable {
    private var seen: Set<String> = []
    private(set) var duplicate: String?

    func count(_ path: [any CodingKey]) -> any CodingKey {
        let place = StrictJSON.place(path)
        if !seen.insert(place).inserted { duplicate = duplicate ?? place }
        return path[path.count - 1]
    }
}

extension StrictJSON {
    fileprivate static func place(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined(separator: ".")
    }
}

extension StrictJSON.Problem {
    fileprivate init(_ error: any Error) {
        switch error {
        case let problem as Self:
            self = problem
        case DecodingError.keyNotFound(let key, let context):
            self = .unexpected("'\(StrictJSON.place(context.codingPath + [key]))' is missing")
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            self = .unexpected("'\(StrictJSON.place(context.codingPath))' has another type than expected")
        default:
            self = .unexpected("it is malformed or cut short")
        }
    }
}
