internal import Basics

/// What a sandbox remembers. It is lost when the sandbox ends.
struct SandboxState {
    /// One device at one service provider.
    struct DeviceIdentity: Hashable {
        let provider: String
        let device: String
    }

    /// A viewer's login with an MVPD.
    struct Profile {
        let viewer: String
        let start: Timestamp
        let end: Timestamp
    }

    /// An authentication session: what it still lacks, a client or a second screen adds.
    struct Session {
        let id: String
        let identity: DeviceIdentity
        let start: Timestamp
        /// The time until which the code of the session is valid.
        let end: Timestamp
        /// Whether a viewer has logged in with the code, which nobody else may then.
        var isUsed = false
        var mvpd: String?
        var domain: String?
        var redirectURL: String?

        /// The names of what is missing, as a client reads them.
        var missing: [String] {
            [("mvpd", mvpd), ("domainName", domain), ("redirectUrl", redirectURL)].compactMap { $1 == nil ? $0 : nil }
        }
    }

    /// Whom a TempPass counts for: a device, or the viewer that a promotional one names.
    struct TemporaryHolder: Hashable {
        let provider: String
        let mvpd: String
        let holder: String
    }

    /// The use of a TempPass.
    struct TemporaryUse {
        let start: Timestamp
        var resources: Set<String> = []
    }

    var random: SandboxRandom
    /// The logins of a device by MVPD. They are kept for a day longer than they count, for a client that asks what has
    /// become of them.
    private var profiles = ExpiringTable<DeviceIdentity, [String: Profile]>()
    var sessions = ExpiringTable<String, Session>()
    var temporaryUses = ExpiringTable<TemporaryHolder, TemporaryUse>()
    /// The calls that each client address has left, and when that was counted.
    var allowances = ExpiringTable<String, (calls: Double, at: Timestamp)>()

    /// A code that no living session has: two viewers with one code would log each other in.
    mutating func freshCode(at now: Timestamp) -> String {
        var code = random.code()
        while sessions.value(code, at: now) != nil { code = random.code() }
        return code
    }

    private static let dayOfMilliseconds: Int64 = 86_400_000

    init(random: SandboxRandom) { self.random = random }

    func profiles(at identity: DeviceIdentity, now: Timestamp) -> [String: Profile] {
        profiles.value(identity, at: now)?.value ?? [:]
    }

    /// Stores the device's login with an MVPD, or removes it if the profile is `nil`.
    ///
    /// - Returns: Whether there was a login before that had not expired.
    @discardableResult
    mutating func setProfile(_ profile: Profile?, of mvpd: String, at identity: DeviceIdentity, now: Timestamp) -> Bool
    {
        var kept = profiles(at: identity, now: now)
        let before = kept[mvpd]
        kept = kept.filter { $0.value.end.advanced(byMilliseconds: Self.dayOfMilliseconds) > now }
        kept[mvpd] = profile
        if let last = kept.values.map(\.end).max() {
            profiles.set(identity, kept, until: last.advanced(byMilliseconds: Self.dayOfMilliseconds), at: now)
        } else {
            profiles.remove(identity)
        }
        return before.map { $0.end > now } ?? false
    }

    /// Keeps the use of a TempPass for a month, so that it cannot be used a second time before that.
    mutating func keep(_ use: TemporaryUse, of holder: TemporaryHolder, now: Timestamp) {
        temporaryUses.set(holder, use, until: now.advanced(byMilliseconds: 31 * Self.dayOfMilliseconds), at: now)
    }
}
