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
    /// The MVPD is not on the allow-list but its proxy is, so the token may have them exchanged.
    case exchangedMVPDs(signed: MVPDID, proxy: MVPDID, for: RequestorID)

    /// One line that names the values that differ.
    package var message: String {
        switch self {
        case .notYetValid(let window), .expired(let window): window.message
        case .requestor(let signed, let expected):
            "signed for requestor '\(signed)'; expected \(printableList(expected.map(\.description)))"
                + Self.likeness(of: signed.text, among: expected.map(\.text))
        case .resource(let signed, let expected): Self.resource(signed, expected)
        case .mvpd(let field, let signed, let allowed, let requestor):
            "\(field) is '\(signed)'; requestor '\(requestor)' allows "
                + printableList(allowed.map(\.description).sorted())
                + Self.likeness(of: signed.text, among: allowed.map(\.text))
        case .exchangedMVPDs(let signed, let proxy, let requestor):
            "mvpdId is '\(signed)', which requestor '\(requestor)' does not allow, but proxyMvpdId is '\(proxy)', "
                + "which it does; the two may be exchanged, as REST API v2 had them before Adobe Pass 3.4.0 (September 2025)"
        }
    }

    /// What to add to a message about values of which one looks like the signed one.
    private static func likeness(of signed: String, among values: [String]) -> String {
        let found = values.lazy.compactMap { value in TextLikeness(of: value, and: signed).map { (value, $0) } }.first
        guard let (value, likeness) = found else { return "" }
        return values.count == 1 ? "; \(likeness.rawValue)" : "; as for '\(printable(value))', \(likeness.rawValue)"
    }

    private static func resource(_ signed: ResourceID, _ expected: ResourceRule) -> String {
        guard let nearest = ResourceDifference(between: signed, and: expected) else {
            return "signed for resource '\(signed)'; no resource is expected"
        }
        let wanted = printableList(expected.resources.map(\.description))
        let which = expected.resources.count > 1 ? " (nearest: '\(nearest.expected)')" : ""
        let values = "signed for resource '\(signed)'; expected \(wanted)\(which)"
        return nearest.comesFirst ? "\(nearest.message); \(values)" : "\(values); \(nearest.message)"
    }
}
