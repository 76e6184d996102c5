internal import TextEncodings

/// The text of a playback grant around a word of it.
struct GrantText {
    let range: Range<Int>
    private static let limit = 8192

    init(around run: DigitRun, in text: ArraySlice<UInt8>) {
        let word = text[run.start..<run.end]
        let isQuery = word.isSame(as: "Key-Pair-Id") || word.isSame(as: "md5")
        // CloudFront's cookies are three of one header; an Akamai grant is one parameter, and a query several.
        let isCookies = word.begins(with: "CloudFront-")
        let isParameter = word.isSame(as: "hmac")
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
        range = (run.start - before)..<text[run.start...].prefix(Self.limit).prefix(while: isPart).endIndex
    }
}
