internal import Basics

/// The text of a playback grant around a word of it.
struct GrantExtent {
    let range: Range<Int>
    /// The length of the longest grant.
    static let limit = 8192

    init(around run: DigitRun, in text: ArraySlice<UInt8>) {
        let word = text[run.start..<run.end]
        let isQuery = word.isSame(as: "Key-Pair-Id") || word.isSame(as: "md5")
        // CloudFront's cookies are three of one header; an Akamai grant is one parameter, and a query several.
        let isCookies = word.begins(with: "CloudFront-")
        let isParameter = word.suffix(4).isSame(as: "hmac")
        func isPart(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: " "): isCookies
            case UInt8(ascii: "&"), UInt8(ascii: ";"): isQuery || isCookies
            case UInt8(ascii: "?"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"): false
            default: byte > 0x20
            }
        }
        let beginsHere = !isQuery && !isCookies && !isParameter
        let before = beginsHere ? 0 : text[..<run.start].suffix(Self.limit).reversed().prefix(while: isPart).count
        let one = (run.start - before)..<text[run.start...].prefix(Self.limit).prefix(while: isPart).endIndex
        range = isCookies ? Self.lines(around: one, in: text) : one
    }

    /// The range with the lines before and after it that have cookies of CloudFront too: a server sets each in a
    /// separate header.
    private static func lines(around range: Range<Int>, in text: ArraySlice<UInt8>) -> Range<Int> {
        let isBreak = { (byte: UInt8) in byte == 0x0A || byte == 0x0D }
        func holdsCookie(_ line: ArraySlice<UInt8>) -> Bool { line.firstRange(of: Array("CloudFront-".utf8)) != nil }
        var (begin, end) = (range.lowerBound, range.upperBound)
        while true {
            guard text[end...].first.map(isBreak) == true else { break }
            let line = text[end...].prefix(limit).drop(while: isBreak).prefix { !isBreak($0) }
            guard holdsCookie(line), line.endIndex - begin < limit else { break }
            end = line.endIndex
        }
        while true {
            guard text[..<begin].last.map(isBreak) == true else { break }
            let line = text[..<begin].suffix(limit).reversed().drop(while: isBreak).prefix { !isBreak($0) }
            let start = line.endIndex.base
            guard holdsCookie(text[start..<begin]), end - start < limit else { break }
            begin = start
        }
        return begin..<end
    }
}
