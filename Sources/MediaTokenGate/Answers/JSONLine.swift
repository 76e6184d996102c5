internal import FoundationEssentials
package import MediaToken

/// JSON on one line, its keys in alphabetical order.
package enum JSONLine {
    package static func encode(_ value: some Encodable) -> String {
        String(decoding: data(value), as: UTF8.self)
    }

    /// The same as a body.
    static func body(_ value: some Encodable) -> [UInt8] {
        data(value) + [UInt8(ascii: "\n")]
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// Encoding strings, numbers and booleans cannot fail.
    private static func data(_ value: some Encodable) -> Data {
        (try? encoder.encode(value)) ?? Data()
    }
}

/// One check of an examination, for programs.
package struct CheckObject: Encodable {
    let name: String
    let result: String
    let detail: String
    let advice: String?

    package init(_ report: CheckReport) {
        self.init(report.check.rawValue, report.outcome, report.detail, advice: report.advice)
    }

    package init(_ name: String, _ result: CheckReport.Outcome, _ detail: String, advice: String? = nil) {
        (self.name, self.result, self.detail, self.advice) = (name, result.rawValue, detail, advice)
    }
}
