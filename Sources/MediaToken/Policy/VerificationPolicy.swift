internal import Timestamps

/// What a programmer demands of a token beyond its signature.
public struct VerificationPolicy: Sendable {
    /// The largest ``clockSkew``. A replay store keeps an entry that much longer than the token lives, so that no
    /// setting of any process that shares it can outlive the entry.
    public static let largestClockSkew: Duration = .seconds(300)
    /// The largest ``defaultTTL``; a token without a `ttl` stays in the replay store for so long.
    public static let longestDefaultTTL: Duration = .seconds(86_400)

    static let largestClockSkewMilliseconds = largestClockSkew.clampedMilliseconds
    static let longestDefaultTTLMilliseconds = longestDefaultTTL.clampedMilliseconds

    /// How far our clock and Adobe's may be apart, in either direction.
    public let clockSkew: Duration
    /// Life of a token that has no `ttl`.
    public let defaultTTL: Duration
    /// Longest life; a longer `ttl` is cut to it.
    public let maximumTTL: Duration
    /// For each requestor the MVPDs that its tokens may come from; a proxy MVPD, where there is one, must be among them
    /// too. A requestor without an entry is not restricted; one with an empty entry is refused altogether.
    public let allowedMVPDs: [RequestorID: Set<MVPDID>]

    let clockSkewMilliseconds: Int64
    private let defaultTTLMilliseconds: Int64
    private let maximumTTLMilliseconds: Int64

    /// - Parameters:
    ///   - clockSkew: from 0 to ``largestClockSkew``; values beyond count as the nearer end.
    ///   - defaultTTL: from 1 ms to ``longestDefaultTTL``, likewise.
    ///   - maximumTTL: at least 1 ms, likewise.
    ///   - allowedMVPDs: for each restricted requestor the MVPDs that its tokens may come from.
    public init(
        clockSkew: Duration = .seconds(30), defaultTTL: Duration = .seconds(300), maximumTTL: Duration = .seconds(900),
        allowedMVPDs: [RequestorID: Set<MVPDID>] = [:]
    ) {
        clockSkewMilliseconds = min(max(clockSkew.clampedMilliseconds, 0), Self.largestClockSkewMilliseconds)
        defaultTTLMilliseconds = min(max(defaultTTL.clampedMilliseconds, 1), Self.longestDefaultTTLMilliseconds)
        maximumTTLMilliseconds = max(maximumTTL.clampedMilliseconds, 1)
        self.clockSkew = .milliseconds(clockSkewMilliseconds)
        self.defaultTTL = .milliseconds(defaultTTLMilliseconds)
        self.maximumTTL = .milliseconds(maximumTTLMilliseconds)
        self.allowedMVPDs = allowedMVPDs
    }

    /// The moment after which `claims` are expired, before skew.
    func expiry(of claims: MediaTokenClaims) -> Timestamp {
        let timeToLive = min(claims.timeToLive ?? defaultTTLMilliseconds, maximumTTLMilliseconds)
        return claims.issueTime.timestamp.advanced(byMilliseconds: timeToLive)
    }

    /// What one check says; each is a file of its own. `nil` where it passes.
    func refusal(
        _ check: PolicyCheck, of claims: MediaTokenClaims, for expectation: Expectation, at now: Timestamp
    ) -> Rejection? {
        switch check {
        case .window: windowRefusal(of: claims, at: now)
        case .requestor: requestorRefusal(of: claims, for: expectation)
        case .resource: resourceRefusal(of: claims, for: expectation)
        case .mvpd: mvpdRefusal(of: claims)
        }
    }
}

/// The checks of a policy, in the order in which they are made; the first refusal is the verdict.
enum PolicyCheck: CaseIterable {
    case window, requestor, resource, mvpd

    /// Made once: `allCases` would make it for each token.
    static let inOrder = allCases

    var check: Check {
        switch self {
        case .window: .window
        case .requestor: .requestor
        case .resource: .resource
        case .mvpd: .mvpd
        }
    }
}
