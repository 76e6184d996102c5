internal import TextEncodings

/// The fields that one value of a request in a HAR file has, as they were sent: the value of a header, the pairs of a query or a form, the strings
/// of a JSON body. What a browser has decoded for its list of parameters, or read of cookies, was not sent like that.
struct SentFields {
    private(set) var values: [ArraySlice<UInt8>] = []

    /// The first value that looks like a token, whatever became of its letters.
    var likeToken: ArraySlice<UInt8>? {
        values.first { value in
            let head = String(decoding: value.prefix(400).map(\.asciiLowercased), as: UTF8.self)
            return value.count > 100
                && ["phnpz25hdhvyzulu", "signatureinfo", "7369676e6174757265"].contains(where: head.contains)
        }
    }

    /// - Parameter steps: The path of the value in the entry.
    init(_ value: [UInt8], at steps: ArraySlice<JSONWalker.Step>) {
        let names = steps.compactMap { if case .name(let name) = $0 { name.text } else { nil } }
        let value = value[...]
        switch names.dropFirst().joined(separator: ".") {
        case "url":
            values = FormPairs(value[(value.position(of: UInt8(ascii: "?")) ?? value.endIndex)...].dropFirst()).map(
                \.value)
        case "headers.value":
            let credentials = value.drop { $0 != UInt8(ascii: " ") }.dropFirst()
            let cookies = value.split(separator: UInt8(ascii: ";")).map {
                $0.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            }
            values = (value.begins(with: "Bearer ") ? [credentials] : cookies) + [value]
        case "postData.text":
            let reader = CaptureReader(value)
            var (strings, isDocument) = ([ArraySlice<UInt8>](), false)
            if value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[") {
                var walker = JSONWalker(reader, limit: .max) { _, string, _ in strings.append(string[...]) }
                isDocument = walker.walk()
            }
            values = isDocument ? strings : FormPairs(value).map(\.value) + [value]
        default: break
        }
    }
}
