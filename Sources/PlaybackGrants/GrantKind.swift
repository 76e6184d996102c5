internal import Basics

extension GrantKind {
    /// All kinds, in the order in which `--help` lists them.
    package static let all = [AkamaiToken.kind, CloudFrontGrant.kind, SecureLink.kind, CommonAccessToken.kind]

    /// The names of all kinds, for a message.
    package static var names: String { all.map(\.name).joined(separator: ", ") }

    package static func named(_ name: String) -> GrantKind? { all.first { $0.name.hasSameBytes(as: name) } }
}
