internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import TextEncodings

/// The options for the time of a check and for its tolerances.
struct TimeOptions {
    static let group = OptionGroup(
        heading: "Time:",
        options: [
            CommandOption(
                "at", "TIME",
                "Check as of TIME: a date as a token, a log, journalctl or an HTTP header has it (UTC without an offset), seconds or "
                    + "milliseconds since 1970, now, -5m for five minutes ago (s, m, h, d; + for later), or issued for the token's "
                    + "own issue time"
            )
        ] + settings.map(\.option))

    /// The settings of a gate that the commands for captured tokens have too.
    private static let names = ["skew", "default-ttl", "max-ttl"]
    private static let settings = GateSettings.settings(named: names)

    /// The time of the check; `nil` for now.
    let time: CheckTime?
    private let tolerances: VerificationPolicy

    init(_ given: Arguments) throws(UsageError) {
        time = try Self.checkTime("at", given, orElse: ", or issued for the token's own issue time")
        var values: [JSONName: JSONValue] = [:]
        for setting in Self.settings { values[JSONName(setting.name)] = try setting.value(given) }
        let reader = GateSettingsReader(values, only: Self.names)
        if let problem = reader.problems.first {
            throw UsageError("--" + problem.replacing(": ", with: " ", maxReplacements: 1))
        }
        tolerances = reader.settings.policy
    }

    static func time(_ option: String, _ given: Arguments) throws(UsageError) -> Timestamp? {
        switch try checkTime(option, given) {
        case .at(let time)?: return time
        case nil: return nil
        case .issued?:
            throw UsageError(
                "--\(option) is issued, which has a meaning for inspect and verify --at only; expected a time")
        }
    }

    /// - Parameter others: what the option takes in addition to a time, for its message.
    private static func checkTime(
        _ option: String, _ given: Arguments, orElse others: String = ""
    ) throws(UsageError) -> CheckTime? {
        guard let text = try given.one(option) else { return nil }
        guard let time = CheckTime(reading: text) else {
            throw UsageError(
                "--\(option) is '\(printable(text, limit: 40))'; expected 2016-03-17T22:02:00Z, '2016-03-17 15:02:00 -0700', "
                    + "seconds or milliseconds since 1970, now, or -5m (s, m, h, d)\(others)")
        }
        return time
    }

    /// Splits a group of tokens into those that are checked at one time: at its own issue time each is alone. One without an issue
    /// time is checked as of now, and rejected since it is no media token.
    func groups(of tokens: [RawToken], for resource: ResourceRule) -> [(tokens: [RawToken], time: Timestamp)] {
        switch time {
        case .issued?: tokens.map { ([$0], UnverifiedToken.issueTime(of: $0, for: resource) ?? .now) }
        case .at(let time)?: [(tokens, time)]
        case nil: [(tokens, .now)]
        }
    }

    func policy(allowedMVPDs: [RequestorID: Set<MVPDID>] = [:]) -> VerificationPolicy {
        VerificationPolicy(
            clockSkew: tolerances.clockSkew, defaultTTL: tolerances.defaultTTL, maximumTTL: tolerances.maximumTTL,
            allowedMVPDs: allowedMVPDs)
    }
}
