internal import Basics
package import TokenXML

/// Why the signed XML is not that of a media token.
package enum ClaimsError: Error, Equatable, Sendable {
    case xml(XMLError)
    case unknownRoot(String)
    /// The root's start tag has more than a plain name: this attribute, prefix or namespace.
    case decoratedRoot(with: String)
    case strayText
    case otherKind(TokenKind)
    case field(XMLFieldError)
    case otherCase(field: String)
    case timeToLive(String)
    case date(field: String, text: String, form: String)
    case overflowingExpiry

    /// One line that says what was expected, what was found, and where.
    package var message: String {
        switch self {
        case .xml(let refusal): "the signed XML \(refusal.message)"
        case .unknownRoot(let name):
            "the signed XML is <\(printable(name, limit: 40))>; expected <authToken> or <shortAuthorizationToken>"
        case .decoratedRoot(let decoration): "the root element has \(decoration); expected a plain name"
        case .strayText: "text between the fields of the token; expected elements only"
        case .otherKind(let kind): "this is \(kind.title); expected a short media token"
        case .field(let refusal):
            refusal.message
                + (lacksRequestor ? "; REST API v2 left it out before Adobe Pass 3.4.0 (September 2025)" : "")
        case .otherCase(let field):
            "<\(field)> is there in other upper and lower case; expected the name as it stands here"
        case .timeToLive(let text):
            "<ttl> is '\(printable(text, limit: 40))'; expected a whole number of milliseconds from 1 to 9223372036854775807"
        case .date(let field, let text, let form):
            "<\(field)> is '\(printable(text, limit: 40))'; expected a date of the form '\(form)'"
        case .overflowingExpiry: "<ttl> puts the expiry beyond the year 9999"
        }
    }

    /// Whether the token has no requestor ID, as REST API v2 issued tokens before Adobe Pass 3.4.0.
    package var lacksRequestor: Bool {
        let field = MediaTokenField.requestorID.name
        return [.missing, .empty].contains { self == .field(XMLFieldError(field, $0)) }
    }
}
