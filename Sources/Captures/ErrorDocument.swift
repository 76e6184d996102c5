/// An error of Adobe's older services: `<error><status>403</status><message>…</message><details>…</details></error>`.
enum ErrorDocument {
    private static let limit = 4096

    /// Reads the error; `nil` if it says nothing.
    ///
    /// - Parameter start: the position of the name of the error's element.
    static func error(in text: ArraySlice<UInt8>, at start: Int) -> ServiceError? {
        guard text[..<start].last == UInt8(ascii: "<") else { return nil }
        let text = String(decoding: text[start...].prefix(Self.limit), as: UTF8.self)
        func element(_ name: String) -> String? {
            guard let begin = text.firstRange(of: "<\(name)>")?.upperBound,
                let end = text[begin...].firstRange(of: "</\(name)>")?.lowerBound
            else { return nil }
            return String(text[begin..<end])
        }
        guard text.contains("</error>"), let code = element("code") ?? element("message") ?? element("details") else {
            return nil
        }
        return ServiceError(
            code: code, action: element("action"), message: element("details") ?? element("message"), resource: nil)
    }
}
