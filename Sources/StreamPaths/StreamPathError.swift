/// Why a text is not the path of a stream. The description names the byte or character, and not the path, which may
/// hold a token.
package enum StreamPathError: Error, Equatable, CustomStringConvertible {
    case empty
    case relative
    /// A byte that no target has, and its position, counted from 1.
    case byte(UInt8, position: Int)
    /// The number of its bytes, which is too high.
    case long(Int)
    case manyNames
    /// A `*`, which a CDN takes for a wildcard, in the URL of a stream.
    case wildcard
    /// A query, where a configuration has a path.
    case query
    /// What is wrong with a name, and its position, counted from 1.
    case name(PathNameError, position: Int)

    package var description: String {
        switch self {
        case .empty: "the path is empty; expected one that begins with a slash"
        case .relative: "the path does not begin with a slash"
        case .byte(let byte, let position):
            "byte \(position) of the path and its query is 0x\(byte.hexadecimal); expected visible ASCII without #"
        case .long(let count): "the path has \(count) bytes; expected at most \(StreamPath.byteLimit)"
        case .manyNames: "the path has more than \(StreamPath.nameLimit) names"
        case .wildcard: "a CDN could take the * for a wildcard"
        case .query: "the path has a query; expected none"
        case .name(let error, let position): "name \(position) of the path \(error)"
        }
    }
}

/// Why a name of a path could be read in two ways. The description is a predicate.
package enum PathNameError: Error, Equatable, CustomStringConvertible {
    case empty
    case long
    case escapeCutOff
    /// A control character, a slash or a backslash, which was percent-encoded.
    case sign(Unicode.Scalar)
    case escapedTwice
    case stepsUp
    case notUTF8
    case folds(Unicode.Scalar)
    case vanishes(Unicode.Scalar)
    case unknown(Unicode.Scalar)

    package var description: String {
        switch self {
        case .empty: "is empty; expected one slash between two names"
        case .long: "has more than \(PathName.byteLimit) bytes"
        case .escapeCutOff: "has a % that two hexadecimal digits do not follow"
        case .sign(let scalar):
            "has \(Self.shown(scalar)), which \("/\\".unicodeScalars.contains(scalar) ? "separates names" : "no name has")"
        case .escapedTwice: "has an escape again once it is decoded, as %252e has"
        case .stepsUp: "is a step up, or nothing, for some servers, as '..', '.;x' and a space are"
        case .notUTF8: "is not UTF-8 once it is decoded"
        case .folds(let scalar): "has \(Self.shown(scalar)), which some servers turn into one of . / \\ % ; ? # : *"
        case .vanishes(let scalar): "has \(Self.shown(scalar)), which some servers drop, with no letter before it"
        case .unknown(let scalar): "has \(Self.shown(scalar)), which some servers drop, or read as another character"
        }
    }

    /// The character's code point and name, such as `U+2025 (TWO DOT LEADER)`, since a header field cannot have the
    /// character.
    private static func shown(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return scalar.properties.name.map { "\(code) (\($0))" } ?? code
    }
}

extension UInt8 {
    fileprivate var hexadecimal: String {
        let digits = String(self, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }
}
