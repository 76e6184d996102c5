internal import Basics

/// A kind of layer that a token may be wrapped in.
package enum WrappingLayer: String, Sendable {
    case document
    case percent = "percent-encoding"
    case base64 = "Base64"
}

extension RawToken {
    /// The clear text, `<signatureInfo>…`, with every layer taken off.
    ///
    /// Each step recognises the layer by its first bytes; decoders are not tried one after the other. Each kind of
    /// layer is accepted once, so there are at most three steps.
    ///
    /// - Parameter isWanted: whether to take the decision for this resource from a REST v2 answer that has several.
    func unwrapped(choosing isWanted: (String) -> Bool) throws(EnvelopeError) -> ArraySlice<UInt8> {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge(bytes.count) }
        var text = bytes[...].trimmingWhiteSpace()
        var removed: [WrappingLayer] = []
        while let wrapping = try Wrapping(outermostOf: text) {
            guard !removed.contains(wrapping.layer) else { throw .wrappedTwice(wrapping.layer) }
            removed.append(wrapping.layer)
            text = try wrapping.remove(from: text, choosing: isWanted).trimmingWhiteSpace()
        }
        return text
    }
}

/// The form of a token's outermost layer, recognised by its first bytes.
private enum Wrapping {
    case xmlDocument, jsonDocument, percent, base64

    /// The Base64 form of `<signatureInfo`. The next character, `+` or `-`, encodes the `>` and shows which alphabet is
    /// used.
    private static let base64Marker: StaticString = "PHNpZ25hdHVyZUluZm8"

    /// Recognises the outermost layer; `nil` for clear text.
    init?(outermostOf text: ArraySlice<UInt8>) throws(EnvelopeError) {
        switch text.first {
        case nil:
            throw .empty
        case UInt8(ascii: "<") where text.begins(with: TokenEnvelope.openingTag):
            return nil
        case UInt8(ascii: "<") where text.begins(with: "<play") || text.begins(with: "<?xml"):
            self = .xmlDocument
        case UInt8(ascii: "{"):
            self = .jsonDocument
        case 0xEF where text.dropping("\u{FEFF}")?.trimmingWhiteSpace().first == UInt8(ascii: "{"):
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
        from text: ArraySlice<UInt8>, choosing isWanted: (String) -> Bool
    ) throws(EnvelopeError) -> ArraySlice<UInt8> {
        switch self {
        case .xmlDocument: try PlayDocument.serializedToken(inXML: text)
        case .jsonDocument: try EntitlementAnswer.serializedToken(inJSON: text, choosing: isWanted)
        case .percent: try Self.decodePercent(text)
        case .base64: try Self.decodeBase64(text)
        }
    }

    private static func decodePercent(_ text: ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8> {
        var head = text.prefix(TokenEnvelope.headLength * 3)
        // An escape must not be cut in two.
        if let escape = head.suffix(2).lastIndex(of: UInt8(ascii: "%")) { head = head[..<escape] }
        try checkHead(head, of: text) { (head) throws(EnvelopeError) in
            try decodeEscapes(head, holdsSpaces: false)
        }
        return try decodeEscapes(text, holdsSpaces: !text.begins(with: base64Marker))
    }

    private static func decodeEscapes(
        _ text: ArraySlice<UInt8>, holdsSpaces: Bool
    ) throws(EnvelopeError) -> ArraySlice<UInt8> {
        do { return try PercentEncoding.decode(text, holdsSpaces: holdsSpaces) } catch {
            throw .percentEncoding(offset: error.offset)
        }
    }

    /// Decodes only the first bytes of a long text, and rejects the text if no token can begin like this, so that junk
    /// is not decoded to its end.
    private static func checkHead(
        _ head: ArraySlice<UInt8>, of text: ArraySlice<UInt8>,
        decode: (ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8>
    ) throws(EnvelopeError) {
        guard text.count > TokenEnvelope.headLength * 3 else { return }
        guard TokenEnvelope.mayBegin(with: try decode(head)) else { throw .noSecondTag }
    }

    private static func decodeBase64(_ text: ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8> {
        let digits = Base64.withoutLineBreaks(text)
        // Base64 takes four digits for three bytes.
        let head = digits.prefix((TokenEnvelope.headLength + 2) / 3 * 4)
        try checkHead(head, of: digits, decode: decodeBase64Digits)
        return try decodeBase64Digits(digits)
    }

    private static func decodeBase64Digits(_ text: ArraySlice<UInt8>) throws(EnvelopeError) -> ArraySlice<UInt8> {
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
    /// The slice without ASCII white space at either end.
    fileprivate func trimmingWhiteSpace() -> ArraySlice<UInt8> {
        withUnsafeBufferPointer { bytes in
            var (first, end) = (0, bytes.count)
            while first < end, bytes[first].isASCIIWhiteSpace { first += 1 }
            while first < end, bytes[end - 1].isASCIIWhiteSpace { end -= 1 }
            return self[(startIndex + first)..<(startIndex + end)]
        }
    }
}
