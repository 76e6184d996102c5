/// The two parts of a token's clear text: the signature, and the bytes that it signs.
///
/// `<signatureInfo>BASE64<signatureInfo><authToken>…</authToken>`, where the second tag is an opening one again in every
/// token that Adobe Pass was seen to issue; `</signatureInfo>` is accepted there too. As a whole it is not XML, so
/// it is split before anything is parsed.
struct TokenEnvelope: Sendable {
    static let openingTag = Array("<signatureInfo>".utf8)
    private static let closingTag = Array("</signatureInfo>".utf8)

    let signature: [UInt8]
    /// Exactly the bytes behind the second tag, to the end, as they arrived.
    let payload: ArraySlice<UInt8>

    /// Splits at the first `<` behind the opening tag. Base64 has no `<`, so there is no second way to read it.
    init(splitting text: ArraySlice<UInt8>) throws(FormatProblem) {
        guard text.starts(with: Self.openingTag) else { throw .unrecognised(firstBytes: Array(text.prefix(4))) }
        let rest = text.dropFirst(Self.openingTag.count)
        guard let separator = rest.firstIndex(of: UInt8(ascii: "<")) else { throw .envelope(.noSecondTag) }
        guard let payload = Self.dropTag(from: rest[separator...]) else { throw .envelope(.noSecondTag) }
        guard payload.first == UInt8(ascii: "<") else { throw .envelope(.noPayload) }
        guard Self.dropTag(from: payload) == nil else { throw .envelope(.secondSignature) }
        signature = try Self.decodeSignature(rest[..<separator])
        self.payload = payload
    }

    private static func dropTag(from text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for tag in [openingTag, closingTag] where text.starts(with: tag) {
            return text.dropFirst(tag.count)
        }
        return nil
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
