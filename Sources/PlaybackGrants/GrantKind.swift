internal import Basics

/// A kind of playback grant, such as CloudFront's.
package struct GrantKind: Sendable, Equatable {
    package let scheme: any GrantScheme.Type

    package init(_ scheme: any GrantScheme.Type) { self.scheme = scheme }

    /// All kinds, in the order in which `--help` lists them.
    package static let all = [
        GrantKind(AkamaiToken.self), GrantKind(CloudFrontGrant.self), GrantKind(SecureLink.self),
        GrantKind(CommonAccessToken.self),
    ]

    package var name: String { scheme.kind }

    /// The names of all kinds, for a message.
    package static var names: String { all.map(\.name).joined(separator: ", ") }

    package static func named(_ name: String) -> GrantKind? { all.first { $0.name.hasSameBytes(as: name) } }

    package static func == (left: Self, right: Self) -> Bool { left.name.hasSameBytes(as: right.name) }
}
