/// The layers in which a token travels.
enum WrappingLayer: String, Sendable {
    case document
    case percent = "percent-encoding"
    case base64 = "Base64"
}

extension RawToken {
    /// The clear text, `<signatureInfo>…`, with every layer taken off.
    ///
    /// Each step looks at the first bytes and knows what it has; nothing is tried to see whether it works. A kind of
    /// layer that comes a second time is refused, so this ends after three steps at the most.
    ///
    /// - Parameter resource: which decision to take from a REST v2 answer that holds several.
    func clearText(choosing resource: ResourceRule?) throws(FormatProblem) -> ArraySlice<UInt8> {
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
    private static let base64Marker = Array("PHNpZ25hdHVyZUluZm8".utf8)

    /// `nil` for clear text.
    init?(outermostOf text: ArraySlice<UInt8>) throws(FormatProblem) {
        switch text.first {
        case nil:
            throw .empty
        case UInt8(ascii: "<") where text.starts(with: TokenEnvelope.openingTag):
            return nil
        case UInt8(ascii: "<") where text.starts(with: "<play".utf8) || text.starts(with: "<?xml".utf8):
            self = .xmlDocument
        case UInt8(ascii: "{"):
            self = .jsonDocument
        case UInt8(ascii: "%"):
            self = .percent
        case UInt8(ascii: "P") where text.starts(with: Self.base64Marker):
            self = text.contains(UInt8(ascii: "%")) ? .percent : .base64
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
        case .percent: try PercentEncoding.decode(text, holdsSpaces: !text.starts(with: Self.base64Marker))
        case .base64: try Self.decodeBase64(text)
        }
    }

    private static func decodeBase64(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> ArraySlice<UInt8> {
        let afterMarker = text.dropFirst(base64Marker.count).first
        let alphabet: Base64.Alphabet = afterMarker == UInt8(ascii: "-") ? .urlSafe : .standard
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
        guard let first = firstIndex(where: { !$0.isASCIIWhiteSpace }),
            let last = lastIndex(where: { !$0.isASCIIWhiteSpace })
        else { return [] }
        return self[first...last]
    }
}
