import Basics
import Foundation
import Testing

@testable import MediaToken

@Suite("Base64")
struct Base64Tests {
    private func decode(_ text: some Collection<UInt8>, _ padding: Base64.Padding = .required) throws -> [UInt8] {
        // In the middle of something, as in a token.
        let bytes = [0] + Array(text) + [0]
        return try Base64.decode(bytes[1..<bytes.count - 1], alphabet: .standard, padding: padding)
    }

    @Test("every length comes back as another encoder has written it, with and without padding")
    func roundTrip() throws {
        for length in 0...70 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            let text = Data(bytes).base64EncodedString()
            #expect(try decode(text.utf8) == bytes)
            #expect(Base64.encode(bytes) == text)
            let digits = text.filter { $0 != "=" }
            #expect(Base64.encode(bytes, isPadded: false) == digits)
            #expect(try decode(digits.utf8, .optional) == bytes && decode(digits.utf8, .forbidden) == bytes)
            guard text.hasSuffix("==") else { continue }
            #expect(throws: Base64Error.wrongPadding(text.utf8.count - 2), "half of the padding is none") {
                try decode(text.utf8.dropLast(), .optional)
            }
        }
    }

    @Test("another spelling of the same bytes is none, and a stray byte is told by its place")
    func oneSpelling() throws {
        for length in [1, 2, 3, 4, 5, 6, 9, 10] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            let text = Array(Data(bytes).base64EncodedString().utf8)
            for place in text.indices {
                for other in UInt8.min...UInt8.max where other != text[place] {
                    var changed = text
                    changed[place] = other
                    let result = Result { try decode(changed) }
                    // What is taken says something else; Foundation agrees.
                    if case .success(let taken) = result {
                        #expect(taken != bytes && Data(taken) == Data(base64Encoded: Data(changed)))
                    } else if Data(base64Encoded: Data([other, 65, 65, 65])) == nil, other != UInt8(ascii: "=") {
                        let isTold = text[place] == UInt8(ascii: "=")
                        #expect(isTold || (result.failure as? Base64Error) == .strayByte(other, after: place))
                    }
                }
            }
        }
    }
}

extension Base64Tests {
    @Test(
        "of line breaks nothing is left, and of everything else all",
        arguments: [
            ("AB\nCD\r\nEF\n", "ABCDEF"), ("AB\rCD\n", "AB\rCD"), ("AB\n\r", "AB\r"), ("AB\r\r\nCD", "AB\rCD"),
            ("A\nB\rC", "AB\rC"), ("AB\r", "AB\r"),
        ])
    func lineBreaks(text: String, left: String) {
        let bytes = [0] + Array(text.utf8)
        #expect(Base64.withoutLineBreaks(bytes[1...]).elementsEqual(left.utf8))
    }

    @Test(
        "each fault is called by its own name, with the byte and its place",
        arguments: [
            ("QUJ DRA==", "a blank after 3 digits"), ("QU!D", "'!' after 2 digits"),
            ("QU\nD", "the byte 0a after 2 digits"),
            ("QUJDé", "the byte c3 after 4 digits"), ("QUJDR", "5 digits are no whole number of bytes"),
            ("QUJDRA", "its padding does not complete 6 digits"), ("QUJDRA=", "its padding does not complete 6 digits"),
            ("QU=DRA", "'=' after 2 digits"), ("QUJDRB==", "its unused last bits are not zero"),
        ])
    func reason(text: String, reason: String) throws {
        let failure = Result { try decode(text.utf8) }.failure as? Base64Error
        #expect(failure?.reason.hasPrefix(reason) == true, "\(failure?.reason ?? "none")")
    }

    @Test(
        "padding is what completes four digits, and only where a caller takes it",
        arguments: [
            ("QUI=", .required, nil), ("QUI=", .optional, nil), ("QUI=", .forbidden, .strayByte(0x3D, after: 3)),
            ("QQ==", .forbidden, .strayByte(0x3D, after: 2)), ("QQ===", .optional, .strayByte(0x3D, after: 2)),
            ("Q===", .optional, .strayByte(0x3D, after: 1)), ("QUI==", .optional, .wrongPadding(3)),
            ("QUJD=", .optional, .wrongPadding(4)), ("=", .optional, .wrongPadding(0)),
            ("QUJDR", .optional, .wrongLength(5)),
            ("Q", .forbidden, .wrongLength(1)), ("QUJDR", .forbidden, .wrongLength(5)), ("", .required, nil),
        ] as [(String, Base64.Padding, Base64Error?)])
    func padding(text: String, padding: Base64.Padding, fault: Base64Error?) {
        #expect(Result { try decode(text.utf8, padding) }.failure as? Base64Error == fault)
    }

    @Test(
        "line breaks are passed over where a caller says so, and nothing else",
        arguments: [
            ("QU\nJD", "QUJD"), ("QU\r\nJD\r\n", "QUJD"), ("\n\nQUJD", "QUJD"), ("QU\rJD\n", "QU\rJD"),
            ("QU\r\r\nJD", "QU\rJD"),
            ("QU JD\n", "QU JD"), ("\n", ""), ("QUJD\r", "QUJD\r"), ("", ""),
        ])
    func lineBreaks(text: String, digits: String) {
        #expect(Base64.withoutLineBreaks(Array(text.utf8)[...]).elementsEqual(digits.utf8))
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
