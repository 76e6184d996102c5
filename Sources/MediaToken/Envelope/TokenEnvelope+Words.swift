internal import Basics

extension TokenEnvelope {
    /// What made a signature bad, in words for a person, and what to do: the token was cut, or a log masks something in
    /// it; `nil` if neither shows.
    package var loss: (cause: String, advice: String)? {
        let end = Array("</".utf8) + payload.dropFirst().prefix { $0.isLetterOrDigit } + Array(">".utf8)
        if payload.firstRange(of: end) == nil { return (Self.cutInWords(payload, length: length), Self.cutAdvice) }
        let lowered = payload.map(\.asciiLowercased)[...]
        guard let mask = Self.masks.first(where: { lowered.firstRange(of: Array($0.utf8)) != nil }) else { return nil }
        return (
            "it contains '\(mask)', which logs write in place of a secret", "get the token from where nothing is masked"
        )
    }

    /// What programs put in the place of a secret.
    private static let masks = [
        "***", "[redacted]", "redacted", "[masked]", "[filtered]", "xxxx", "\u{2022}\u{2022}\u{2022}",
    ]

    /// What a person is told of a clear text that was cut.
    ///
    /// - Parameter end: The end of the text, whose length in bytes is `length`.
    package static func cutInWords(_ end: ArraySlice<UInt8>, length: Int) -> String {
        let last = end.lastIndex(of: UInt8(ascii: "<")).map { end[$0...].dropFirst() } ?? []
        let tag = printable(String(decoding: last.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self), limit: 40)
        return "it ends after \(length) bytes, at '\(tag)'; its last tag is missing"
    }

    /// What to do about a text that was cut.
    package static let cutAdvice = "a cut token cannot be verified: get the whole of it"
}
