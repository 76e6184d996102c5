internal import Captures
internal import CommandShell
internal import MediaToken
internal import TextEncodings

/// A call as one row of the table.
struct CallRow {
    static let heading = row(["#", "time (UTC)", "call", "status", "requestor", "resource", "MVPD", "holds"])

    let text: String
    let errors: [(line: String, advice: String?)]

    /// The width of each column, in characters; the last one takes what is left.
    private static let widths: [Int?] = [4, 19, 16, 6, 12, 20, 14, nil]

    init(_ call: CapturedCall, _ compared: CaptureHistory.Call, at time: Timestamp?, _ findings: [ExaminedFinding]) {
        let about = compared.about
        let time = time.map { String(TokenDate($0, offset: 0).description.prefix(19)) }
        let holds = findings.compactMap { finding in
            finding.examination.map {
                "\($0.kind?.rawValue ?? "unreadable") \(finding.damage?.code.rawValue ?? $0.code)"
            }
        }
        errors = findings.compactMap { finding in
            guard case .error(let error) = finding.result else { return nil }
            let details = [error.resource, error.action.map { "action \($0)" }, error.message].compactMap(\.self)
            let line = ([error.code] + details).map { printable($0, limit: 160) }.joined(separator: "; ")
            return (line, error.advice)
        }
        text = Self.row([
            "\(call.number)", time ?? "", call.name, call.status.map(String.init) ?? "", about[.requestor] ?? "",
            about[.resource] ?? "", about[.mvpd] ?? "", holds.joined(separator: ", "),
        ])
    }

    private static func row(_ cells: [String]) -> String {
        zip(cells, widths).map { cell, width in
            guard let width else { return printable(cell, limit: 200) }
            let shown = printable(cell, limit: cell.unicodeScalars.count > width ? width - 1 : width)
            return shown + String(repeating: " ", count: max(0, width - shown.count))
        }.joined(separator: "  ")
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
