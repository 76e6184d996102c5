internal import HTTPMessages
internal import TextEncodings

/// A call of a client, in parts.
struct PassCall {
    let method: String
    /// The segments of the path, decoded.
    let path: [String]
    /// The parameters of the query and of a form in the body; of two with one name, the form's last counts.
    let parameters: [String: String]
    let request: HTTPRequest

    /// Reads the call; `nil` if its path or parameters cannot be decoded.
    init?(_ request: HTTPRequest) {
        var path: [String] = []
        for segment in request.path.split(separator: UInt8(ascii: "/")) {
            guard let decoded = try? PercentEncoding.decode(segment), let text = String(utf8: decoded) else {
                return nil
            }
            path.append(text)
        }
        var parameters: [String: String] = [:]
        let isForm = request.onlyText(of: .contentType)?.hasPrefix("application/x-www-form-urlencoded") ?? false
        for text in [request.query ?? [], isForm ? request.body : []] {
            for pair in text.split(separator: UInt8(ascii: "&")) {
                let name = pair.prefix { $0 != UInt8(ascii: "=") }
                guard let name = Self.decoded(name), let value = Self.decoded(pair.dropFirst(name.utf8.count + 1))
                else {
                    return nil
                }
                parameters[name] = value
            }
        }
        (method, self.path, self.parameters) = (String(decoding: request.method, as: UTF8.self), path, parameters)
        self.request = request
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        (try? PercentEncoding.decode(text, plus: UInt8(ascii: " "))).flatMap { String(utf8: $0) }
    }

    func header(_ name: HTTPFieldName) -> String? { request.onlyText(of: name) }

    /// A parameter that is there and not empty.
    func parameter(_ name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The token of `Authorization: Bearer` (RFC 6750, 2.1).
    var bearer: String? {
        header("authorization").flatMap { $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil }
    }

    /// The device of `AP-Device-Identifier: fingerprint BASE64`.
    var device: String? {
        guard let words = header("ap-device-identifier")?.split(separator: " "), words.count == 2,
            words[0] == "fingerprint"
        else { return nil }
        return Self.base64(words[1])
    }

    /// The viewer of `AP-TempPass-Identity: BASE64`.
    var temporaryIdentity: String? { header("ap-temppass-identity").flatMap { Self.base64($0[...]) } }

    private static func base64(_ text: Substring) -> String? {
        let bytes = try? Base64.decode(Array(text.utf8)[...], alphabet: .standard, padding: .optional)
        return bytes.flatMap { $0.isEmpty ? nil : String(utf8: $0[...]) }
    }

    /// The address of the device: the first that `X-Forwarded-For` names, as backends pass it on, or else that of the connection.
    var address: String {
        header("x-forwarded-for")?.split(separator: ",").first.map { $0.trimmed } ?? request.peer
    }
}

extension Substring {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}

extension HTTPRequest {
    fileprivate func onlyText(of name: HTTPFieldName) -> String? {
        onlyValue(of: name).flatMap { String(utf8: $0) }
    }
}
