internal import Basics

/// The latest calls of the demo in their order: those of the app to the sandbox, and those that the gate answered.
final class DemoCalls: Sendable {
    private let latest = Guarded<(number: Int, lines: [JSONValue])>((0, []))
    private static let limit = 200

    /// - Parameters:
    ///   - side: `sandbox` or `gate`.
    ///   - code: What the gate decided.
    func note(_ side: String, _ method: String, _ path: String, _ status: Int, _ code: String? = nil) {
        latest.withLock { latest in
            latest.number += 1
            let line: JSONValue = [
                "number": .number(Double(latest.number)), "side": .text(side), "method": .text(method),
                "path": .text(path), "status": .number(Double(status)), "code": .text(code ?? ""),
                "time": .text(Timestamp.now.internetText),
            ]
            latest.lines = latest.lines.suffix(Self.limit - 1) + [line]
        }
    }

    var json: String { JSONValue.list(latest.withLock { $0.lines }).document }
}
