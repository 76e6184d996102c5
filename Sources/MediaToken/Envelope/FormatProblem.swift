internal import TextEncodings
internal import TokenXML

/// Everything that makes bytes not a media token: the details behind `INVALID_TOKEN_FORMAT`.
///
/// Cases carry positions, names and counts, never a run of the token's own bytes.
enum FormatProblem: Error, Equatable, Sendable {
    enum Document: Error, Equatable, Sendable {
        case xml(XMLRefusal)
        case json(StrictJSON.Problem)
        case unexpected(String)
    }

    enum Envelope: Equatable, Sendable {
        case noSecondTag, noPayload, noSignature, secondSignature
        case signatureBase64(Base64.Problem)
    }

    enum Field: Equatable, Sendable {
        case missing, empty, duplicate, nested, decorated, otherCase
        case timeToLive
        case date(form: String)
        case overflowingExpiry
    }

    case empty
    case tooLarge(Int)
    case unrecognised(firstBytes: [UInt8])
    case wrappedTwice(WrappingLayer)
    case percentEncoding(offset: Int)
    case wrapperBase64(Base64.Problem)
    case document(String, Document)
    /// Adobe's answer is a no, and carries no token.
    case denied(code: String?)
    case envelope(Envelope)
    case xml(XMLRefusal)
    case unknownRoot(String)
    case decoratedRoot
    case strayText
    case otherKind(TokenKind)
    case field(String, Field)
}
