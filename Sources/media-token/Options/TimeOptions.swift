internal import MediaToken
internal import MediaTokenGate
internal import TextEncodings

/// The options for the time of a check and for its tolerances.
struct TimeOptions {
    static let group = OptionGroup(
        heading: "Time:",
        options: [
            CommandOption(
                "at", "TIME", "Check as of TIME: ISO 8601, 'yyyy-MM-dd HH:mm:ss Z', seconds since 1970, or now")
        ] + settings.map(\.option))

    /// The settings of a gate that the commands for captured tokens have too.
    private static let names = ["skew", "default-ttl", "max-ttl"]
    private static let settings = GateSettings.settings(named: names)

    let time: Timestamp?
    private let tolerances: VerificationPolicy

    init(_ given: Arguments) throws(UsageError) {
        time = try Self.time("at", given)
        var values: [JSONName: JSONValue] = [:]
        for setting in Self.settings { values[JSONName(setting.name)] = try setting.value(given) }
        let reader = GateSettingsReader(values, only: Self.names)
        if let problem = reader.problems.first {
            throw UsageError("--" + problem.replacing(": ", with: " ", maxReplacements: 1))
        }
        tolerances = reader.settings.policy
    }

    static func time(_ option: String, _ given: Arguments) throws(UsageError) -> Timestamp? {
        guard let text = try given.one(option) else { return nil }
        guard let time = Timestamp(reading: text) else {
            throw UsageError(
                "--\(option) is '\(printable(text, limit: 40))'; expected 2016-03-17T22:02:00Z, '2016-03-17 15:02:00 -0700', "
                    + "seconds since 1970, or now")
        }
        return time
    }

    func policy(allowedMVPDs: [RequestorID: Set<MVPDID>] = [:]) -> VerificationPolicy {
        VerificationPolicy(
            clockSkew: tolerances.clockSkew, defaultTTL: tolerances.defaultTTL, maximumTTL: tolerances.maximumTTL,
            allowedMVPDs: allowedMVPDs)
    }
}
