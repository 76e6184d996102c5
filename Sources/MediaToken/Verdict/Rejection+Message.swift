internal import TextEncodings
internal import TokenCrypto

extension Rejection {
    /// One line: the two values that differ, and where. Made when it is asked for.
    public var message: String {
        switch reason {
        case .format(let problem): problem.message
        case .signature(let length, let keys): Self.signature(length, keys)
        case .keyOutsideValidity(let name, let validity, let now):
            "signed by \(name), whose certificate is valid from \(TokenDate(validity.lowerBound)) to "
                + "\(TokenDate(validity.upperBound)), and it is \(TokenDate(now))"
        case .notYetValid(let window): window.notYetValidMessage
        case .expired(let window): window.expiredMessage
        case .requestor(let signed, let expected):
            "signed for requestor '\(signed)'; expected \(printableList(expected.map(\.description)))"
        case .resource(let signed, let expected): Self.resource(signed, expected)
        case .mvpd(let field, let signed, let allowed, let requestor):
            "\(field) is '\(signed)'; requestor '\(requestor)' allows "
                + printableList(allowed.map(\.description).sorted())
        case .alreadyUsed: "this token was used before; a media token opens one play"
        case .predatesStore(let issued, let since):
            "issued \(issued), and the replay store knows every use only of tokens issued from "
                + "\(TokenDate(since, offset: issued.offset)) on: it cannot be shown unused"
        }
    }

    /// One line: what to do about it.
    public var advice: String {
        switch reason {
        case .format(.denied): "the viewer is not authorized: show Adobe's message, do not retry"
        case .format(.otherKind): "ask Adobe Pass for a media token (getAuthorization, or REST /tokens/media)"
        case .format: "pass the token on exactly as Adobe Pass returned it"
        case .signature:
            "load the key of the environment that issued it (production and staging differ), and check that nothing "
                + "altered the token on its way"
        case .keyOutsideValidity:
            "load the key that Adobe Pass signs with now; if the certificate should be valid, check this machine's clock"
        case .notYetValid: "check this machine's clock; if it is right, the skew allowed may be too small"
        case .expired: "fetch a new token for each play; if it was fresh, check this machine's clock"
        case .requestor: "use the requestor ID that the app passes to setRequestor"
        case .resource: "use the resource that the app passes to getAuthorization, byte for byte"
        case .mvpd: "add the MVPD to the requestor's allow-list, if it is meant to be on it"
        case .alreadyUsed: "fetch a new token for each play, and never cache one"
        case .predatesStore:
            "fetch a new token once that time has come: a store that begins anew is fenced for as long as clocks may be apart"
        }
    }

    private static func signature(_ length: Int, _ keys: [VerificationKey]) -> String {
        let names = printableList(keys.map { "\($0.name), \($0.bits) bits" })
        guard keys.contains(where: { $0.publicKey.signatureLength == length }) else {
            return "the signature has \(length) bytes (RSA with \(length * 8) bits); the loaded keys are \(names)"
        }
        return "no loaded key verifies it; tried \(names)"
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
