internal import Basics

/// The calls that Charles has saved as JSON, or mitmproxy as flows, reported at the paths that they have in a HAR file.
final class SavedCalls {
    /// How a finding's way names each kind of file.
    static let (charles, mitmproxy) = ("Charles", "mitmproxy")

    private let budget: CaptureBudget
    private let take: ([JSONWalker.Step], [UInt8], Int) -> Void
    /// The place of the current call; `nil` before the first one.
    private var index: Int?
    /// The parts of its URL, by the names that both programs give them.
    private var url: [String: [UInt8]] = [:]
    private var isAnswered = false
    private var line = 1

    private static let urlParts = ["scheme", "host", "port", "path", "query"]
    private static let paths: [String: [JSONName]] = [
        "method": ["request", "method"], "request.method": ["request", "method"],
        "times.start": ["startedDateTime"], "request.timestamp_start": ["startedDateTime"],
        "request.body.text": ["request", "postData", "text"], "request.content": ["request", "postData", "text"],
        "response.status": ["response", "status"], "response.status_code": ["response", "status"],
        "response.body.text": ["response", "content", "text"], "response.content": ["response", "content", "text"],
    ]

    /// The number of bytes that show whether a document is a session of Charles.
    static let head = 4096
    private static let keys = ["method", "protocolVersion", "scheme", "host", "actualPort", "path"].map {
        Array("\"\($0)\"".utf8)
    }

    /// Whether a JSON document begins as a session of Charles does.
    static func isCharles(_ head: ArraySlice<UInt8>) -> Bool {
        head.first == UInt8(ascii: "[") && keys.allSatisfy { head.firstRange(of: $0) != nil }
    }

    /// - Parameter take: takes the values of the calls as those of a HAR file.
    init(_ budget: CaptureBudget, _ take: @escaping ([JSONWalker.Step], [UInt8], Int) -> Void) {
        (self.budget, self.take) = (budget, take)
    }

    /// Takes a value with the path that it has in the program's own file. A path that no HAR file has stays as it is.
    func add(_ path: [JSONWalker.Step], _ value: [UInt8], _ line: Int) {
        guard case .index(let index)? = path.first else { return take(path, value, line) }
        if index != self.index { begin(index) }
        self.line = line
        let steps = path.dropFirst()
        let names = steps.compactMap { if case .name(let name) = $0 { name.text } else { nil } }
        let isNull = value.elementsEqual("null".utf8)
        if let name = names.last, names.count == 1 || names.count == 2 && names[0].hasSameBytes(as: "request"),
            Self.urlParts.contains(where: name.hasSameBytes)
        {
            if !isNull { url[name] = value }
            return
        }
        if let known = Self.paths[names.joined(separator: ".")] {
            isAnswered = isAnswered || known.last == "status" && !isNull
            return take(entry + known.map(JSONWalker.Step.name), unpacked(value), line)
        }
        let places = steps.compactMap { if case .index(let place) = $0 { place } else { nil } }
        guard names.contains(where: "headers".hasSameBytes), let part = steps.first, let place = places.first,
            let name = names.last
        else { return take(entry + steps, value, line) }
        // mitmproxy has a list of a name and a value for each header.
        let member = places.count == 1 ? JSONName(name) : places[1] == 0 ? "name" : "value"
        take(entry + [part, .name("headers"), .index(place), .name(member)], value, line)
    }

    /// A body without the encoding that a server takes off before it reads it. mitmproxy keeps it as it was sent.
    private func unpacked(_ body: [UInt8]) -> [UInt8] {
        guard Inflation.unpacks(body[...]) else { return body }
        let unpacked = Inflation(body[...], budget).all()
        return unpacked.isEmpty ? body : unpacked
    }

    /// Reports what is left of the last call.
    ///
    /// - Parameter isWhole: whether the file has all of it.
    func finish(isWhole: Bool = true) {
        // Only HTTP calls have a URL.
        guard index != nil, !url.isEmpty else { return }
        let scheme = url["scheme"] ?? Array("http".utf8)
        let isUsual = ["https443", "http80"].contains { (scheme + (url["port"] ?? [])).elementsEqual($0.utf8) }
        let port = url["port"].map { isUsual ? [] : Array(":".utf8) + $0 } ?? []
        let query = url["query"].map { $0.isEmpty ? [] : Array("?".utf8) + $0 } ?? []
        let address = scheme + "://".utf8 + (url["host"] ?? []) + port + (url["path"] ?? []) + query
        take(entry + [.name("request"), .name("url")], address, line)
        // As browsers write it of a call that got no response.
        if !isAnswered, isWhole { take(entry + [.name("response"), .name("status")], Array("0".utf8), line) }
    }

    private func begin(_ index: Int) {
        finish()
        (self.index, url, isAnswered) = (index, [:], false)
    }

    /// The path of the current call in a HAR file.
    private var entry: [JSONWalker.Step] { [.name("log"), .name("entries"), .index(index ?? 0)] }
}
