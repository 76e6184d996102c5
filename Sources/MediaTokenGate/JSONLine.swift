internal import FoundationEssentials
package import MediaToken

/// JSON on one line, its keys in alphabetical order.
package enum JSONLine {
    package static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings, numbers and booleans cannot fail.
        let data = (try? encoder.encode(value)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// The same as a body.
    static func body(_ value: some Encodable) -> [UInt8] {
        Array(encode(value).utf8) + [UInt8(ascii: "\n")]
    }
}

/// One check of an examination, for programs.
package struct CheckObject: Encodable {
    let name: String
    let result: String
    let detail: String
    let advice: String?

    package init(_ report: CheckReport) {
        (name, result) = (report.check.rawValue, report.result.rawValue)
        (detail, advice) = (report.detail, report.advice)
    }
}
