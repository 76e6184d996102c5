internal import Basics

/// One request and its response in a HAR file, with what they hold.
package struct CapturedCall: Sendable {
    /// The entry's number in the file, from 1.
    package let number: Int
    package let line: Int
    /// When the client began it, as the file says: a date in ISO 8601, by the clock of the client.
    package let started: String?
    /// How long the call took.
    package let milliseconds: Int64
    /// When the server answered, as its `Date` header says.
    package let answered: String?
    package let method: String?
    /// The host and the path, without a user, a query and a fragment.
    package let target: String?
    package let status: Int?
    /// Why a browser got no response, in its words: `net::ERR_BLOCKED_BY_CLIENT`.
    package let failure: String?
    /// When to try again, as the response's `Retry-After` header says: seconds or a date.
    package let retryAfter: String?
    /// What the request says, in its path, its parameters, its headers and its body.
    package let stated: Stated
    package let findings: [Finding]

    init(number: Int, line: Int, findings: [Finding], facts: Facts) {
        (self.number, self.line) = (number, line)
        let request = facts["request"]
        (started, method) = (facts[]["startedDateTime"], request["method"])
        status = facts["response"]["status"].flatMap { Int($0) }
        failure = facts["response"]["_error"].flatMap { ["", "null"].contains(where: $0.hasSameBytes) ? nil : $0 }
        let url = CapturedURL(request["url"] ?? "")
        target = url.target
        let isService = url.target.map { CapturedURL.isService($0) } ?? false
        self.isService = isService
        self.findings = findings.filter { finding in
            if case .error(let error) = finding.content { isService || !error.isOfAnyService } else { true }
        }
        let headers = Self.pairs(in: facts, below: ["response", "headers"])
        retryAfter = headers["retry-after"]
        // A response out of a cache has the date on which it was put there.
        answered = headers["age"] == nil ? headers["date"] : nil
        milliseconds = facts[]["time"].flatMap { Double($0) }.map { Int64(max(0, min($0, 1e9))) } ?? 0
        let sent = Self.pairs(in: facts, below: ["request", "headers"], ["request", "postData", "params"])
        let form = SentPairs(ofBody: facts["request", "postData"]["text"] ?? "")
        stated = Stated(
            named: url.stated, { sent[JSONName($0.lowercased())].map(Self.withoutScheme) }, { form[$0] },
            { facts.said[$0] })
    }

    /// Whether a browser made the call by itself, to ask for permission to make another one.
    package var isPreflight: Bool { method?.hasSameBytes(as: "OPTIONS") ?? false }

    /// Whether a response came. A browser gives calls that it blocked or ended early a status of 0.
    package var isAnswered: Bool { status.map { $0 > 0 } ?? true }

    /// Whether a backend may have consumed the token of the request. It has not if no response came, if a proxy before
    /// it throttled (429) or could not reach it (5xx), or if the client is to repeat the request elsewhere (307, 308).
    package var isDecided: Bool {
        isAnswered && status.map { $0 < 500 && ![307, 308, 429].contains($0) } ?? true
    }

    /// Whether the call goes to Adobe Pass, by its path.
    package let isService: Bool

    /// A device's identifier without the word before it: `AP-Device-Identifier: fingerprint ID`.
    private static func withoutScheme(_ value: String) -> String {
        String(decoding: Array(value.utf8)[...].dropping("fingerprint ") ?? Array(value.utf8)[...], as: UTF8.self)
    }

    /// The pairs of a name, in lower case, and a value in lists of the entry.
    private static func pairs(in facts: Facts, below lists: [String]...) -> [JSONName: String] {
        let lists = lists.map { $0.map { JSONWalker.Step.name(JSONName($0)) }[...] }
        return facts.objects.reduce(into: [:]) { pairs, object in
            let members = facts[object.path]
            guard lists.contains(object.path.dropLast()), let name = members["name"] else { return }
            pairs[JSONName(String(decoding: name.utf8.map(\.asciiLowercased), as: UTF8.self))] = members["value"]
        }
    }
}

/// The text without percent escapes, and with `plus` for each `+`; the text as it is if an escape is broken.
private func decoded(_ text: ArraySlice<UInt8>, plus: Unicode.Scalar = "+") -> String {
    String(decoding: (try? PercentEncoding.decode(text, plus: UInt8(ascii: plus))) ?? text, as: UTF8.self)
}

/// The names and values of a query, or of a form in a request's body: `resource=TNT&mvpd=Cox`.
private struct SentPairs {
    private let pairs: [(name: String, value: String)]

    init(_ text: ArraySlice<UInt8>) {
        pairs = FormPairs(text).map { (decoded($0.name, plus: " "), decoded($0.value, plus: " ")) }
    }

    /// Takes no pairs from a body of another form, such as JSON, which does not begin as a name does.
    init(ofBody text: String) {
        let text = Array(text.utf8)[...]
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        self.init(name.allSatisfy { $0.isLetterOrDigit || "-_.%+[]".utf8.contains($0) } ? text : [])
    }

    /// The first value of a name.
    subscript(name: String) -> String? { pairs.first { $0.name.hasSameBytes(as: name) }?.value }
}

/// The URL of a captured request.
private struct CapturedURL {
    /// The host and the path; `nil` without a URL.
    let target: String?
    private let path: [ArraySlice<UInt8>]
    private let query: SentPairs

    init(_ text: String) {
        let url = Array(text.utf8).prefix { $0 != UInt8(ascii: "#") }
        let address = url.prefix { $0 != UInt8(ascii: "?") }
        let rest = address.firstRange(of: Array("://".utf8)).map { address[$0.upperBound...] } ?? address
        let host = rest.prefix { $0 != UInt8(ascii: "/") }
        let named = host.lastIndex(of: UInt8(ascii: "@")).map { host[($0 + 1)...] } ?? host
        path = rest[host.endIndex...].split(separator: UInt8(ascii: "/"))
        let parts = rest[host.endIndex...].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // A long part may be a token.
        let short = parts.map { $0.count > 80 ? Array($0.prefix(20)) + Array("…".utf8) : Array($0) }
        let shown = String(decoding: named + short.joined(separator: [UInt8(ascii: "/")]), as: UTF8.self)
        target = text.isEmpty ? nil : printable(shown, limit: 300)
        query = SentPairs(url.dropFirst(address.count + 1))
    }

    /// What the query says or, in REST v2, the path: `/api/v2/{serviceProvider}/decisions/authorize/{mvpd}`.
    func stated(_ name: String) -> String? {
        if let value = query[name] { return value }
        guard let version = path.firstIndex(where: { $0.isSame(as: "v2") }), path.count > version + 2 else {
            return nil
        }
        let provider = path[version + 1].isSame(as: "authenticate") ? path[version + 2] : path[version + 1]
        if name == "serviceProvider" { return decoded(provider) }
        let isNamed = Self.calls.contains(where: path[path.count - 2].isSame)
        return name == "mvpd" && isNamed ? decoded(path[path.count - 1]) : nil
    }

    /// The calls of REST v2 whose name an MVPD follows.
    private static let calls: [String] = ["authorize", "preauthorize", "profiles", "logout"]
    private static let services = ["/adobe-services/", "/api/v2/", "/o/client/", "adobe.com/"]

    static func isService(_ target: String) -> Bool { services.contains { target.utf8.firstRange(of: $0.utf8) != nil } }
}
