internal import TokenXML

/// The three kinds of token that Adobe Pass signs with the same key and the same envelope.
public enum TokenKind: String, Sendable, CaseIterable {
    /// The short media token, for one play of one resource. It is the only kind that ever opens a stream.
    case media
    /// The AuthN token: the viewer is logged in at an MVPD. It is bound to a device.
    case authentication = "authn"
    /// The AuthZ token: the viewer may see a resource. It is bound to a device.
    case authorization = "authz"

    // Unreached: Names roots to the issuer of test tokens.
    /// The names of the root elements of this kind. A media token has two: real tokens use the first, Adobe's documents
    /// the second.
    package var roots: [String] { [rootNames.0, rootNames.1].compactMap { $0.map { "\($0)" } } }

    private var rootNames: (StaticString, StaticString?) {
        switch self {
        case .media: ("authToken", "shortAuthorizationToken")
        case .authentication: ("simpleAuthenticationToken", nil)
        case .authorization: ("simpleAuthorizationToken", nil)
        }
    }

    /// The kind's common name with its article, for messages.
    public var title: String {
        switch self {
        case .media: "a media token"
        case .authentication: "an AuthN token"
        case .authorization: "an AuthZ token"
        }
    }

    /// Finds the kind by the name of the root element; `nil` if no kind has that name.
    init?(rootOf fields: FieldElements) {
        for kind in Self.allCases {
            let (name, other) = kind.rootNames
            guard !fields.isRootNamed(name), !(other.map { fields.isRootNamed($0) } ?? false) else {
                self = kind
                return
            }
        }
        return nil
    }
}
