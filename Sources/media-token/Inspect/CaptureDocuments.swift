internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants

extension ExaminedFinding {
    /// The finding as JSON: the way to it, beside what an examination, a grant or an error has.
    ///
    /// - Parameters:
    ///   - entry: The number of the call that it is in.
    ///   - time: The time of the line that it is on.
    func document(in entry: Int?, at time: Timestamp?, showsClear: Bool) -> JSONValue {
        contents(showsClear: showsClear).with(
            JSONValue([
                "found": number, "line": finding.line, "way": way, "entry": entry, "time": time?.utcText, "cut": cut,
                "format": format, "code": damage?.code.rawValue, "damaged": damage == nil ? nil : damageInWords,
                "repairs": finding.repairs.isEmpty ? nil : finding.repairs,
            ]))
    }

    private func contents(showsClear: Bool) -> JSONValue {
        switch result {
        case .token(let examination, let clearText):
            let clear = showsClear && examination.id != nil ? String(decoding: clearText, as: UTF8.self) : nil
            return examination.document(verdict: verdict, clear: clear)
        case .grant(let grant, _):
            return JSONValue([
                "code": "UNVERIFIED", "kind": grant.kind, "expires": grant.expires?.wholeSeconds,
                "fields": Dictionary(grant.fields.map { ($0.name, $0.text) }) { $1 },
            ])
        case .error(let error):
            return JSONValue([
                "code": error.code, "kind": "error", "action": error.action, "advice": error.advice,
                "detail": error.message, "resource": error.resource,
            ])
        }
    }
}

extension CapturedCall {
    /// A call of an archive as JSON. The lines after it are those of its findings.
    func document(_ notes: [CaptureHistory.Note]) -> JSONValue {
        JSONValue([
            "code": "CALL", "kind": "call", "entry": number, "line": line, "call": name, "method": method,
            "target": target, "status": status, "started": started,
            // What the request asks for.
            "requestor": stated[.requestor], "resource": stated[.resource], "mvpd": stated[.mvpd],
            "device": stated[.device], "notes": notes.map { ["kind": $0.title, "detail": $0.detail] },
        ])
    }
}
