/// The claims of a Common Access Token (CTA-5007) that are understood here.
///
/// A token with any other claim is refused: it restricts something that we could not honour.
public struct CATClaims: Equatable, Sendable {
    /// `iss`: who made it.
    public var issuer: String?
    /// `exp`: seconds since 1970 from which on it opens nothing.
    public var expires: Int64?
    /// `nbf`: seconds since 1970 before which it opens nothing.
    public var notBefore: Int64?
    /// `iat`: seconds since 1970 when it was made.
    public var issuedAt: Int64?
    /// `cti`: its own ID.
    public var identifier: [UInt8]?
    /// `catu`: what it opens; empty for all.
    public var scope = CATScope()
    /// `catm`: with which methods; `nil` for all.
    public var methods: [String]?
    /// `catr`: how a CDN may renew it. The gate does not.
    public var renewal: CATRenewal?

    /// None of them.
    public init() {}
}

/// `catu`: the URLs that a token opens. A part that is `nil` may be anything.
public struct CATScope: Equatable, Sendable {
    /// Exactly this scheme.
    public var scheme: String?
    /// Exactly this host.
    public var host: String?
    /// A path that begins with this.
    public var pathPrefix: String?
    /// Exactly this path.
    public var path: String?

    /// None of them.
    public init() {}

    var namesPath: Bool { path != nil || pathPrefix != nil }

    /// Whether it opens every URL.
    public var isEmpty: Bool { self == CATScope() }
}

/// `catr`: whoever serves the stream may hand out a token that holds for longer.
public struct CATRenewal: Equatable, Sendable {
    /// How the new token travels.
    public enum Kind: Int64, Sendable, CaseIterable {
        case automatic = 0, cookie, header, redirect
    }

    /// How the new token travels.
    public var kind: Kind
    /// Seconds that the new one holds.
    public var seconds: Int64
    /// Seconds before the end from which on it is renewed; `nil` for whoever renews it to say.
    public var deadline: Int64?

    /// A renewal for so many seconds.
    public init(kind: Kind, seconds: Int64, deadline: Int64? = nil) {
        (self.kind, self.seconds, self.deadline) = (kind, seconds, deadline)
    }
}

/// Labels: RFC 8392, 4 up to 7; CTA-5007 beyond.
enum CATLabel {
    static let (issuer, expires, notBefore, issuedAt, identifier) = (Int64(1), Int64(4), Int64(5), Int64(6), Int64(7))
    static let (version, scope, methods, renewal) = (Int64(310), Int64(312), Int64(313), Int64(323))
    static let (scheme, host, path) = (Int64(0), Int64(1), Int64(3))
    static let (exactly, prefix) = (Int64(0), Int64(1))
    static let (kind, seconds, deadline) = (Int64(0), Int64(1), Int64(2))
}

extension CATClaims {
    /// Reads them all, or says which is not understood.
    init(_ value: CBORValue) throws(CATRefusal) {
        guard let claims = value.labels else { throw .malformed("its claims are no map of numbered claims") }
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

    /// Whether there is a value; then it is kept.
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
    /// `nil` for what matches in another way than ours.
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
    }
}
