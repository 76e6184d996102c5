internal import Timestamps

/// What a sandbox remembers. It is lost when the sandbox ends.
struct SandboxState {
    /// One device at one service provider.
    struct Place: Hashable {
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
        let place: Place
        let start: Timestamp
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
    var profiles: [Place: [String: Profile]] = [:]
    var sessions = ExpiringTable<String, Session>()
    var temporaryUses: [TemporaryHolder: TemporaryUse] = [:]
    /// The calls that each client address has left, and when that was counted.
    var allowances = ExpiringTable<String, (calls: Double, at: Timestamp)>()

    /// A code that no living session has: two viewers with one code would log each other in.
    mutating func freshCode(at now: Timestamp) -> String {
        var code = random.code()
        while sessions.value(code, at: now) != nil { code = random.code() }
        return code
    }
}
