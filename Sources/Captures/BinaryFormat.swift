/// A format of files that are no text, which a finder does not read.
package enum BinaryFormat {
    private static let formats: [(magic: [UInt8], name: String, advice: String)] = [
        ([0x50, 0x4B, 3, 4], "a ZIP archive, as Fiddler and Charles save sessions", "unpack it first"),
        ([0x28, 0xB5, 0x2F, 0xFD], "a Zstandard file", "unpack it first: zstd -d"),
        ([0xFD, 0x37, 0x7A, 0x58], "an xz file", "unpack it first: xz -d"),
        ([0x42, 0x5A, 0x68], "a bzip2 file", "unpack it first: bzip2 -d"),
        ([0x37, 0x7A, 0xBC, 0xAF], "a 7z archive", "unpack it first"),
        ([0xD4, 0xC3, 0xB2, 0xA1], "a capture of packets", "save the stream as text first: tshark -z follow"),
        ([0x0A, 0x0D, 0x0D, 0x0A], "a capture of packets", "save the stream as text first: tshark -z follow"),
        ([0x89, 0x50, 0x4E, 0x47], "a picture", "copy the token as text"),
        ([0xFF, 0xD8, 0xFF], "a picture", "copy the token as text"),
        ([0x25, 0x50, 0x44, 0x46], "a PDF document", "copy the token as text"),
    ]

    /// What a file is, and what to do with it; `nil` if its first bytes show nothing.
    package static func description(ofFileBeginning head: [UInt8]) -> String? {
        formats.first { head.starts(with: $0.magic) }.map { "it is \($0.name); \($0.advice)" }
    }
}
