internal import Basics

/// Walks through JSON of any size, and reports each string, number, boolean and null with its path. It is tolerant: a
/// name may occur twice, and what is cut in the middle is reported up to there.
struct JSONWalker {
    /// The parts of a value's path: `log`, `entries`, `[11]`.
    enum Step: Hashable {
        case name(JSONName)
        case index(Int)
    }

    private let reader: CaptureReader
    private let limit: Int
    private let report: (_ path: [Step], _ value: [UInt8], _ line: Int) -> Void
    private var path: [Step] = []

    private static let depthLimit = 64
    private static let nameLimit = 200
    private static let wordLimit = 40

    /// - Parameters:
    ///   - limit: the number of bytes of a string that are reported at once. A longer one is reported in pieces, each
    ///     of which begins with the last quarter of the piece before it.
    ///   - report: takes a value's path, its text without escapes, and the line on which it begins.
    init(_ reader: CaptureReader, limit: Int, _ report: @escaping ([Step], [UInt8], Int) -> Void) {
        (self.reader, self.limit, self.report) = (reader, limit, report)
    }

    /// Walks through one object or array.
    ///
    /// - Returns: Whether it was JSON to its end. If not, the reader stands where it stopped being that.
    mutating func walk() -> Bool {
        path = []
        return walkValue()
    }

    private mutating func walkValue() -> Bool {
        skipWhiteSpace()
        switch reader.peek {
        case UInt8(ascii: "{"): return walkItems(end: UInt8(ascii: "}")) { walker in walker.takeName() }
        case UInt8(ascii: "["):
            var index = -1
            return walkItems(end: UInt8(ascii: "]")) { _ in
                index += 1
                return .index(index)
            }
        case UInt8(ascii: "\""): return takeString()
        default: return takeWord()
        }
    }

    private mutating func walkItems(end: UInt8, _ step: (inout Self) -> Step?) -> Bool {
        guard path.count < Self.depthLimit else { return false }
        reader.skip()
        skipWhiteSpace()
        if take(end) { return true }
        repeat {
            skipWhiteSpace()
            guard let step = step(&self) else { return false }
            path.append(step)
            guard walkValue() else { return false }
            path.removeLast()
            skipWhiteSpace()
        } while take(UInt8(ascii: ","))
        return take(end)
    }

    private mutating func takeName() -> Step? {
        guard reader.peek == UInt8(ascii: "\"") else { return nil }
        var name: [UInt8] = []
        guard readString({ piece in if name.count < Self.nameLimit { name += piece } }) else { return nil }
        skipWhiteSpace()
        guard take(UInt8(ascii: ":")) else { return nil }
        return .name(JSONName(String(decoding: name.prefix(Self.nameLimit), as: UTF8.self)))
    }

    private mutating func takeString() -> Bool {
        let line = reader.line
        var text: [UInt8] = []
        let isWhole = readString { piece in
            text += piece
            guard text.count > limit else { return }
            report(path, text, line)
            // The rest begins where a group of four digits of Base64 may begin.
            text.removeFirst((text.count - limit / 4) & ~3)
        }
        report(path, text, line)
        return isWhole
    }

    /// Reads a string, and hands it on in pieces without escapes.
    ///
    /// - Returns: Whether its closing quote was found.
    private func readString(_ use: ([UInt8]) -> Void) -> Bool {
        reader.skip()
        while let byte = reader.peek {
            switch byte {
            case UInt8(ascii: "\""):
                reader.skip()
                return true
            case UInt8(ascii: "\\"):
                let (text, length) = BackslashEscape.read(reader.ahead(BackslashEscape.longest))
                reader.skip(length)
                use(text)
            default:
                use(Array(reader.take(limit) { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }))
            }
        }
        return false
    }

    /// Takes a number or a literal, only if what follows can follow it, so that the first letters of another text are
    /// left.
    private mutating func takeWord() -> Bool {
        let line = reader.line
        let word = Array(reader.ahead(Self.wordLimit + 1).prefix { $0.isLetterOrDigit || "+-.".utf8.contains($0) })
        let isNumber = word.first.map { $0.isDigit || $0 == UInt8(ascii: "-") } ?? false
        guard isNumber ? Double(String(decoding: word, as: UTF8.self)) != nil : Self.literals.contains(word) else {
            return false
        }
        reader.skip(word.count)
        report(path, word, line)
        return true
    }

    private static let literals = ["true", "false", "null"].map { Array($0.utf8) }

    private func skipWhiteSpace() {
        while reader.peek?.isASCIIWhiteSpace == true { reader.skip() }
    }

    private func take(_ byte: UInt8) -> Bool {
        guard reader.peek == byte else { return false }
        reader.skip()
        return true
    }
}
