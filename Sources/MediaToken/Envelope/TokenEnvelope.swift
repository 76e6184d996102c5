internal import TextEncodings

/// The two parts of a token's clear text: the signature, and the bytes that it signs.
///
/// `<signatureInfo>BASE64<signatureInfo><authToken>…</authToken>`, where the second tag is an opening one again in every
/// token that Adobe Pass was seen to issue; `</signatureInfo>` is accepted there too. As a whole it is not XML, so
/// it is split before anything is parsed.
struct TokenEnvelope: Sendable {
    static let openingTag: StaticString = "<signatureInfo>"
    private static let closingTag: StaticString = "</signatureInfo>"

    /// Characters of Base64 that the signature of the longest key takes that is loaded from a file.
    static let longestSignature = (KeyRequirements.maximumRSABits / 8 + 2) / 3 * 4

    let signature: [UInt8]
    /// Exactly the bytes behind the second tag, to the end, as they arrived.
    let payload: ArraySlice<UInt8>

    /// Bytes of clear text within which the second tag begins.
    static let headLength = openingTag.utf8CodeUnitCount + longestSignature + 1

    /// Whether a clear text that begins with `head`, of ``headLength`` bytes at least, may be a token. One that does not
    /// begin with the tag may have another layer, and be one yet.
    static func mayBegin(with head: ArraySlice<UInt8>) -> Bool {
        guard let rest = head.dropping(openingTag) else { return true }
        return endOfSignature(in: rest) != nil
    }

    private static func endOfSignature(in rest: ArraySlice<UInt8>) -> Int? {
        rest.prefix(longestSignature + 1).position(of: UInt8(ascii: "<"))
    }

    static func split(_ text: ClearText) -> Step<TokenEnvelope> {
        do {
            return .success(try TokenEnvelope(splitting: text.bytes))
        } catch {
            return .failure(Stop(error))
        }
    }

    /// Splits at the first `<` behind the opening tag. Base64 has no `<`, so there is no second way to read it.
    private init(splitting text: ArraySlice<UInt8>) throws(FormatProblem) {
        guard let rest = text.dropping(Self.openingTag) else { throw .unrecognised(firstBytes: Array(text.prefix(4))) }
        guard let separator = Self.endOfSignature(in: rest) else { throw .envelope(.noSecondTag) }
        guard let payload = Self.dropTag(from: rest[separator...]) else { throw .envelope(.noSecondTag) }
        guard payload.first == UInt8(ascii: "<") else { throw .envelope(.noPayload) }
        guard Self.dropTag(from: payload) == nil else { throw .envelope(.secondSignature) }
        signature = try Self.decodeSignature(rest[..<separator])
        self.payload = payload
    }

    private static func dropTag(from text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        text.dropping(openingTag) ?? text.dropping(closingTag)
    }

    private static func decodeSignature(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> [UInt8] {
        guard !text.isEmpty else { throw .envelope(.noSignature) }
        do {
            return try Base64.decode(text, alphabet: .standard, padding: .required)
        } catch {
            throw .envelope(.signatureBase64(error))
        }
    }
}
