import Captures
import Foundation
import Testing

@Suite("Files that are no text")
struct BinaryFormatTests {
    @Test(
        "are called what they are",
        arguments: [
            ("89504E470D0A1A0A", "a picture"), ("255044462D312E34", "a PDF document"), ("1F8B0800", "a gzip file"),
            ("CAFEBABE00000034", "a compiled Java class"), ("504B0304", "a ZIP archive"),
            ("00000000000000000000", "a binary file"), ("0102030405060708FFFE", "a binary file"),
        ])
    func named(hexadecimal: String, name: String) throws {
        let bytes = stride(from: 0, to: hexadecimal.count, by: 2).compactMap {
            UInt8(hexadecimal.dropFirst($0).prefix(2), radix: 16)
        }
        let description = try #require(BinaryFormat.description(ofFileBeginning: bytes))
        #expect(description.hasPrefix("it is \(name)"), "\(description)")
    }

    @Test(
        "are told from texts without a token",
        arguments: ["", "a line\r\n\tanother\u{C}\n", "\u{1B}[31mERROR\u{1B}[0m Grüße", "{\"a\": 1}"],
        [String.Encoding.utf8, .isoLatin1, .utf16LittleEndian, .utf16BigEndian, .utf16])
    func text(_ text: String, in encoding: String.Encoding) throws {
        let bytes = try #require(text.data(using: encoding))
        #expect(BinaryFormat.description(ofFileBeginning: Array(bytes)) == nil)
    }
}
