internal import TextEncodings

/// A form that a whole capture may have, such as a hexdump, and that a token's first bracket does not reveal.
enum Wrapping: String, CaseIterable {
    case formatting
    case hexdump
    case byteValues = "byte values"
    case chunks
    case literals = "string literals"
    case shell = "shell escapes"
    case plusSigns = "blanks for plus signs"
    case prefixes = "line prefixes"
    case wraps = "line wraps"
    case wrapsAtBlanks = "line wraps at blanks"

    /// Removes this wrapping; a text without it is returned unchanged.
    func remove(from text: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .formatting: Formatting.removed(from: text)
        case .hexdump: Hexdump.bytes(of: text)
        case .byteValues: ByteValues.replaced(in: text)
        case .chunks: text.replacing("\r", ChunkSize.read)[...].replacing("\n", ChunkSize.read)
        case .literals: SourceCode.joiningLiterals(in: text)
        case .shell: SourceCode.withoutShellEscapes(text)
        case .plusSigns: PlusSigns.restored(in: text)
        case .prefixes where parts(of: text) == LineWraps.lines(of: text): Array(text)
        case .prefixes, .wraps, .wrapsAtBlanks: Array(parts(of: text).joined(separator: separator))
        }
    }

    /// Where the lines of a capture are in the text without the wrapping.
    func lines(of text: ArraySlice<UInt8>) -> CaptureSearch.Lines {
        switch self {
        case .formatting, .plusSigns: .ofCapture
        // The lines of a capture end with line feeds.
        case .prefixes, .wraps, .wrapsAtBlanks:
            !text.contains(0x0A)
                ? .one
                : .starting(
                    parts(of: text).reduce(into: [0]) { starts, line in
                        starts.append(starts[starts.count - 1] + line.count + separator.count)
                    })
        default: .one
        }
    }

    /// What is put between lines that are joined.
    private var separator: [UInt8] { self == .wrapsAtBlanks ? [0x20] : [] }

    private func parts(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let lines = LineWraps.lines(of: text, withoutFrames: self == .prefixes)
        return self == .wrapsAtBlanks ? lines.map { $0.trimmingBlanks() } : lines
    }
}
