package import Basics
public import ClaimsStage

/// The checks that a token must pass beyond its signature.
public struct VerificationPolicy: Sendable {
    /// The ``clockSkew`` of a policy that names none. The stores of this package place their fences later by as much,
    /// unless they are told otherwise.
    public static let defaultClockSkew: Duration = .seconds(30)
    /// The largest ``clockSkew``. A replay store keeps an entry for that long after the token has expired, so that no
    /// process that shares the store can accept a token whose entry is gone.
    public static let largestClockSkew: Duration = .seconds(300)
    /// The largest ``defaultTTL``. The replay store keeps a token without a `ttl` for that long.
    public static let longestDefaultTTL: Duration = .milliseconds(
        MediaTokenClaims.longestDefaultTTLMilliseconds)

    package static let largestClockSkewMilliseconds = largestClockSkew.clampedMilliseconds

    /// The largest difference allowed between this machine's clock and Adobe's, in either direction.
    public let clockSkew: Duration
    /// The TTL of a token that has no `ttl`.
    public let defaultTTL: Duration
    /// The longest TTL; a longer `ttl` is reduced to it.
    public let maximumTTL: Duration
    /// For each requestor, the MVPDs that its tokens may come from. A proxy MVPD must be among them too. A requestor
    /// without an entry is not restricted; all tokens of a requestor with an empty entry are rejected.
    public let allowedMVPDs: [RequestorID: Set<MVPDID>]

    let clockSkewMilliseconds: Int64
    private let defaultTTLMilliseconds: Int64
    private let maximumTTLMilliseconds: Int64

    /// Creates a policy. Values outside their limits are replaced by the nearest limit.
    ///
    /// - Parameters:
    ///   - clockSkew: the clock skew allowed, limited to the range from 0 to ``largestClockSkew``.
    ///   - defaultTTL: the TTL of a token that has no `ttl`, limited to the range from 1 ms to ``longestDefaultTTL``.
    ///   - maximumTTL: the longest TTL; values below 1 ms are treated as 1 ms.
    ///   - allowedMVPDs: for each restricted requestor, the MVPDs that its tokens may come from.
    public init(
        clockSkew: Duration = defaultClockSkew, defaultTTL: Duration = .seconds(300),
        maximumTTL: Duration = .seconds(900),
        allowedMVPDs: [RequestorID: Set<MVPDID>] = [:]
    ) {
        clockSkewMilliseconds = min(max(clockSkew.clampedMilliseconds, 0), Self.largestClockSkewMilliseconds)
        defaultTTLMilliseconds = min(
            max(defaultTTL.clampedMilliseconds, 1), MediaTokenClaims.longestDefaultTTLMilliseconds)
        maximumTTLMilliseconds = max(maximumTTL.clampedMilliseconds, 1)
        self.clockSkew = .milliseconds(clockSkewMilliseconds)
        self.defaultTTL = .milliseconds(defaultTTLMilliseconds)
        self.maximumTTL = .milliseconds(maximumTTLMilliseconds)
        self.allowedMVPDs = allowedMVPDs
    }

    /// The time after which `claims` are expired, before skew.
    package func expiry(of claims: MediaTokenClaims) -> Timestamp {
        let timeToLive = min(claims.ttlMilliseconds ?? defaultTTLMilliseconds, maximumTTLMilliseconds)
        return claims.issueTime.timestamp.advanced(byMilliseconds: timeToLive)
    }

    /// The expiry of `claims` at the offset of their issue time.
    package func expiryDate(of claims: MediaTokenClaims) -> TokenDate {
        TokenDate(expiry(of: claims), offset: claims.issueTime.offset)
    }
}
