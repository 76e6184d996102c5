internal import Basics

/// The fields that one value of a request in a HAR file has, as they were sent: the value of a header, the pairs of a
/// query or a form, the strings of a JSON body. What a browser has decoded for its list of parameters, or read of
/// cookies, was not sent like that.
struct SentFields {
    private(set) var values: [ArraySlice<UInt8>] = []

    /// Whether a value looks like a token, even if something changed the case of its letters.
    static func isLikeToken(_ value: ArraySlice<UInt8>) -> Bool {
        let head = String(decoding: value.prefix(400).map(\.asciiLowercased), as: UTF8.self)
        let marks = ["phnpz25hdhvyzulu", "signatureinfo", "7369676e6174757265"]
        return value.count > 100 && marks.contains(where: head.contains)
    }

    /// - Parameters:
    ///   - steps: The path of the value in the entry.
    ///   - header: The name of the header that has the value; `nil` for another value.
    init(_ value: [UInt8], at steps: ArraySlice<JSONWalker.Step>, header: String?) {
        let names = steps.compactMap { if case .name(let name) = $0 { name.text } else { nil } }
        switch names.dropFirst().joined(separator: ".") {
        case "url": values = Self.query(value[...])
        case "headers.value": values = Self.header(value[...], named: header)
        case "postData.text": values = Self.body(value[...])
        default: break
        }
    }

    private static func query(_ url: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        FormPairs(url[(url.position(of: UInt8(ascii: "?")) ?? url.endIndex)...].dropFirst()).map(\.value)
    }

    /// The parts of a header: its credentials, the query of a `:path`, cookies without the quotes around them (RFC
    /// 6265, 4.1.1), or all of it.
    private static func header(_ value: ArraySlice<UInt8>, named name: String?) -> [ArraySlice<UInt8>] {
        if name?.isSame(ignoringCaseOf: "cookie") == true { return HeaderValues.cookies(value).map(\.value) }
        if let credentials = HeaderValues.bearer(value) { return [credentials] }
        if value.first == UInt8(ascii: "/"), value.contains(UInt8(ascii: "?")) { return query(value) }
        return [value]
    }

    /// The strings of JSON, the parts of a multipart body, the values of a form, or all of it.
    private static func body(_ body: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        if body.first == UInt8(ascii: "{") || body.first == UInt8(ascii: "[") {
            var strings: [ArraySlice<UInt8>] = []
            var walker = JSONWalker(CaptureReader(body), limit: .max) { _, string, _ in strings.append(string[...]) }
            if walker.walk() { return strings }
        }
        guard body.begins(with: "--") else {
            let name = body.prefix(60).prefix { $0 != UInt8(ascii: "=") }
            let isForm = name.count < 60 && name.allSatisfy { $0.isLetterOrDigit || "-_.%+[]".utf8.contains($0) }
            return isForm ? FormPairs(body).map(\.value) : [body]
        }
        var (parts, rest) = ([ArraySlice<UInt8>](), body)
        while let begin = rest.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
            let end = rest[begin...].firstRange(of: Array("\r\n--".utf8))?.lowerBound ?? rest.endIndex
            parts.append(rest[begin..<end])
            rest = rest[end...]
        }
        return parts
    }
}
