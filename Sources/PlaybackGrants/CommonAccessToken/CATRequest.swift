public import Basics

/// A request to a stream, for which a Common Access Token is checked.
public struct CATRequest: Sendable {
    /// The method in upper case; `nil` if it is not known, and then a token that names methods is rejected.
    public var method: String?
    /// The scheme; `nil` if it is not known, and then a token that names a scheme is rejected.
    public var scheme: String?
    /// The host; `nil` if it is not known, and then a token that names a host is rejected.
    public var host: String?
    /// The decoded path, without its query and without anything that two programs could read differently.
    public var path: String

    /// Creates a request from its parts.
    public init(method: String?, scheme: String? = nil, host: String? = nil, path: String) {
        (self.method, self.scheme, self.host, self.path) = (method, scheme, host, path)
    }
}

extension CATClaims {
    /// The checks after those of format and key, in this order.
    static let checks: [GrantCheck.Subject] = [.begin, .end, .issuer, .method, .scope]

    /// The first reason why the claims do not allow `request` now; `nil` if they allow it.
    ///
    /// - Parameters:
    ///   - request: The request that a client makes.
    ///   - issuer: The issuer that the claims must name; `nil` if any holder of the key may have made the token.
    ///   - now: The time of the request.
    public func refusal(of request: CATRequest, issuer: String?, at now: Timestamp) -> CATError? {
        for check in Self.checks {
            if let refusal = refusal(check, of: request, issuer: issuer, at: now) { return refusal }
        }
        return nil
    }

    /// The reason why the claims do not allow the request, by one check; `nil` if that check passes.
    func refusal(
        _ check: GrantCheck.Subject, of request: CATRequest, issuer expected: String?, at now: Timestamp
    ) -> CATError? {
        let seconds = now.wholeSeconds
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
            let given = request.method.map { "not '\(printable($0))'" } ?? "and the method of the request is not known"
            return .outOfScope("for the methods \(printable(methods.joined(separator: ", "))), \(given)")
        case .scope: return scope.difference(from: request).map { .outOfScope($0) }
        // Unreached: Subjects that are not among the checks of claims; the switch must name them.
        case .format, .key, .ip: return nil
        }
    }
}

extension CATScope {
    /// Why the scope does not cover a request; `nil` if it does.
    func difference(from request: CATRequest) -> String? {
        for (name, wanted, given) in [
            ("scheme", scheme, request.scheme), ("host", host, request.host), ("path", path, request.path),
        ] {
            guard let wanted, given.map({ $0.hasSameBytes(as: wanted) }) != true else { continue }
            let other = given.map { "not '\(printable($0))'" } ?? "and that of the request is not known"
            return "for the \(name) '\(printable(wanted))', \(other)"
        }
        if let pathPrefix, !request.path.utf8.starts(with: pathPrefix.utf8) {
            return "for paths that begin with '\(printable(pathPrefix))', not '\(printable(request.path))'"
        }
        return nil
    }
}
