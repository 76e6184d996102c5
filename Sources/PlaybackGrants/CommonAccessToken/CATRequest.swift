internal import TextEncodings
public import Timestamps

/// The request that a token must open.
public struct CATRequest: Sendable {
    /// Upper case; `nil` where it is not known: then a token that names some is refused.
    public var method: String?
    /// `nil` where it is not known: then a token that names one is refused.
    public var scheme: String?
    /// The same.
    public var host: String?
    /// Decoded, without its query, and without anything that could be read in two ways.
    public var path: String

    /// What is asked.
    public init(method: String?, scheme: String? = nil, host: String? = nil, path: String) {
        (self.method, self.scheme, self.host, self.path) = (method, scheme, host, path)
    }
}

extension CATClaims {
    /// What is looked at beyond format and key, in this order.
    static let checks: [GrantCheck.Subject] = [.begin, .end, .issuer, .method, .scope]

    /// The first thing that keeps them from opening `request` now; `nil` where nothing does.
    ///
    /// - Parameter issuer: who must have made them; `nil` for anybody with the key.
    public func refusal(of request: CATRequest, issuer: String?, at now: Timestamp) -> CATRefusal? {
        for check in Self.checks {
            if let refusal = refusal(check, of: request, issuer: issuer, at: now) { return refusal }
        }
        return nil
    }

    /// The same by one check.
    func refusal(
        _ check: GrantCheck.Subject, of request: CATRequest, issuer expected: String?, at now: Timestamp
    ) -> CATRefusal? {
        let seconds = now.milliseconds / 1000
        switch check {
        case .begin: return notBefore.flatMap { seconds < $0 ? .notYetValid(from: $0, now: seconds) : nil }
        case .end:
            guard let expires else { return .noEnd }
            return seconds < expires ? nil : .expired(at: expires, now: seconds)
        case .issuer:
            guard let expected, issuer.map({ $0.hasSameBytes(as: expected) }) != true else { return nil }
            return .otherIssuer(issuer)
        case .method:
            guard let methods else { return nil }
            if let method = request.method, methods.contains(where: { $0.hasSameBytes(as: method) }) { return nil }
            let given = request.method.map { "not '\(printable($0))'" } ?? "and nobody says which one is meant"
            return .outOfScope("for the methods \(printable(methods.joined(separator: ", "))), \(given)")
        case .scope: return scope.difference(from: request).map { .outOfScope($0) }
        case .format, .key, .ip: return nil
        }
    }
}

extension CATScope {
    func difference(from request: CATRequest) -> String? {
        for (name, wanted, given) in [
            ("scheme", scheme, request.scheme), ("host", host, request.host), ("path", path, request.path),
        ] {
            guard let wanted, given.map({ $0.hasSameBytes(as: wanted) }) != true else { continue }
            return "for the \(name) '\(printable(wanted))', not '\(printable(given ?? "(unknown)"))'"
        }
        if let pathPrefix, !request.path.utf8.starts(with: pathPrefix.utf8) {
            return "for paths that begin with '\(printable(pathPrefix))', not '\(printable(request.path))'"
        }
        return nil
    }
}
