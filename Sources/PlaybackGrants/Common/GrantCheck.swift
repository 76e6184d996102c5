public import Basics

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
    /// Whether the grant passes the check; `nil` if the question contains nothing to compare with, or nobody but the
    /// CDN knows.
    public let isPassed: Bool?
    /// Whether the question contains what the check compares, and nobody but the CDN knows its result.
    public let isUndecided: Bool
    /// The values that were compared.
    public let detail: String

    package init(_ subject: Subject, _ isPassed: Bool?, _ detail: String) {
        (self.subject, self.isPassed, self.isUndecided, self.detail) = (subject, isPassed, false, detail)
    }

    /// Creates the result of a check whose inputs are all known; `nil` for one whose result only the CDN knows.
    init(_ subject: Subject, decided isPassed: Bool?, _ detail: String) {
        (self.subject, self.isPassed, isUndecided, self.detail) = (subject, isPassed, isPassed == nil, detail)
    }
}

extension [GrantCheck] {
    /// Whether no check failed or is undecided, and the key was confirmed. If the key is not confirmed, anybody may
    /// have made the grant.
    public var opens: Bool {
        allSatisfy { $0.isPassed != false && !$0.isUndecided } && contains { $0.subject == .key && $0.isPassed == true }
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

    /// The URL, if all programs write its host and read its path in one way. A CDN may resolve any other path before or
    /// after it compares it with a grant.
    var clearURL: String? {
        url.flatMap { url in
            let requested = RequestedURL(url)
            return requested.decodedPath != nil && requested.hasOneSpelling ? url : nil
        }
    }

    /// The check of the key of a grant that is for a URL and does not contain it, if ``clearURL`` is `nil`.
    var unknownKey: GrantCheck {
        guard let url else { return GrantCheck(.key, nil, "unknown: give the URL that it is for") }
        return GrantCheck(.key, decided: nil, "unknown: " + RequestedURL(url).problem)
    }

    /// The check of what a grant opens.
    ///
    /// - Parameters:
    ///   - detail: What the grant opens.
    ///   - unknown: Why it may not be known whether the grant covers the URL.
    ///   - covers: Whether the grant covers the URL; `nil` if it is not known.
    func scope(_ detail: String, unknown: String = "", covers: (String) -> Bool?) -> GrantCheck {
        guard let url else { return GrantCheck(.scope, nil, detail) }
        guard let clearURL else {
            return GrantCheck(.scope, decided: nil, "\(detail); \(RequestedURL(url).problem)")
        }
        let isPassed = covers(clearURL)
        return GrantCheck(
            .scope, decided: isPassed,
            "\(detail); asked for \(printable(url))" + (isPassed == nil ? ", " + unknown : ""))
    }

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
        guard let ip else { return GrantCheck(.ip, nil, detail(of: allowed)) }
        return GrantCheck(.ip, decided: Self.isSame(ip, allowed), detail(of: allowed))
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
        guard let ip else { return GrantCheck(.ip, nil, detail(of: allowed)) }
        return GrantCheck(.ip, decided: IPNetwork(ip).map(network.contains), detail(of: allowed))
    }

    private func detail(of allowed: String) -> String {
        guard let ip else { return "for \(printable(allowed))" }
        let isAddress = IPNetwork(ip) != nil
        // Unreached: Asks for a client whose address is none; the property's question has one.
        return "for \(printable(allowed)); asked from \(printable(ip))" + (isAddress ? "" : ", which is no address")
    }
}
