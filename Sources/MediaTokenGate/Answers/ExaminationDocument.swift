package import Basics
package import MediaToken

extension Examination {
    /// The examination as JSON, for `/v1/explain` and for `verify --json` and `inspect --json`. The members that it
    /// shares with the gate's other answers have the same names and meanings.
    ///
    /// It holds personal data: the token's session GUID is one of its fields.
    ///
    /// - Parameters:
    ///   - verdict: The code of the verdict; `nil` if the token was only examined.
    ///   - status: The HTTP status of the answer; `nil` on the command line.
    ///   - clear: The token's clear text, if it is to be shown.
    package func document(verdict: VerdictCode? = nil, status: Int? = nil, clear: String? = nil) -> JSONValue {
        let failure = firstFailure
        let row = verdict ?? failure?.code
        // To a backend, unsigned times are nothing but two of the fields.
        let tellsTimes = status == nil || key != nil
        let expiry = tellsTimes ? expires?.timestamp : nil
        return JSONValue([
            "code": verdict?.rawValue ?? code, "number": row?.number, "consumed": verdict?.consumed.rawValue,
            "action": row?.action?.rawValue, "status": status,
            // What the first failed check compared, and what to do about it.
            "detail": failure?.detail, "check": failure?.check.rawValue, "advice": failure?.advice,
            "kind": kind?.rawValue,
            // The key that verified the signature. Without one, nothing in the fields is proven.
            "key": key, "issueTime": tellsTimes ? issueTime?.description : nil,
            // In seconds since 1970, and from the time of the check on; negative if the token has expired.
            "expires": expiry?.wholeSeconds,
            "secondsLeft": expiry?.milliseconds(since: time).flooredQuotient(by: 1000),
            "token": id?.description, "fields": fieldsByName, "checks": reports.map(\.document), "clear": clear,
        ])
    }

    /// The texts of the fields by name. Of several fields of one name, as only unknown ones may be, each has its
    /// number, as in XPath: `extra[1]`, `extra[2]`.
    private var fieldsByName: [String: String] {
        var texts: [String: String] = [:]
        for (name, group) in Dictionary(grouping: fields, by: \.name) {
            for (index, field) in group.enumerated() {
                texts[group.count == 1 ? name : "\(name)[\(index + 1)]"] = field.text
            }
        }
        return texts
    }
}

extension CheckReport {
    fileprivate var document: JSONValue {
        JSONValue(["name": check.rawValue, "result": outcome.name, "detail": detail, "advice": advice])
    }
}
