internal import Basics

/// A run of letters, digits and `+ / - _`: a word, or a token or a part of one in Base64 or hexadecimal digits.
struct DigitRun {
    enum Kind {
        /// The name of a token's outermost element, at this position.
        case marker(Int)
        /// A word that belongs to a playback grant.
        case grant
        /// The name of an error's element.
        case error
        /// The name of a member that is among the first of a response of Adobe Pass, and whether its quotes are
        /// escaped.
        case answer(isEscaped: Bool)
        /// Enough digits for a token. It may begin at this position, if not at the beginning of the run.
        case digits(marker: Int?)
    }

    let start: Int
    let end: Int

    private static let isDigit: [Bool] = (0...255).map { byte in
        UInt8(byte).isLetterOrDigit || "+/-_".utf8.contains(UInt8(byte))
    }

    /// The next run of at least three bytes that begins at `position` or later, and before `limit`; `nil` if there is
    /// none.
    static func next(in text: ArraySlice<UInt8>, from position: Int, until limit: Int) -> DigitRun? {
        let base = text.startIndex
        let found: (Int, Int)? = text.withUnsafeBufferPointer { bytes in
            isDigit.withUnsafeBufferPointer { isDigit in
                var start = position - base
                while start < limit - base {
                    guard isDigit[Int(bytes[start])] else {
                        start += 1
                        continue
                    }
                    var end = start
                    while end < bytes.count, isDigit[Int(bytes[end])] { end += 1 }
                    if end - start >= shortest { return (start, end) }
                    start = end
                }
                return nil
            }
        }
        return found.map { DigitRun(start: base + $0.0, end: base + $0.1) }
    }

    private static let shortest = 3
    private static let marker: StaticString = "signatureInfo"
    private static let shortestEncoded = 32
    private static let grantWords: [String] = ["hmac", "Key-Pair-Id", "CloudFront-Key-Pair-Id", "md5"]

    func kind(in text: ArraySlice<UInt8>) -> Kind? {
        let run = text[start..<end]
        let length = Self.marker.utf8CodeUnitCount
        if run.count >= length, run.suffix(length).isSame(as: Self.marker) { return .marker(end - length) }
        let isAnswer = run.isSame(as: "decisions") || run.isSame(as: "action")
        let next = end < text.endIndex ? text[end] : nil
        switch next {
        case UInt8(ascii: "=") where Self.grantWords.contains(where: run.isSame): return .grant
        // An Akamai token in a query that a client escaped again.
        case UInt8(ascii: "%") where isEscapedHMAC(run, in: text): return .grant
        case UInt8(ascii: ".") where run.begins(with: "eyJ"): return .grant
        case _ where run.begins(with: "0YRD") || run.begins(with: "2D3RhE"): return .grant
        case UInt8(ascii: ">") where run.isSame(as: "error"): return .error
        case UInt8(ascii: "\"") where isAnswer: return .answer(isEscaped: false)
        case UInt8(ascii: "\\") where isAnswer, UInt8(ascii: "&") where isAnswer: return .answer(isEscaped: true)
        default:
            // What is before a token's own digits, as a part of a URL's path, may consist of digits too.
            let marker = EncodedText.marker(in: run)
            return marker != nil || run.count >= Self.shortestEncoded ? .digits(marker: marker) : nil
        }
    }

    private func isEscapedHMAC(_ run: ArraySlice<UInt8>, in text: ArraySlice<UInt8>) -> Bool {
        let words: [StaticString] = ["hmac", "7Ehmac", "7ehmac"]
        return words.contains(where: run.isSame) && text[end...].prefix(3).map(\.asciiLowercased) == Array("%3d".utf8)
    }
}
