import Foundation
import TestSupport

/// An entry of a HAR file.
struct Entry {
    let url: String
    var method = "POST"
    /// The second of the call, from the one at which the tokens are issued.
    let second: Int
    let status: Int
    /// How many milliseconds it took.
    var lasting = 5
    var headers: [String: String] = [:]
    var query: [String: String] = [:]
    var sent = ""
    var answerHeaders: [String: String] = [:]
    var came: String? = "{}"
    var failure: String?

    init(_ url: String, _ method: String = "POST", at second: Int = 2, status: Int = 200) {
        (self.url, self.method, self.second, self.status) = (url, method, second, status)
    }

    /// - Parameter members: further ones, which each entry has.
    static func har(_ entries: [Entry], with members: [String: Any] = [:]) throws -> String {
        let har = ["log": ["entries": entries.map { $0.object.merging(members) { $1 } }]]
        return String(decoding: try JSONSerialization.data(withJSONObject: har, options: .sortedKeys), as: UTF8.self)
    }

    /// The second as HTTP has it in `Date`.
    static func date(_ second: Int) -> String {
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), .gmt)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(1_700_000_000 + second)))
    }

    private var object: [String: Any] {
        func list(_ headers: [String: String]) -> [[String: String]] { headers.map { ["name": $0, "value": $1] } }
        var content: [String: Any] = ["size": came?.utf8.count ?? 10]
        content["text"] = came
        var response: [String: Any] = ["status": status, "headers": list(answerHeaders), "content": content]
        response["_error"] = failure
        let begin = Date(timeIntervalSince1970: Double(1_700_000_000 + second))
        return [
            "startedDateTime": begin.ISO8601Format(), "time": lasting,
            "request": [
                "method": method, "url": url, "headers": list(headers), "queryString": list(query),
                "postData": ["text": sent],
            ],
            "response": response,
        ]
    }
}
