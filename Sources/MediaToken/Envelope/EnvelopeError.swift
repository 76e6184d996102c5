package import Basics
package import TokenXML

/// Why no signature and signed bytes could be taken from the input.
///
/// Cases carry positions, names, counts and Adobe's error code; of the input's other bytes they carry at most the first
/// four, or one that Base64 does not have.
///
/// The enum is indirect, so that a result is no larger than a reference: most envelopes open.
package indirect enum EnvelopeError: Error, Equatable, Sendable {
    package enum DocumentError: Error, Equatable, Sendable {
        case xml(XMLError)
        case json(JSONError)
        case unexpected(String)
    }

    case empty
    case tooLarge(Int)
    case unrecognised(firstBytes: [UInt8])
    case wrappedTwice(WrappingLayer)
    case percentEncoding(offset: Int)
    case wrapperBase64(Base64Error)
    case document(String, DocumentError)
    case documentField(XMLFieldError)
    /// Adobe's answer denies authorization and carries no token.
    case denied(code: String?)
    /// Another tag follows so many characters of the signature.
    case otherTag(after: Int)
    case cutTag(after: Int)
    case noSecondTag, noPayload, noSignature, secondSignature
    case signatureBase64(Base64Error)
}

extension EnvelopeError {
    /// The error without the bytes of the input that its message quotes. Adobe's error code stays.
    var withoutQuote: EnvelopeError {
        switch self {
        case .unrecognised: .unrecognised(firstBytes: [])
        case .document(let kind, .json(.duplicate(_, let offset))):
            .document(kind, .json(.malformed(offset: offset, expected: "a name that is not given before")))
        default: self
        }
    }

    /// One line that says what was expected, what was found, and where.
    package var message: String {
        switch self {
        case .empty: "the input is empty; expected a media token"
        case .tooLarge(let count): "the input has \(count) bytes; at most \(RawToken.sizeLimit) are accepted"
        case .unrecognised(let bytes): Self.unrecognised(bytes)
        case .wrappedTwice(let layer):
            "it is wrapped twice in a layer of the kind \(layer.rawValue); expected at most one"
        case .percentEncoding(let offset):
            "an incomplete percent-escape at byte \(offset); expected % and two hex digits"
        case .wrapperBase64(let problem): "the Base64 around the token: \(problem.reason)"
        case .document(let kind, let problem): "\(kind) that cannot be read: \(problem.message)"
        case .documentField(let refusal): refusal.message
        case .denied(let code):
            "Adobe Pass denied authorization, there is no token: error.code is \(code.map { printable($0) } ?? "absent")"
        case .noSecondTag:
            "no second <signatureInfo> within \(TokenEnvelope.longestSignature) characters behind the first, which is what the "
                + "longest signature takes: the token is cut short or altered"
        case .otherTag(let count):
            "no second <signatureInfo>: another tag follows \(count) characters of the signature"
        case .cutTag(let count): "the second <signatureInfo> is cut short after \(count) characters of the signature"
        case .noPayload: "nothing that is signed follows the second <signatureInfo>; expected <authToken>"
        case .noSignature: "no signature between the two <signatureInfo> tags: the token is unsigned"
        case .secondSignature: "a second signature follows the first; expected <authToken>"
        case .signatureBase64(let problem): "the signature's Base64: \(problem.reason)"
        }
    }

    private static func unrecognised(_ bytes: [UInt8]) -> String {
        let hint =
            switch (bytes.first, bytes.dropFirst().first) {
            case (0xEF, 0xBB): " (a UTF-8 byte order mark: strip it)"
            case (0xFE, 0xFF), (0xFF, 0xFE), (0, _), (_, 0): " (UTF-16? send UTF-8)"
            default: ""
            }
        let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) }
        let digits = bytes.map { [$0].hexadecimal }.joined(separator: " ")
        let shown = isText ? "'\(String(decoding: bytes, as: UTF8.self))'" : "the bytes \(digits)"
        let beginning = bytes.isEmpty ? "it does not begin as a token does" : "it begins with \(shown)\(hint)"
        return "\(beginning); expected <signatureInfo>, that in Base64 or percent-encoded, "
            + "a REST v1 <play>, or REST JSON"
    }
}

extension EnvelopeError.DocumentError {
    fileprivate var message: String {
        switch self {
        case .xml(let refusal): "it \(refusal.message)"
        case .json(let problem): problem.reason
        case .unexpected(let what): "it has \(what)"
        }
    }
}
