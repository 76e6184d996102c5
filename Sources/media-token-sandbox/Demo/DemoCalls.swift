internal import Basics
internal import HTTP

/// The latest calls of the demo in their order, with what was sent and answered: those of the app to the sandbox, and
/// those that the gate answered.
final class DemoCalls: Sendable {
    private let latest = Guarded<(number: Int, lines: [JSONValue])>((0, []))
    private static let limit = 200
    /// The most bytes of a body that are kept.
    private static let longestBody = 8192

    /// - Parameters:
    ///   - side: `sandbox` or `gate`.
    ///   - path: The path to show, if it is not that of the request.
    ///   - code: What the gate decided.
    func note(
        _ side: String, _ request: HTTPRequest, path: String? = nil, _ status: Int, _ body: [UInt8],
        code: String? = nil
    ) {
        let shown = path ?? text(request.path)
        let members = JSONValue([
            "side": side, "method": text(request.method), "path": shown,
            "target": shown == text(request.path) ? withoutSecrets(text(request.target)) : shown,
            "type": request.onlyText(of: .contentType), "status": status,
            "code": code ?? "", "sent": withoutSecrets(text(request.body)), "answer": text(body[...]),
        ])
        latest.withLock { latest in
            latest.number += 1
            latest.lines =
                latest.lines.suffix(Self.limit - 1) + [members.with(["number": .number(Double(latest.number))])]
        }
    }

    /// The text of a form or a query without its passwords, and the codes by which anybody could log in.
    private func withoutSecrets(_ text: String) -> String {
        text.replacing(#/\b(password|client_secret|code)=[^&]+/#) { "\($0.1)=…" }
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(Self.longestBody), as: UTF8.self)
    }

    var json: String { JSONValue.list(latest.withLock { $0.lines }).document }
}
