internal import Basics
package import ClaimsStage

extension PolicyCheck {
    /// The checks in the order in which they are made; the first that fails decides the verdict.
    package static let inOrder = [window, requestor, resource, mvpd]

    /// `issueTime − skew ≤ now ≤ issueTime + TTL + skew`, to the millisecond. The TTL is the signed `ttl`, limited to
    /// ``VerificationPolicy/maximumTTL``, or ``VerificationPolicy/defaultTTL`` if the token has none.
    static let window = PolicyCheck(
        .window,
        failure: { policy, claims, _, now in
            if now < claims.issueTime.timestamp.advanced(byMilliseconds: -policy.clockSkewMilliseconds) {
                let window = policy.window(of: claims, at: now)
                return PolicyFailure(
                    .tokenNotYetValid,
                    advice: "check this machine's clock; if it is right, the skew allowed may be too small"
                ) { window.message }
            }
            if now > policy.expiry(of: claims).advanced(byMilliseconds: policy.clockSkewMilliseconds) {
                let window = policy.window(of: claims, at: now)
                return PolicyFailure(
                    .tokenExpired,
                    advice: "fetch a new token for each play; if it was fresh, check this machine's clock"
                ) { window.message }
            }
            return nil
        },
        signed: { policy, claims, _, now in policy.window(of: claims, at: now).summary },
        note: { policy, claims, _, now in policy.window(of: claims, at: now).conditions })

    /// The token was issued to one of the expected requestors, compared byte for byte.
    static let requestor = PolicyCheck(
        .requestor,
        failure: { _, claims, expectation, _ in
            expectation.requestors.contains(claims.requestor)
                ? nil : .requestor(signed: claims.requestor, expected: expectation.requestors)
        },
        signed: { _, claims, _, _ in "'\(claims.requestor)'" })

    /// The token is for the expected resource, by the comparison that the caller chose.
    static let resource = PolicyCheck(
        .resource,
        failure: { _, claims, expectation, _ in
            expectation.resource.matches(claims.resource)
                ? nil : .resource(signed: claims.resource, expected: expectation.resource)
        },
        signed: { _, claims, _, _ in "'\(claims.resource)'" },
        exemption: { _, _, expectation, _ in
            expectation.resource.comparison == .unchecked ? "any resource is allowed" : nil
        })

    /// The MVPD, and the proxy in front of it if there is one, are on the requestor's allow-list.
    ///
    /// A requestor without an allow-list is not restricted. In Adobe's words, where the issuer is the MVPD, a token is
    /// valid only if "its issuer is among the allowed identity providers".
    static let mvpd = PolicyCheck(
        .mvpd,
        failure: { policy, claims, _, _ in
            guard let allowed = policy.allowedMVPDs[claims.requestor] else { return nil }
            if !allowed.contains(claims.mvpd) {
                if let proxy = claims.proxyMVPD, allowed.contains(proxy) {
                    return .exchangedMVPDs(signed: claims.mvpd, proxy: proxy, for: claims.requestor)
                }
                return .mvpd(in: .mvpdID, signed: claims.mvpd, allowed: allowed, for: claims.requestor)
            }
            if let proxy = claims.proxyMVPD, !allowed.contains(proxy) {
                return .mvpd(in: .proxyMVPDID, signed: proxy, allowed: allowed, for: claims.requestor)
            }
            return nil
        },
        signed: { _, claims, _, _ in
            "'\(claims.mvpd)'" + (claims.proxyMVPD.map { " by way of proxy '\($0)'" } ?? "")
        },
        exemption: { policy, claims, _, _ in
            policy.allowedMVPDs[claims.requestor] == nil
                // Unreached: The properties' requestors have allow-lists where a token is examined.
                ? "requestor '\(claims.requestor)' has no allow-list" : nil
        })
}

extension PolicyFailure {
    /// A token of another requestor.
    package static func requestor(signed: RequestorID, expected: [RequestorID]) -> PolicyFailure {
        PolicyFailure(.invalidRequestorID, advice: "use the requestor ID that the app passes to setRequestor") {
            "signed for requestor '\(signed)'; expected \(printableList(expected.map(\.description)))"
                + likeness(of: signed.text, among: expected.map(\.text))
        }
    }

    /// A token for another resource.
    package static func resource(signed: ResourceID, expected: ResourceRule) -> PolicyFailure {
        let isMarkup = signed.text.utf8.first == UInt8(ascii: "<") && expected.comparison == .exact
        let advice =
            "use the resource that the app passes to getAuthorization, byte for byte"
            + (isMarkup ? "; if only the form of the XML differs, compare it canonically" : "")
        return PolicyFailure(.invalidResourceID, advice: advice) {
            // Unreached: The properties ask for no message of a resource; tests do.
            guard let nearest = ResourceDifference(between: signed, and: expected) else {
                return "signed for resource '\(signed)'; no resource is expected"
            }
            let wanted = printableList(expected.resources.map(\.description))
            let which = expected.resources.count > 1 ? " (nearest: '\(nearest.expected)')" : ""
            let values = "signed for resource '\(signed)'; expected \(wanted)\(which)"
            return nearest.comesFirst ? "\(nearest.message); \(values)" : "\(values); \(nearest.message)"
        }
    }

    fileprivate static func mvpd(
        in field: MediaTokenField, signed: MVPDID, allowed: Set<MVPDID>, for requestor: RequestorID
    ) -> PolicyFailure {
        PolicyFailure(
            .invalidMVPDID, advice: "add the MVPD to the requestor's allow-list, if it is meant to be on it"
        ) {
            "\(field.name) is '\(signed)'; requestor '\(requestor)' allows "
                + printableList(allowed.map(\.description).sorted())
                + likeness(of: signed.text, among: allowed.map(\.text))
        }
    }

    /// The MVPD is not on the allow-list but its proxy is, so the token may have them exchanged.
    fileprivate static func exchangedMVPDs(
        signed: MVPDID, proxy: MVPDID, for requestor: RequestorID
    ) -> PolicyFailure {
        let advice =
            "fetch a new token; if a new one has them exchanged too, report it to Adobe, and do not allow the proxy as an MVPD"
        return PolicyFailure(.invalidMVPDID, advice: advice) {
            "mvpdId is '\(signed)', which requestor '\(requestor)' does not allow, but proxyMvpdId is '\(proxy)', "
                + "which it does; the two may be exchanged, as REST API v2 had them before Adobe Pass 3.4.0 (September 2025)"
        }
    }

    /// The end of a message, if one of the expected values looks like the signed one; empty otherwise.
    private static func likeness(of signed: String, among values: [String]) -> String {
        // Unreached: The properties ask for no message of a requestor or an MVPD; tests do.
        let found = values.lazy.compactMap { value in TextLikeness(of: value, and: signed).map { (value, $0) } }.first
        // Unreached: The properties ask for no message of a requestor or an MVPD; tests do.
        guard let (value, likeness) = found else { return "" }
        return values.count == 1 ? "; \(likeness.rawValue)" : "; as for '\(printable(value))', \(likeness.rawValue)"
    }
}
