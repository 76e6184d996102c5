internal import Basics

/// The two parts of a token's clear text: the signature, and the bytes that it signs.
///
/// The clear text is `<signatureInfo>BASE64<signatureInfo><authToken>…</authToken>`. The second tag is an opening tag
/// too in every token that Adobe Pass was seen to issue; `</signatureInfo>` is also accepted there. The text as a whole
/// is not XML, so it is split before anything is parsed.
package final class TokenEnvelope: Sendable {
    static let openingTag: StaticString = "<signatureInfo>"
    private static let closingTag: StaticString = "</signatureInfo>"

    /// The length in bits of the longest signature that is accepted, which is also that of the longest key.
    package static let longestSignatureBits = 8192
    /// The number of Base64 digits of the longest signature that is accepted.
    static let longestSignature = (longestSignatureBits / 8 + 2) / 3 * 4

    package let signature: [UInt8]
    /// Exactly the bytes after the second tag, to the end, as they arrived.
    package let payload: ArraySlice<UInt8>
    /// The number of bytes of the clear text.
    let length: Int

    /// The number of bytes of clear text within which the second tag begins.
    static let headLength = openingTag.utf8CodeUnitCount + longestSignature + 1

    /// Whether a clear text that begins with `head`, which has at least ``headLength`` bytes, may be a token. A head
    /// without the opening tag may have another layer, so it passes.
    static func mayBegin(with head: ArraySlice<UInt8>) -> Bool {
        guard let rest = head.dropping(openingTag) else { return true }
        return endOfSignature(in: rest) != nil
    }

    private static func endOfSignature(in rest: ArraySlice<UInt8>) -> Int? {
        rest.prefix(longestSignature + 1).position(of: UInt8(ascii: "<"))
    }

    /// Unwraps a token and splits its clear text.
    ///
    /// - Parameter isWanted: whether to take the decision for this resource from a REST v2 answer that has several.
    package convenience init(
        opening token: RawToken, choosing isWanted: (String) -> Bool
    ) throws(EnvelopeError) {
        do { try self.init(splitting: token.unwrapped(choosing: isWanted)) } catch {
            // Unreached: An error about a token of the command line, which may not quote it; the properties' tokens may
            // be quoted.
            throw token.mayBeQuoted ? error : error.withoutQuote
        }
    }

    /// Splits the clear text at the first `<` after the opening tag. Base64 has no `<`, so there is no second way to
    /// read it.
    private init(splitting text: ArraySlice<UInt8>) throws(EnvelopeError) {
        // Unreached: Unwrapping ends only where the clear text begins with the tag.
        guard let rest = text.dropping(Self.openingTag) else { throw .unrecognised(firstBytes: Array(text.prefix(4))) }
        guard let separator = Self.endOfSignature(in: rest) else { throw .noSecondTag }
        guard let payload = Self.dropTag(from: rest[separator...]) else {
            let isCut = [Self.openingTag, Self.closingTag].contains { "\($0)".utf8.starts(with: rest[separator...]) }
            let count = separator - rest.startIndex
            // Unreached: Tells a second tag that is cut short from another one, for the message.
            throw isCut ? .cutTag(after: count) : .otherTag(after: count)
        }
        guard payload.first == UInt8(ascii: "<") else { throw .noPayload }
        guard Self.dropTag(from: payload) == nil else { throw .secondSignature }
        signature = try Self.decodeSignature(rest[..<separator])
        self.payload = payload
        length = text.count
    }

    private static func dropTag(from text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        text.dropping(openingTag) ?? text.dropping(closingTag)
    }

    private static func decodeSignature(_ text: ArraySlice<UInt8>) throws(EnvelopeError) -> [UInt8] {
        guard !text.isEmpty else { throw .noSignature }
        do {
            return try Base64.decode(text, alphabet: .standard, padding: .required)
        } catch {
            throw .signatureBase64(error)
        }
    }
}
