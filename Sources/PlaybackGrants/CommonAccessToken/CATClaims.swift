/// The claims of a Common Access Token (CTA-5007) that are understood here.
///
/// A token with any other claim is rejected, because that claim may be a restriction that would be ignored.
public struct CATClaims: Equatable, Sendable {
    /// `iss`: the token's issuer.
    public var issuer: String?
    /// `exp`: the expiry in seconds since 1970; at that time the token no longer opens anything.
    public var expires: Int64?
    /// `nbf`: the start in seconds since 1970; before that time the token opens nothing.
    public var notBefore: Int64?
    /// `iat`: the issue time in seconds since 1970.
    public var issuedAt: Int64?
    /// `cti`: the token's own ID.
    public var identifier: [UInt8]?
    /// `catu`: the URLs that the token opens; empty if it opens all.
    public var scope = CATScope()
    /// `catm`: the methods that the token allows; `nil` if it allows all.
    public var methods: [String]?
    /// `catr`: how a CDN or the gate may renew the token.
    public var renewal: CATRenewal?

    /// Creates an empty set of claims.
    public init() {}
}

/// `catu`: the URLs that a token opens. A part that is `nil` is not restricted.
public struct CATScope: Equatable, Sendable {
    /// The scheme that a URL must have.
    public var scheme: String?
    /// The host that a URL must have.
    public var host: String?
    /// The text that a URL's path must begin with.
    public var pathPrefix: String?
    /// The path that a URL must have.
    public var path: String?

    /// Creates a scope that opens every URL.
    public init() {}

    /// Whether the scope opens every URL.
    public var isEmpty: Bool { self == CATScope() }
}

/// `catr`: the terms on which a CDN or the gate may replace a token with one that expires later.
public struct CATRenewal: Equatable, Sendable {
    /// How the new token is delivered.
    public enum Kind: Int64, Sendable, CaseIterable {
        /// The claim names no way of delivery. A CDN renews the token in its own way, and the gate as a cookie.
        case automatic = 0
        /// The new token is set as a cookie.
        case cookie
        /// The new token is sent in a header of the response; the gate leaves that to a CDN.
        case header
        /// The client is redirected to a URL with the new token; the gate leaves that to a CDN.
        case redirect
    }

    /// How the new token is delivered.
    public var kind: Kind
    /// The lifetime of the new token in seconds, from its renewal.
    public var seconds: Int64
    /// How many seconds before the expiry the renewal's time comes; `nil` if the party that renews may choose.
    public var deadline: Int64?
    /// Whether the claim that was read has nothing else, such as the parameters of a cookie.
    private(set) var isWhole = true

    /// Creates a renewal for this number of seconds.
    public init(kind: Kind, seconds: Int64, deadline: Int64? = nil) {
        (self.kind, self.seconds, self.deadline) = (kind, seconds, deadline)
    }
}

/// The labels of claims. Those up to 7 are from RFC 8392, 4; the others are from CTA-5007.
enum CATLabel {
    static let (issuer, expires, notBefore, issuedAt, identifier) = (Int64(1), Int64(4), Int64(5), Int64(6), Int64(7))
    static let (version, scope, methods, renewal) = (Int64(310), Int64(312), Int64(313), Int64(323))
    static let (scheme, host, path) = (Int64(0), Int64(1), Int64(3))
    static let (exactly, prefix) = (Int64(0), Int64(1))
    static let (kind, seconds, deadline) = (Int64(0), Int64(1), Int64(2))

    /// The names of the claims that are understood.
    static let names = [
        issuer: "iss", expires: "exp", notBefore: "nbf", issuedAt: "iat", identifier: "cti", version: "catv",
        scope: "catu", methods: "catm", renewal: "catr",
    ]
}

extension CATClaims {
    /// Reads all claims. If one is not understood, it throws ``CATError/unknownClaim(_:)``.
    init(_ value: CBORValue) throws(CATError) {
        guard let claims = value.labels else { throw .malformed("its claims are not a map with numbers as keys") }
        self.init()
        for (label, value) in claims {
            let isUnderstood =
                switch label {
                case CATLabel.issuer: Self.keep(&issuer, value.text)
                case CATLabel.expires: Self.keep(&expires, value.integer)
                case CATLabel.notBefore: Self.keep(&notBefore, value.integer)
                case CATLabel.issuedAt: Self.keep(&issuedAt, value.integer)
                case CATLabel.identifier: Self.keep(&identifier, value.bytes)
                case CATLabel.version: value.integer == 1
                case CATLabel.scope: Self.keep(&scope, CATScope(value))
                case CATLabel.methods: Self.keep(&methods, Self.methods(value))
                case CATLabel.renewal: Self.keep(&renewal, CATRenewal(value))
                default: false
                }
            guard isUnderstood else { throw .unknownClaim(label) }
        }
    }

    /// Stores `value` in `claim`. Returns whether there is a value.
    private static func keep<Value>(_ claim: inout Value?, _ value: Value?) -> Bool {
        claim = value
        return value != nil
    }

    private static func keep(_ scope: inout CATScope, _ value: CATScope?) -> Bool {
        scope = value ?? scope
        return value != nil
    }

    private static func methods(_ value: CBORValue) -> [String]? {
        guard let items = value.array else { return nil }
        let methods = items.compactMap(\.text)
        return methods.count == items.count ? methods : nil
    }
}

extension CATScope {
    /// Reads a scope. The result is `nil` if it has a part or a kind of match that is not understood here.
    fileprivate init?(_ value: CBORValue) {
        guard let parts = value.labels else { return nil }
        self.init()
        for (part, value) in parts {
            guard let matches = value.labels, !matches.isEmpty else { return nil }
            for (how, value) in matches {
                guard let text = value.text else { return nil }
                switch (part, how) {
                case (CATLabel.scheme, CATLabel.exactly): scheme = text
                case (CATLabel.host, CATLabel.exactly): host = text
                case (CATLabel.path, CATLabel.exactly): path = text
                case (CATLabel.path, CATLabel.prefix): pathPrefix = text
                default: return nil
                }
            }
        }
    }
}

extension CATRenewal {
    fileprivate init?(_ value: CBORValue) {
        guard let parts = value.labels else { return nil }
        var numbers: [Int64: Int64] = [:]
        for (label, value) in parts where (CATLabel.kind...CATLabel.deadline).contains(label) {
            numbers[label] = value.integer
        }
        guard let kind = numbers[CATLabel.kind].flatMap(Kind.init), let seconds = numbers[CATLabel.seconds] else {
            return nil
        }
        self.init(kind: kind, seconds: seconds, deadline: numbers[CATLabel.deadline])
        isWhole = numbers.count == parts.count
    }
}
