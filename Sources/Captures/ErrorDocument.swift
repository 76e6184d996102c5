internal import Basics

/// An error of Adobe's older services: `<error><status>403</status><message>…</message><details>…</details></error>`.
struct ErrorDocument {
    let error: ServiceError
    private static let limit = 4096
    private static let closingTag: StaticString = "</error>"
    private static let openingTag: StaticString = "<error"

    /// Reads the error; `nil` if there is none, or if it says nothing.
    ///
    /// - Parameter start: the position of the name of the error's element.
    init?(in text: ArraySlice<UInt8>, at start: Int) {
        guard text[..<start].last == UInt8(ascii: "<") else { return nil }
        var rest = text[start...].prefix(Self.limit)
        while let bracket = rest.position(of: UInt8(ascii: "<")), !rest[bracket...].begins(with: Self.closingTag) {
            if rest[bracket...].begins(with: Self.openingTag) { return nil }
            rest = rest[(bracket + 1)...]
        }
        guard let bracket = rest.position(of: UInt8(ascii: "<")) else { return nil }
        let document = text[start..<bracket]
        func element(_ name: String) -> String? {
            guard let begin = document.firstRange(of: Array("<\(name)>".utf8))?.upperBound,
                let end = document[begin...].firstRange(of: Array("</\(name)>".utf8))?.lowerBound
            else { return nil }
            return String(decoding: document[begin..<end], as: UTF8.self)
        }
        guard let code = element("code") ?? element("message") ?? element("details") else { return nil }
        error = ServiceError(
            code: code, action: element("action"),
            message: [element("details"), element("message")].lazy.compactMap(\.self).first {
                !$0.hasSameBytes(as: code)
            },
            resource: nil)
    }
}

extension ServiceError {
    /// The error of REST v1 in JSON, which has no code: `{"status":403,"message":"User not authorized","details":"…"}`.
    ///
    /// It is `nil` for an object that says anything else too, as a line of a log does.
    init?(ofPlainMembers members: [String: String]) {
        guard members.count == 3, let status = members["status"].flatMap({ Int($0) }), (400..<600).contains(status),
            let message = members["message"], !message.isEmpty, let details = members["details"]
        else { return nil }
        let isNew = ![message, "", "null"].contains(where: details.hasSameBytes)
        self.init(code: message, action: nil, message: isNew ? details : nil, resource: nil, isOfAnyService: true)
    }
}
