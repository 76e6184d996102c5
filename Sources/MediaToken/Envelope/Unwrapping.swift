internal import TextEncodings

/// The layers in which a token travels.
enum WrappingLayer: String, Sendable {
    case document
    case percent = "percent-encoding"
    case base64 = "Base64"
}

/// A token without its wrapping: `<signatureInfo>…`. Only ``RawToken/clearText(choosing:)`` makes one.
struct ClearText: Sendable {
    let bytes: ArraySlice<UInt8>

    fileprivate init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }
}

extension RawToken {
    /// The clear text, with every layer taken off.
    ///
    /// Each step looks at the first bytes and knows what it has; nothing is tried to see whether it works. A kind of
    /// layer that comes a second time is refused, so this ends after three steps at the most.
    ///
    /// - Parameter resource: which decision to take from a REST v2 answer that holds several.
    func clearText(choosing resource: ResourceRule?) -> Step<ClearText> {
        do {
            return .success(ClearText(try unwrap(choosing: resource)))
        } catch {
            return .failure(Stop(error))
        }
    }

    private func unwrap(choosing resource: ResourceRule?) throws(FormatProblem) -> ArraySlice<UInt8> {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge(bytes.count) }
        var text = bytes[...].trimmingWhiteSpace()
        var removed: [WrappingLayer] = []
        while let wrapping = try Wrapping(outermostOf: text) {
            guard !removed.contains(wrapping.layer) else { throw .wrappedTwice(wrapping.layer) }
            removed.append(wrapping.layer)
            text = try wrapping.remove(from: text, choosing: resource).trimmingWhiteSpace()
        }
        return text
    }
}

/// What the first bytes say about how a token is wrapped.
private enum Wrapping {
    case xmlDocument, jsonDocument, percent, base64

    /// `<signatureInfo` in Base64. The next character, `+` or `-`, carries the `>` and tells the alphabet.
    private static let base64Marker: StaticString = "PHNpZ25hdHVyZUluZm8"

    /// `nil` for clear text.
    init?(outermostOf text: ArraySlice<UInt8>) throws(FormatProblem) {
        switch text.first {
        case nil:
            throw .empty
        case UInt8(ascii: "<") where text.begins(with: TokenEnvelope.openingTag):
            return nil
        case UInt8(ascii: "<") where text.begins(with: "<play") || text.begins(with: "<?xml"):
            self = .xmlDocument
        case UInt8(ascii: "{"):
            self = .jsonDocument
        case UInt8(ascii: "%"):
            self = .percent
        case UInt8(ascii: "P") where text.begins(with: Self.base64Marker):
            self = text.position(of: UInt8(ascii: "%")) != nil ? .percent : .base64
        default:
            throw .unrecognised(firstBytes: Array(text.prefix(4)))
        }
    }

    var layer: WrappingLayer {
        switch self {
        case .xmlDocument, .jsonDocument: .document
        case .percent: .percent
        case .base64: .base64
        }
    }

    func remove(
        from text: ArraySlice<UInt8>, choosing resource: ResourceRule?
    ) throws(FormatProblem) -> ArraySlice<UInt8> {
        switch self {
        case .xmlDocument: try PlayDocument.serializedToken(inXML: text)
        case .jsonDocument: try EntitlementAnswer.serializedToken(inJSON: text, choosing: resource)
        case .percent: try Self.decodePercent(text)
        case .base64: try Self.decodeBase64(text)
        }
    }

    private static func decodePercent(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        var head = text.prefix(TokenEnvelope.headLength * 3)
        // Not through the midst of an escape.
        if let escape = head.suffix(2).lastIndex(of: UInt8(ascii: "%")) { head = head[..<escape] }
        try checkHead(head, of: text) { (head) throws(FormatProblem) in
            try decodeEscapes(head, holdsSpaces: false)
        }
        return try decodeEscapes(text, holdsSpaces: !text.begins(with: base64Marker))
    }

    private static func decodeEscapes(
        _ text: ArraySlice<UInt8>, holdsSpaces: Bool
    ) throws(FormatProblem) -> ArraySlice<UInt8> {
        do { return try PercentEncoding.decode(text, holdsSpaces: holdsSpaces) } catch {
            throw .percentEncoding(offset: error.offset)
        }
    }

    /// Decodes the first bytes of a long text alone, and goes no further where no token can follow: junk is not decoded
    /// to its end.
    private static func checkHead(
        _ head: ArraySlice<UInt8>, of text: ArraySlice<UInt8>,
        decode: (ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8>
    ) throws(FormatProblem) {
        guard text.count > TokenEnvelope.headLength * 3 else { return }
        guard TokenEnvelope.mayBegin(with: try decode(head)) else { throw .envelope(.noSecondTag) }
    }

    private static func decodeBase64(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        // Four digits for three bytes.
        let head = text.prefix((TokenEnvelope.headLength + 2) / 3 * 4)
        try checkHead(head, of: text, decode: decodeBase64Digits)
        return try decodeBase64Digits(text)
    }

    private static func decodeBase64Digits(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        let afterMarker = text.dropping(base64Marker)?.first
        let alphabet: Base64Alphabet = afterMarker == UInt8(ascii: "-") ? .urlSafe : .standard
        do {
            return try Base64.decode(text, alphabet: alphabet, padding: .optional)[...]
        } catch {
            throw .wrapperBase64(error)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without ASCII white space at either end.
    fileprivate func trimmingWhiteSpace() -> ArraySlice<UInt8> {
        withUnsafeBufferPointer { bytes in
            var (first, end) = (0, bytes.count)
            while first < end, bytes[first].isASCIIWhiteSpace { first += 1 }
            while first < end, bytes[end - 1].isASCIIWhiteSpace { end -= 1 }
            return self[(startIndex + first)..<(startIndex + end)]
        }
    }
}
