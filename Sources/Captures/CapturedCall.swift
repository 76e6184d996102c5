internal import TextEncodings

/// One request and its answer in a HAR file, with what they hold.
package struct CapturedCall: Sendable {
    /// The entry's number in the file, from 1.
    package let number: Int
    package let line: Int
    /// When the client began it, as the file says: a date in ISO 8601, by the clock of the client.
    package let started: String?
    /// When the server answered, as its `Date` header says.
    package let answered: String?
    package let method: String?
    /// The host and the path, without a user, a query and a fragment.
    package let target: String?
    package let status: Int?
    /// What the request says, in its path, its parameters, its headers and its body.
    package let stated: Stated
    package let findings: [Finding]

    /// - Parameter way: the way to the entry.
    init(number: Int, line: Int, way: [String], findings: [Finding], facts: Facts) {
        (self.number, self.line, self.findings) = (number, line, findings)
        started = facts.value("startedDateTime", in: way)
        method = facts.value("request.method", in: way)
        status = facts.value("response.status", in: way).flatMap { Int($0) }
        let url = CapturedURL(facts.value("request.url", in: way) ?? "")
        target = url.target
        answered = Self.pairs(in: facts, below: ["response.headers"])["date"]
        let sent = Self.pairs(in: facts, below: ["request.headers", "request.postData.params"])
        let bodies = facts.objects.filter { $0.way.dropFirst(way.count).first?.hasPrefix("request.") == true }
        stated = Stated(named: { name in
            url.stated(name) ?? sent[name.lowercased()].map(Self.withoutScheme)
                ?? bodies.lazy.compactMap { facts[$0][name] }.first
        })
    }

    /// Whether the call goes to Adobe Pass or to a playback backend, by its path, and is no question of a browser for permission.
    package var isEntitlement: Bool {
        method != "OPTIONS" && target.map { CapturedURL.isService($0) } ?? false
    }

    /// A device's identifier without the word before it: `AP-Device-Identifier: fingerprint ID`.
    private static func withoutScheme(_ value: String) -> String {
        value.hasPrefix("fingerprint ") ? String(value.dropFirst("fingerprint ".count)) : value
    }

    /// The pairs of a name, in lower case, and a value in lists of the entry.
    private static func pairs(in facts: Facts, below lists: [String]) -> [String: String] {
        facts.objects.reduce(into: [:]) { pairs, object in
            let members = facts[object]
            guard lists.contains(where: { object.path.hasPrefix($0 + "[") }), let name = members["name"] else { return }
            pairs[name.lowercased()] = members["value"]
        }
    }
}

/// The URL of a captured request.
private struct CapturedURL {
    /// The host and the path; `nil` without a URL.
    let target: String?
    private let path: [Substring]
    private let query: [(name: String, value: String)]

    init(_ text: String) {
        let url = text.prefix { $0 != "#" }
        let address = url.prefix { $0 != "?" }
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address
        let host = rest.prefix { $0 != "/" }
        let named = host.lastIndex(of: "@").map { host[host.index(after: $0)...] } ?? host
        path = rest[host.endIndex...].split(separator: "/")
        target = text.isEmpty ? nil : printable(String(named) + String(rest[host.endIndex...]), limit: 300)
        query = url.dropFirst(address.count + 1).split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            let value = (try? PercentEncoding.decode(Array(pair.dropFirst(name.count + 1).utf8)[...], plus: 0x20)) ?? []
            return (String(name), String(decoding: value, as: UTF8.self))
        }
    }

    /// What the query says or, in REST v2, the path: `/api/v2/{serviceProvider}/decisions/authorize/{mvpd}`.
    func stated(_ name: String) -> String? {
        if let value = query.first(where: { $0.name == name })?.value { return value }
        guard let version = path.firstIndex(of: "v2"), path.count > version + 2 else { return nil }
        if name == "serviceProvider" { return String(path[version + 1]) }
        let isNamed = ["authorize", "preauthorize", "profiles", "logout"].contains(path[path.count - 2])
        return name == "mvpd" && isNamed ? String(path[path.count - 1]) : nil
    }

    private static let services = [
        "/adobe-services/", "/api/v1/", "/api/v2/", "/o/client/", "/v1/play", "/v1/verify", "/sp/",
    ]

    static func isService(_ target: String) -> Bool { services.contains(where: target.contains) }
}
