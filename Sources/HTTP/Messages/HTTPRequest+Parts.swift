extension HTTPRequest {
    /// Creates a request from its parts, for a caller that has no connection to read it from. Nothing is checked.
    package init(
        method: String, path: String, query: String? = nil, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], peer: String = ""
    ) {
        var bytes: [UInt8] = []
        func add(_ text: String) -> Range<UInt32> {
            bytes += text.utf8
            return UInt32(bytes.count - text.utf8.count)..<UInt32(bytes.count)
        }
        let method = add(method)
        let target = add(path + (query.map { "?" + $0 } ?? ""))
        let fields = headers.map { Field(name: add($0.name), value: add($0.value)) }
        let head = HTTPHead(method: method, target: target, fields: fields)
        self.init(bytes[...], head, headLength: bytes.count, chunks: body, peer: peer)
    }

    /// All header fields, in the order in which they were sent.
    package var headers: [(name: String, value: String)] {
        fields.map { (String(decoding: self[$0.name], as: UTF8.self), String(decoding: self[$0.value], as: UTF8.self)) }
    }
}
