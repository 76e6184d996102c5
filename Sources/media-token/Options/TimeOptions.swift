internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import Settings

/// The options for the time of a check and for its tolerances.
struct TimeOptions {
    static let table = SettingsTable<TimeOptions>(
        SettingsTable([
            Setting(
                "at", "TIME", .text(),
                "Check as of TIME: a date as a token, a log, journalctl or an HTTP header has it (UTC without an offset), seconds or "
                    + "milliseconds since 1970, now, -5m for five minutes ago (s, m, h, d; + for later), issued for the token's "
                    + "own issue time, or line for that of the line of a log, or of the call, that has the token"
            ) { object, name, options in
                options.time = object.checkTime(name, orElse: ", issued or line")
            }
        ]), GateSettings.table.some("skew", "default-ttl", "max-ttl").within(\.gate)
    ).under("Time")

    /// Why a command without captured tokens refuses the words for a token's own times.
    static let isNoTime = "is 'issued' or 'line', which only inspect and verify --at understand; expected a time"

    /// The time of the check; `nil` for now.
    private(set) var time: CheckTime?
    private var gate = GateSettings()

    func check(_ given: inout SettingsObject) { gate.checkTTL(&given) }

    /// Splits a group of tokens into those that are checked at one time: at its own issue time each is alone. One
    /// without an issue time is checked as of now, and rejected since it is no media token.
    func groups(of tokens: [RawToken], for resource: ResourceRule) -> [(tokens: [RawToken], time: Timestamp)] {
        switch time {
        case .issued?: tokens.map { ([$0], UnverifiedToken.issueTime(of: $0, for: resource) ?? .now) }
        case .at(let time)?: [(tokens, time)]
        case .line?, nil: [(tokens, .now)]
        }
    }

    func policy(allowedMVPDs: [RequestorID: Set<MVPDID>] = [:]) -> VerificationPolicy {
        VerificationPolicy(
            clockSkew: gate.clockSkew, defaultTTL: gate.defaultTTL, maximumTTL: gate.maximumTTL,
            allowedMVPDs: allowedMVPDs)
    }
}

extension SettingsObject {
    /// Reads a time; `nil` if there is none, or if it is refused.
    mutating func time(_ name: String) -> Timestamp? {
        switch checkTime(name, orElse: "") {
        case .at(let time)?: return time
        case nil: return nil
        case .issued?, .line?:
            refuse(name, TimeOptions.isNoTime)
            return nil
        }
    }

    /// - Parameter others: What the option takes in addition to a time, for its message.
    fileprivate mutating func checkTime(_ name: String, orElse others: String) -> CheckTime? {
        let forms =
            "2016-03-17T22:02:00Z, '2016-03-17 15:02:00 -0700', seconds or milliseconds since 1970, now, or -5m (s, m, h, d)"
        return value(name, forms + others) { CheckTime(reading: $0) }
    }
}

extension Setting {
    /// A time, of the forms that `--at` has.
    static func time(_ name: String, _ help: String, _ path: any WritableKeyPath<Values, Timestamp?> & Sendable)
        -> Setting
    {
        Setting(name, "TIME", .text(), help) { object, name, values in
            values[keyPath: path] = object.time(name)
        }
    }
}
