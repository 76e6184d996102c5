internal import TextEncodings
public import Timestamps

/// The result of one check of a grant.
public struct GrantCheck: Equatable, Sendable {
    /// The subjects of checks, in the order in which the results are listed.
    public enum Subject: String, Sendable {
        /// The grant has the form of its kind.
        case format
        /// The grant was made with the given grant key.
        case key
        /// The grant's start has come.
        case begin
        /// The grant has not expired.
        case end
        /// The grant names the expected issuer.
        case issuer
        /// The grant covers the request's method.
        case method
        /// The grant covers the client's address.
        case ip
        /// The grant covers the requested URL or path.
        case scope
    }

    /// The subject of the check.
    public let subject: Subject
    /// Whether the grant passes the check; `nil` if the question contains nothing to compare with.
    public let isPassed: Bool?
    /// The values that were compared.
    public let detail: String

    package init(_ subject: Subject, _ isPassed: Bool?, _ detail: String) {
        (self.subject, self.isPassed, self.detail) = (subject, isPassed, detail)
    }

    /// A failed check, for an expiry that no grant can have.
    static func impossible(_ end: Int64) -> GrantCheck {
        GrantCheck(.end, false, "holds until \(end); expected seconds since 1970, before the year 10000")
    }
}

extension [GrantCheck] {
    /// Whether no check failed and the key was confirmed. If the key is not confirmed, anybody may have made the grant.
    public var opens: Bool {
        allSatisfy { $0.isPassed != false } && contains { $0.subject == .key && $0.isPassed == true }
    }
}

/// The request that a grant is checked for. Parts that are `nil` are not compared.
public struct GrantQuestion: Sendable {
    /// The time at which the grant is used.
    public var now: Timestamp
    /// The requested URL, or only its path if the grant covers paths.
    public var url: String?
    /// The client's address.
    public var ip: String?
    /// The request's method in upper case.
    public var method: String?
    /// The issuer that the grant must name.
    public var issuer: String?

    /// Creates a question that contains only the time.
    public init(at now: Timestamp) { self.now = now }

    /// The time of use in seconds since 1970.
    var seconds: Int64 { now.wholeSeconds }

    func begin(_ moment: Int64?) -> GrantCheck? {
        moment.map {
            GrantCheck(.begin, $0 <= seconds, "holds from \($0.secondsAsDate) on; it is \(seconds.secondsAsDate)")
        }
    }

    /// - Parameter isInclusive: Whether the grant is still valid in its last second.
    func end(_ moment: Int64, isInclusive: Bool) -> GrantCheck {
        GrantCheck(
            .end, isInclusive ? seconds <= moment : seconds < moment,
            "holds until \(moment.secondsAsDate); it is \(seconds.secondsAsDate)")
    }

    func ip(_ allowed: String?) -> GrantCheck? {
        guard let allowed else { return nil }
        let isSame = ip.map { $0.hasSameBytes(as: allowed) }
        // This check does not decide whether an address is in a network.
        let isNetwork = allowed.utf8.contains(UInt8(ascii: "/"))
        return GrantCheck(
            .ip, isNetwork && isSame == false ? nil : isSame,
            "for \(printable(allowed))" + (ip.map { "; asked from \(printable($0))" } ?? ""))
    }
}
