internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import PlaybackGrants

/// One row of the table of a capture: a call, or a finding outside of calls.
struct CaptureRow {
    /// A line below the row, and what to do about it.
    struct Remark {
        let title: String
        let detail: String
        var advice: String?
    }

    let cells: [String]
    let remarks: [Remark]

    /// The text of the row.
    var text: String { Self.text(cells) }

    /// The headings of the columns; those of the call and its answer are not there without calls.
    static func heading(hasCalls: Bool) -> String {
        let place = hasCalls ? ["#", "time (UTC)", "call", "status"] : ["#", "time (UTC)", "line", "found"]
        return text(place + ["requestor", "resource", "MVPD", hasCalls ? "holds" : "verdict"])
    }

    /// The width of each column, in characters; the last one takes what is left.
    private static let widths: [Int?] = [4, 19, 16, 6, 12, 20, 14, nil]

    init(
        _ call: CapturedCall, _ compared: CaptureHistory.Call, at time: Timestamp?, _ findings: [ExaminedFinding],
        _ notes: [CaptureHistory.Note]
    ) {
        let holds = findings.compactMap { finding in
            finding.examination.map {
                "\($0.kind?.rawValue ?? "unreadable") \(finding.damage?.code.rawValue ?? $0.code)"
            }
        }
        let place = ["\(call.number)", Self.shown(time), call.name, call.status.map(String.init) ?? ""]
        cells = place + Self.about(compared.about) + [holds.joined(separator: ", ")]
        remarks = notes.map { Remark(title: $0.title, detail: $0.detail) } + findings.compactMap(Remark.init(error:))
    }

    /// - Parameters:
    ///   - time: the time of the line.
    ///   - isAmongCalls: whether the table has calls.
    init(_ finding: ExaminedFinding, at time: Timestamp?, isAmongCalls: Bool) {
        let claims = CaptureHistory.Token(finding)?.claims ?? Stated { (_: Subject) in nil }
        let (kind, verdict): (String, String)
        switch finding.result {
        case .token(let examination, _):
            (kind, verdict) = (examination.kind?.rawValue ?? "token", finding.verdict?.rawValue ?? examination.code)
        case .grant(let grant, _): (kind, verdict) = (grant.kind, "UNVERIFIED")
        case .error(let error): (kind, verdict) = ("error", printable(error.code, limit: 80))
        }
        let line = (isAmongCalls ? "line " : "") + "\(finding.finding.line)"
        cells = ["\(finding.number)", Self.shown(time), line, kind] + Self.about(claims) + [verdict]
        remarks =
            finding.finding.repairs.map { Remark(title: "repaired", detail: $0) }
            + [finding.cut.map { Remark(title: "cut", detail: $0, advice: TokenEnvelope.cutAdvice) }].compactMap(\.self)
            + [finding.cut == nil ? Remark(failureOf: finding) : nil, Remark(error: finding)].compactMap(\.self)
    }

    private static func shown(_ time: Timestamp?) -> String {
        time.map { String(TokenDate($0, offset: 0).description.prefix(19)) } ?? ""
    }

    private static func about(_ stated: Stated) -> [String] {
        [Subject.requestor, .resource, .mvpd].map { stated[$0] ?? "" }
    }

    private static func text(_ cells: [String]) -> String {
        zip(cells, widths).map { cell, width in
            guard let width else { return printable(cell, limit: 200) }
            let shown = printable(cell, limit: cell.unicodeScalars.count > width ? width - 1 : width)
            return shown + String(repeating: " ", count: max(0, width - shown.count))
        }.joined(separator: "  ")
    }
}

extension CaptureRow.Remark {
    /// What an error of Adobe Pass says; `nil` for another finding.
    fileprivate init?(error finding: ExaminedFinding) {
        guard case .error(let error) = finding.result else { return nil }
        let details = [error.resource, error.action.map { "action \($0)" }, error.message].compactMap(\.self)
        title = printable(error.code, limit: 160)
        detail = details.map { printable($0, limit: 160) }.joined(separator: "; ")
        advice = error.advice
    }

    /// The first check that a token fails; `nil` if it fails none.
    fileprivate init?(failureOf finding: ExaminedFinding) {
        guard let failure = finding.examination?.firstFailure else { return nil }
        (title, detail, advice) = (failure.check.rawValue, failure.detail, failure.advice)
    }
}

extension CapturedCall {
    /// What the call is called at Adobe Pass; the last part of its path if it is none of its calls.
    var name: String {
        let parts = (target ?? "").split(separator: "/").map(String.init)
        let known = ["preauthorize", "shortAuthorize", "authorize", "profiles", "sessions", "logout", "mediatoken"]
        return parts.last { known.contains($0) } ?? parts.dropFirst().last ?? target ?? ""
    }
}
