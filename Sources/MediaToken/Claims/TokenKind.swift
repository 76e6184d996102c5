internal import TokenXML

/// The three kinds of token that Adobe Pass signs with the same key and the same envelope.
public enum TokenKind: String, Sendable, CaseIterable {
    /// The short media token: one play of one resource. The only kind that ever opens a stream.
    case media
    /// AuthN: the viewer is logged in at an MVPD. Bound to a device.
    case authentication = "authn"
    /// AuthZ: the viewer may see a resource. Bound to a device.
    case authorization = "authz"

    /// The root elements that mark this kind. Both names of a media token are Adobe's: real tokens carry the first,
    /// the documents the second.
    package var roots: [String] { [rootNames.0, rootNames.1].compactMap { $0.map { "\($0)" } } }

    private var rootNames: (StaticString, StaticString?) {
        switch self {
        case .media: ("authToken", "shortAuthorizationToken")
        case .authentication: ("simpleAuthenticationToken", nil)
        case .authorization: ("simpleAuthorizationToken", nil)
        }
    }

    /// How people call it, with the article: for messages.
    public var title: String {
        switch self {
        case .media: "a media token"
        case .authentication: "an AuthN token"
        case .authorization: "an AuthZ token"
        }
    }

    /// `nil` where the root's name is that of no kind.
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
