internal import Basics

/// How the lines of a text and those of the capture belong together.
enum Lines {
    /// The text has the line breaks of the capture.
    case own
    /// The positions in the text at which further lines of the capture begin.
    case starting([Int])

    /// All of the text is on the line on which it begins.
    static let one = Lines.starting([])

    /// The number of lines of the capture that begin in a part of the text.
    func count(in text: ArraySlice<UInt8>, _ part: Range<Int>) -> Int {
        switch self {
        case .own: text[part].count { $0 == UInt8(ascii: "\n") }
        case .starting(let starts): starts.index(behind: part.upperBound) - starts.index(behind: part.lowerBound)
        }
    }

    /// The number of lines of the capture that ended before the text begins.
    func leading(in text: ArraySlice<UInt8>) -> Int {
        if case .starting(let starts) = self { starts.index(behind: text.startIndex) } else { 0 }
    }

    /// The positions at which further lines of the capture begin.
    fileprivate func starts(in text: ArraySlice<UInt8>) -> [Int] {
        switch self {
        case .own: text.indices.compactMap { text[$0] == UInt8(ascii: "\n") ? $0 + 1 : nil }
        case .starting(let starts): starts
        }
    }
}

/// Rewrites a text from front to back, and remembers where the lines of the capture begin in it.
struct Rewriter {
    private let sourceStarts: [Int]
    private var nextStart = 0
    private var bytes: [UInt8] = []
    private var starts: [Int] = []
    private var isChanged = false
    /// What was not written yet.
    private(set) var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>, _ lines: Lines) {
        (rest, sourceStarts) = (text, lines.starts(in: text))
        bytes.reserveCapacity(text.count)
    }

    /// The bytes that were written last.
    func written(_ count: Int) -> ArraySlice<UInt8> { bytes.suffix(count) }

    /// Writes the text up to a position as it is.
    mutating func copy(to end: Int) {
        let begin = bytes.count - rest.startIndex
        noteStarts(before: end) { begin + $0 }
        bytes += rest[..<end]
        rest = rest[end...]
    }

    /// Writes other bytes in place of the next `length` bytes.
    mutating func replace(_ length: Int, with text: some Collection<UInt8> = EmptyCollection()) {
        let end = rest.startIndex + length
        isChanged = isChanged || !rest[..<end].elementsEqual(text)
        noteStarts(before: end) { [count = bytes.count] _ in count }
        bytes += text
        rest = rest[end...]
    }

    /// Replaces what begins with one of some characters: `read` returns what to write, and the length of what that
    /// replaces.
    mutating func replace(_ characters: String, _ read: (ArraySlice<UInt8>) -> (text: [UInt8], length: Int)) {
        let characters = Array(characters.utf8)
        while let next = rest.position(ofAny: characters) {
            copy(to: next)
            let (text, length) = read(rest)
            replace(length, with: text)
        }
    }

    /// The text with its lines; `nil` if it is the same as before.
    mutating func finish() -> (bytes: [UInt8], lines: Lines)? {
        guard isChanged else { return nil }
        copy(to: rest.endIndex)
        return (bytes, .starting(starts))
    }

    private mutating func noteStarts(before end: Int, _ place: (Int) -> Int) {
        while nextStart < sourceStarts.count, sourceStarts[nextStart] < end {
            starts.append(place(sourceStarts[nextStart]))
            nextStart += 1
        }
    }
}

extension ArraySlice<UInt8> {
    /// The first index of one of some bytes.
    func position(ofAny bytes: [UInt8]) -> Int? {
        bytes.count == 1 ? position(of: bytes[0]) : firstIndex { bytes.contains($0) }
    }
}

extension [Int] {
    /// The index of the first number of a sorted array that is larger than `number`.
    fileprivate func index(behind number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            (low, high) = self[middle] > number ? (low, middle) : (middle + 1, high)
        }
        return low
    }
}
