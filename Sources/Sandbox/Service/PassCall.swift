internal import Basics
internal import HTTP

/// A call of a client, in parts.
struct PassCall {
    let method: String
    /// The segments of the path, decoded.
    let path: [String]
    /// The parameters of the query and of a form in the body; those of the form come last.
    private let parameters: [String: [String]]
    let request: HTTPRequest
    /// The time of the call, by the clock of the sandbox.
    let now: Timestamp
    private let isSecure: Bool

    /// Reads the call; `nil` if its path or parameters cannot be decoded.
    ///
    /// - Parameter isSecure: Whether it came in TLS.
    init?(_ request: HTTPRequest, at now: Timestamp, isSecure: Bool) {
        guard let path = Self.path(of: request) else { return nil }
        var parameters: [String: [String]] = [:]
        let type = Self.header(.contentType, of: request)?.lowercased()
        let isForm = type?.hasPrefix("application/x-www-form-urlencoded") ?? false
        for text in [request.query ?? [], isForm ? request.body : []] {
            for (name, value) in FormPairs(text) {
                guard let name = Self.decoded(name), let value = Self.decoded(value) else { return nil }
                parameters[name, default: []].append(value)
            }
        }
        (method, self.path, self.parameters) = (String(decoding: request.method, as: UTF8.self), path, parameters)
        (self.request, self.now, self.isSecure) = (request, now, isSecure)
    }

    /// The segments of a request's path, decoded; `nil` if one cannot be decoded.
    static func path(of request: HTTPRequest) -> [String]? {
        var path: [String] = []
        // Clients whose base URL ends with a slash begin their paths with two.
        let slash = UInt8(ascii: "/")
        let segments = request.path.drop { $0 == slash }.split(separator: slash, omittingEmptySubsequences: false)
        for segment in segments {
            guard let text = decoded(segment, plus: UInt8(ascii: "+")) else { return nil }
            path.append(text)
        }
        return path
    }

    static func decoded(_ text: ArraySlice<UInt8>, plus: UInt8 = UInt8(ascii: " ")) -> String? {
        String(percentEncoded: text, plus: plus).flatMap(checked)
    }

    /// Returns the text, or `nil` if a token, which is XML, cannot carry one of its characters (XML 1.0, 2.2), or if
    /// more than 30 combining characters follow each other (UAX #15, Stream-Safe Text Format): comparing two texts with
    /// thousands of them takes seconds.
    static func checked(_ text: String) -> String? {
        var combining = 0
        for scalar in text.unicodeScalars {
            combining = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : combining + 1
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: if combining > 30 { return nil }
            default: return nil
            }
        }
        return text
    }

    /// The scheme and host by which the client knows the sandbox: a proxy in front of it names the scheme.
    var origin: String {
        let scheme = header("x-forwarded-proto") ?? (isSecure ? "https" : "http")
        return header(.host).map { "\(scheme == "https" ? "https" : "http")://\($0)" } ?? ""
    }

    func header(_ name: HTTPFieldName) -> String? { Self.header(name, of: request) }

    private static func header(_ name: HTTPFieldName, of request: HTTPRequest) -> String? {
        request.onlyText(of: name).flatMap(checked)
    }

    /// The values of a parameter that is given several times.
    func values(_ name: String) -> [String] { parameters[name] ?? [] }

    /// A parameter that is there and not empty. If it is given several times, the last counts.
    func parameter(_ name: String) -> String? { values(name).last.flatMap { $0.isEmpty ? nil : $0 } }

    /// The token of `Authorization: Bearer` (RFC 6750, 2.1).
    var bearer: String? {
        header("authorization").flatMap { $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil }
    }

    /// The device of `AP-Device-Identifier: fingerprint BASE64`, at a service provider. Bytes that are no text, or
    /// none that ``checked(_:)`` returns, become `hex:` and their digits.
    func identity(of provider: String) throws(EnhancedError) -> SandboxState.DeviceIdentity {
        guard let words = header("ap-device-identifier")?.split(separator: " "), words.count == 2,
            words[0] == "fingerprint", let bytes = Self.base64(words[1])
        else { throw .device }
        let text = String(utf8: bytes[...]).flatMap(Self.checked)
        return SandboxState.DeviceIdentity(provider: provider, device: text ?? "hex:\(bytes.hexadecimal)")
    }

    /// The viewer of `AP-TempPass-Identity: BASE64`.
    var temporaryIdentity: String? {
        header("ap-temppass-identity").flatMap { Self.base64($0[...]) }.flatMap { String(utf8: $0[...]) }
            .flatMap(Self.checked)
    }

    private static func base64(_ text: Substring) -> [UInt8]? {
        let bytes = try? Base64.decode(Array(text.utf8)[...], alphabet: .standard, padding: .optional)
        return bytes.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The address of the device: the first that `X-Forwarded-For` names, as backends pass it on, or else that of the
    /// connection.
    var address: String {
        header("x-forwarded-for")?.split(separator: ",").first.map { $0.trimmed } ?? request.peer
    }
}

extension Substring {
    fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
