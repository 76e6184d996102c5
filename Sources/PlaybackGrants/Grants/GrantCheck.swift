internal import TextEncodings
public import Timestamps

/// One thing that was looked at in a grant, and what came out.
public struct GrantCheck: Equatable, Sendable {
    /// What was looked at, in the order in which it is told.
    public enum Subject: String, Sendable {
        case format, key, begin, end, issuer, method, ip, scope
    }

    /// What was looked at.
    public let subject: Subject
    /// Whether it allows what was asked; `nil` where nothing was asked that it could be compared with.
    public let isPassed: Bool?
    /// The values that were compared.
    public let detail: String

    init(_ subject: Subject, _ isPassed: Bool?, _ detail: String) {
        (self.subject, self.isPassed, self.detail) = (subject, isPassed, detail)
    }

    /// Of an end that no grant has.
    static func impossible(_ end: Int64) -> GrantCheck {
        GrantCheck(.end, false, "holds until \(end); expected seconds since 1970, before the year 10000")
    }
}

extension [GrantCheck] {
    /// Whether nothing failed, and the key was told to be right: without that a grant may be anybody's.
    public var opens: Bool {
        allSatisfy { $0.isPassed != false } && contains { $0.subject == .key && $0.isPassed == true }
    }
}

/// What a grant is looked at for. What is `nil` is not compared.
public struct GrantQuestion: Sendable {
    /// When it is used.
    public var now: Timestamp
    /// The URL, or the path where the grant is about paths.
    public var url: String?
    /// The address that asks.
    public var ip: String?
    /// Upper case.
    public var method: String?
    /// Who must have made it.
    public var issuer: String?

    /// Asks for nothing but the time.
    public init(at now: Timestamp) { self.now = now }

    /// Seconds since 1970.
    var seconds: Int64 { now.milliseconds / 1000 }

    func begin(_ moment: Int64?) -> GrantCheck? {
        moment.map { GrantCheck(.begin, $0 <= seconds, "holds from \($0) on; it is \(seconds)") }
    }

    /// - Parameter isInclusive: whether it still opens in that second.
    func end(_ moment: Int64, isInclusive: Bool) -> GrantCheck {
        GrantCheck(.end, isInclusive ? seconds <= moment : seconds < moment, "holds until \(moment); it is \(seconds)")
    }

    func ip(_ allowed: String?) -> GrantCheck? {
        guard let allowed else { return nil }
        let isSame = ip.map { $0.hasSameBytes(as: allowed) }
        // Whether an address lies in a network is not told here.
        let isNetwork = allowed.utf8.contains(UInt8(ascii: "/"))
        return GrantCheck(
            .ip, isNetwork && isSame == false ? nil : isSame,
            "for \(printable(allowed))" + (ip.map { "; asked from \(printable($0))" } ?? ""))
    }
}
