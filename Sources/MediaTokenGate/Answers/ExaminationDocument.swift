internal import Basics
package import MediaToken

/// An examination as JSON, for `/v1/explain` and for `verify --json` and `inspect --json`. The members that it shares
/// with the gate's other answers have the same names and meanings.
///
/// It holds personal data: the token's session GUID is one of its fields.
package struct ExaminationDocument: Encodable {
    /// The name of the verdict or, if there is none, that of what the examination found.
    private let code: String
    /// The number of the verdict.
    private let number: Int?
    /// Whether the token is used up; `nil` if it was only examined.
    private let consumed: String?
    /// What has to be done; `nil` if no check failed.
    private let action: String?
    /// The HTTP status; `nil` on the command line.
    private let status: Int?
    /// What the first failed check compared.
    private let detail: String?
    /// The first check that failed.
    private let check: String?
    /// What to do about the first failure.
    private let advice: String?
    private let kind: String?
    /// The name of the key that verified the signature. Without one, nothing in ``fields`` is proven.
    private let key: String?
    private let issueTime: String?
    /// The token's expiry in seconds since 1970.
    private let expires: Int64?
    /// The seconds from the time of the check to the expiry; negative if the token has expired.
    private let secondsLeft: Int64?
    /// The short ID of the token.
    private let token: String?
    private let fields: [String: String]
    private let checks: [CheckObject]
    /// The token's clear text, if it was asked for.
    private let clear: String?

    /// - Parameters:
    ///   - verdict: the code of the verdict; `nil` if the token was only examined.
    ///   - status: the HTTP status of the answer; `nil` on the command line.
    ///   - clear: the token's clear text, if it is to be shown.
    package init(
        _ examination: Examination, verdict: VerdictCode? = nil, status: Int? = nil, clear: String? = nil
    ) {
        let failure = examination.firstFailure
        code = verdict?.rawValue ?? examination.code
        let row = verdict ?? failure?.code
        (number, action, consumed) = (row?.number, row?.action?.rawValue, verdict?.consumed.rawValue)
        (self.status, self.clear) = (status, clear)
        (detail, check, advice) = (failure?.detail, failure?.check.rawValue, failure?.advice)
        (kind, key) = (examination.kind?.rawValue, examination.key)
        // To a backend, unsigned times are nothing but two of the fields.
        let tellsTimes = status == nil || examination.key != nil
        issueTime = tellsTimes ? examination.issueTime?.description : nil
        let expiry = tellsTimes ? examination.expires?.timestamp : nil
        expires = expiry?.wholeSeconds
        secondsLeft = expiry?.milliseconds(since: examination.time).flooredQuotient(by: 1000)
        token = examination.id?.description
        fields = Self.byName(examination.fields)
        checks = examination.reports.map(CheckObject.init)
    }

    /// The texts of the fields by name. Of several fields of one name, as only unknown ones may be, each has its
    /// number, as in XPath: `extra[1]`, `extra[2]`.
    private static func byName(_ fields: [TokenField]) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, group) in Dictionary(grouping: fields, by: \.name) {
            for (index, field) in group.enumerated() {
                texts[group.count == 1 ? name : "\(name)[\(index + 1)]"] = field.text
            }
        }
        return texts
    }
}
