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

    /// - Parameters:
    ///   - isInclusive: Whether the grant is still valid in its last second.
    ///   - limit: The limit of the CDN; `nil` if it reads every number.
    func end(_ moment: Int64, isInclusive: Bool, _ limit: TimeLimit? = nil) -> GrantCheck {
        if let problem = limit?.problem(of: moment) { return GrantCheck(.end, false, "holds until \(problem)") }
        return GrantCheck(
            .end, isInclusive ? seconds <= moment : seconds < moment,
            "holds until \(moment.secondsAsDate); it is \(seconds.secondsAsDate)")
    }

    /// The check of the only address that may use a grant, which the CDN compares. Nobody knows whether it takes two
    /// spellings of one address for the same, or reads a network.
    func ip(onlyFrom allowed: String?) -> GrantCheck? {
        guard let allowed else { return nil }
        return GrantCheck(.ip, ip.flatMap { Self.isSame($0, allowed) }, detail(of: allowed))
    }

    private static func isSame(_ ip: String, _ allowed: String) -> Bool? {
        if ip.hasSameBytes(as: allowed) { return true }
        guard let ip = IPAddress(ip), let allowed = IPAddress(allowed), ip != allowed else { return nil }
        return false
    }

    /// The check of the network whose addresses may use a grant.
    func ip(within allowed: String?) -> GrantCheck? {
        guard let allowed else { return nil }
        // CloudFront reads addresses of IPv4 alone (Amazon CloudFront Developer Guide, "Create a signed URL using a
        // custom policy", IpAddress).
        guard let network = IPNetwork(allowed), network.isShort else {
            return GrantCheck(
                .ip, false, detail(of: allowed) + "; expected an IPv4 address, or a network as 192.0.2.0/24")
        }
        return GrantCheck(.ip, ip.flatMap(IPNetwork.init).map(network.contains), detail(of: allowed))
    }

    private func detail(of allowed: String) -> String {
        guard let ip else { return "for \(printable(allowed))" }
        let isAddress = IPNetwork(ip) != nil
        return "for \(printable(allowed)); asked from \(printable(ip))" + (isAddress ? "" : ", which is no address")
    }
}
