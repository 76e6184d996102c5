internal import Basics
internal import FoundationEssentials
package import MediaToken

/// Encodes values as JSON on one line, with keys in alphabetical order. What a terminal would obey is escaped.
package enum JSONLine {
    package static func encode(_ value: some Encodable) -> String {
        printable(json: String(decoding: data(value), as: UTF8.self))
    }

    /// The JSON of `value` as the body of an answer, with a line break at its end.
    static func body(_ value: some Encodable) -> [UInt8] {
        data(value) + [UInt8(ascii: "\n")]
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// Encodes `value`. This cannot fail for strings, numbers and booleans.
    private static func data(_ value: some Encodable) -> Data {
        (try? encoder.encode(value)) ?? Data()
    }
}

/// The result of one check as JSON.
package struct CheckObject: Encodable {
    let name: String
    let result: String
    let detail: String
    let advice: String?

    package init(_ report: CheckReport) {
        (name, result) = (report.check.rawValue, report.outcome.name)
        (detail, advice) = (report.detail, report.advice)
    }

    /// - Parameter isPassed: Whether the check passed; `nil` if it was not made.
    package init(_ name: String, isPassed: Bool?, _ detail: String) {
        let outcome = isPassed.map { $0 ? CheckReport.Outcome.passed : .failed } ?? .notChecked
        (self.name, result, self.detail, advice) = (name, outcome.name, detail, nil)
    }
}
