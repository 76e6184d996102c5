internal import Basics

/// What a grant says, read without its key. Anybody may have written it.
package struct GrantContents: Sendable {
    /// What the grant is, for people.
    let title: String
    /// The fields, in the order of the grant.
    let fields: [(name: String, text: String)]
    /// The start in seconds since 1970; `nil` if the grant has none.
    let begin: Int64?
    /// The expiry in seconds since 1970; `nil` if the grant has none that can be read.
    let end: Int64?
    /// The checks that need no key.
    let checks: @Sendable (GrantQuestion) -> [GrantCheck]

    init(
        _ title: String, _ fields: [(name: String, text: String)], begin: Int64? = nil, end: Int64?,
        checks: @escaping @Sendable (GrantQuestion) -> [GrantCheck]
    ) {
        (self.title, self.fields, self.begin, self.end, self.checks) = (title, fields, begin, end, checks)
    }
}

extension Int64 {
    /// The number of seconds since 1970 as a date in UTC; the number itself if it is after the year 9999.
    var secondsAsDate: String {
        guard self < GrantPeriod.latest, let timestamp else { return "\(self) seconds since 1970" }
        return timestamp.utcText
    }

    /// The number of seconds since 1970 with its date.
    var secondsWithDate: String { self < GrantPeriod.latest ? "\(self) (\(secondsAsDate))" : secondsAsDate }

    /// The time of this many seconds since 1970; `nil` if no timestamp can hold it.
    var timestamp: Timestamp? {
        let (milliseconds, overflows) = multipliedReportingOverflow(by: 1000)
        return overflows ? nil : Timestamp(milliseconds: milliseconds)
    }
}
