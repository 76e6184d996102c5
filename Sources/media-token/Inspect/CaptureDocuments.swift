internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants

/// A finding as a line of JSON: the way to it, beside what an examination, a grant or an error has.
struct FoundDocument: Encodable {
    let finding: ExaminedFinding
    /// The number of the call that it is in.
    let entry: Int?
    /// The time of the line that it is on.
    let time: Timestamp?
    let showsClear: Bool

    private enum Name: String, CodingKey {
        case line, way, entry, time, kind, code, action, advice, detail, resource, fields, expires, found, cut, format,
            repairs, damaged
    }

    func encode(to encoder: any Encoder) throws {
        if case .token(let examination, let clearText) = finding.result {
            let clear = showsClear && examination.id != nil ? String(decoding: clearText, as: UTF8.self) : nil
            try ExaminationDocument(examination, verdict: finding.verdict, clear: clear).encode(to: encoder)
        }
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(finding.number, forKey: .found)
        try members.encode(finding.finding.line, forKey: .line)
        try members.encode(finding.way, forKey: .way)
        try members.encodeIfPresent(entry, forKey: .entry)
        try members.encodeIfPresent(time?.utcText, forKey: .time)
        try members.encodeIfPresent(finding.cut, forKey: .cut)
        try members.encodeIfPresent(finding.format, forKey: .format)
        if let damage = finding.damage {
            try members.encode(damage.code.rawValue, forKey: .code)
            try members.encode(finding.damageInWords, forKey: .damaged)
        }
        let repairs = finding.finding.repairs
        if !repairs.isEmpty { try members.encode(repairs, forKey: .repairs) }
        switch finding.result {
        case .token: break
        case .grant(let grant, _):
            try members.encode("UNVERIFIED", forKey: .code)
            try members.encode(grant.kind, forKey: .kind)
            try members.encode(Dictionary(grant.fields.map { ($0.name, $0.text) }) { $1 }, forKey: .fields)
            try members.encodeIfPresent(grant.expires?.wholeSeconds, forKey: .expires)
        case .error(let error):
            try members.encode(error.code, forKey: .code)
            try members.encode("error", forKey: .kind)
            try members.encodeIfPresent(error.action, forKey: .action)
            try members.encodeIfPresent(error.advice, forKey: .advice)
            try members.encodeIfPresent(error.message, forKey: .detail)
            try members.encodeIfPresent(error.resource, forKey: .resource)
        }
    }
}

/// A call of an archive as a line of JSON. The lines behind it are those of its findings.
struct CallDocument: Encodable {
    private let code = "CALL"
    private let kind = "call"
    private let entry: Int
    private let line: Int
    private let call: String
    private let method: String?
    private let target: String?
    private let status: Int?
    private let started: String?
    /// What the request asks for.
    private let requestor, resource, mvpd, device: String?
    private let notes: [[String: String]]

    init(_ call: CapturedCall, _ notes: [CaptureHistory.Note]) {
        (entry, line, self.call, method) = (call.number, call.line, call.name, call.method)
        (target, status, started) = (call.target, call.status, call.started)
        (requestor, resource) = (call.stated[.requestor], call.stated[.resource])
        (mvpd, device) = (call.stated[.mvpd], call.stated[.device])
        self.notes = notes.map { ["kind": $0.title, "detail": $0.detail] }
    }
}
