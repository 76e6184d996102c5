package import ClaimsStage
internal import TextEncodings

/// Why a policy does not approve a token, with the values that differ.
///
/// The enum is indirect, so that a result is no larger than a reference: most tokens are approved.
package indirect enum PolicyError: Error, Sendable {
    case notYetValid(TimeWindow)
    case expired(TimeWindow)
    case requestor(signed: RequestorID, expected: [RequestorID])
    case resource(signed: ResourceID, expected: ResourceRule)
    case mvpd(field: String, signed: MVPDID, allowed: Set<MVPDID>, for: RequestorID)

    /// One line that names the values that differ.
    package var message: String {
        switch self {
        case .notYetValid(let window): window.notYetValidMessage
        case .expired(let window): window.expiredMessage
        case .requestor(let signed, let expected):
            "signed for requestor '\(signed)'; expected \(printableList(expected.map(\.description)))"
        case .resource(let signed, let expected): Self.resource(signed, expected)
        case .mvpd(let field, let signed, let allowed, let requestor):
            "\(field) is '\(signed)'; requestor '\(requestor)' allows "
                + printableList(allowed.map(\.description).sorted())
        }
    }

    private static func resource(_ signed: ResourceID, _ expected: ResourceRule) -> String {
        guard let nearest = ResourceDifference(between: signed, and: expected) else {
            return "signed for resource '\(signed)'; no resource is expected"
        }
        let wanted = printableList(expected.resources.map(\.description))
        let which = expected.resources.count > 1 ? " (nearest: '\(nearest.expected)')" : ""
        return "signed for resource '\(signed)'; expected \(wanted)\(which); \(nearest.message)"
    }
}
