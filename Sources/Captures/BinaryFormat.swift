/// A format of files that are no text, in which a finder has found nothing.
package enum BinaryFormat {
    private static let formats: [(magic: [UInt8], name: String, advice: String)] = [
        ([0x50, 0x4B, 3, 4], "a ZIP archive", "none of its files that could be read holds a token"),
        ([0x1F, 0x8B], "a gzip file", "what could be unpacked of it holds no token"),
        ([0x28, 0xB5, 0x2F, 0xFD], "a Zstandard file", "unpack it first: zstd -d"),
        ([0xFD, 0x37, 0x7A, 0x58], "an xz file", "unpack it first: xz -d"),
        ([0x42, 0x5A, 0x68], "a bzip2 file", "unpack it first: bzip2 -d"),
        ([0x37, 0x7A, 0xBC, 0xAF], "a 7z archive", "unpack it first"),
        ([0x89, 0x50, 0x4E, 0x47], "a picture", "copy the token as text"),
        ([0xFF, 0xD8, 0xFF], "a picture", "copy the token as text"),
        ([0x47, 0x49, 0x46, 0x38], "a picture", "copy the token as text"),
        ([0x25, 0x50, 0x44, 0x46], "a PDF document", "copy the token as text"),
        ([0xCA, 0xFE, 0xBA, 0xBE], "a compiled Java class or a program", textAdvice),
        ([0x7F, 0x45, 0x4C, 0x46], "a program", textAdvice),
    ]

    private static let textAdvice =
        "expected text that holds a token, such as a log or a HAR file, or that packed with gzip or ZIP"

    /// The number of bytes at the beginning of a file that decide whether it is text.
    private static let examined = 1024

    /// What a file is, and what to do with it; `nil` if it may be text.
    package static func description(ofFileBeginning head: [UInt8]) -> String? {
        if PacketCapture.begins(head[...]) {
            return "it is a capture of packets; none of its connections shows a token, as those with TLS do not"
        }
        if let known = formats.first(where: { head.starts(with: $0.magic) }) {
            return "it is \(known.name); \(known.advice)"
        }
        return isBinary(head.prefix(examined)) ? "it is a binary file; \(textAdvice)" : nil
    }

    /// Whether bytes have more control characters than any text, in UTF-8, UTF-16 or an encoding of single bytes.
    private static func isBinary(_ bytes: ArraySlice<UInt8>) -> Bool {
        let units = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) ? [] : Array(bytes)
        let zeros = [0, 1].map { parity in
            units.indices.count { $0 % 2 == parity && units[$0] == 0 }
        }
        // Latin letters in UTF-16 have a zero in every other byte.
        if zeros.min() == 0, let most = zeros.max(), most * 2 >= units.count - 1 { return false }
        // White space and Escape, with which terminals colour a log, are part of texts.
        let controls = units.count { $0 < 0x20 && !(0x08...0x0D).contains($0) && $0 != 0x1B }
        return controls * 50 > units.count
    }
}
