internal import Basics
internal import HTTP

/// The token of a request, and the other fields of its body, which is read according to its media type.
struct VerifyRequestBody: ~Copyable {
    private(set) var token: ArraySlice<UInt8>
    /// The fields of a form; `nil` if the body is not a form.
    private var form: FormFields?
    private var members: [String: String] = [:]

    private static let fields = ["requestor", "requestorId", "resource", "resourceId", "url", "path"]
    /// The names for the token in a form or the gate's own JSON object: the gate's name, and those in common use.
    static let tokenFields = [
        "token", "accessToken", "auth", "mediaToken", "adobeToken", "tveToken", "adobeShortMediaToken",
    ]
    /// A token, and the name under which the request has it.
    private typealias NamedToken = (name: String, bytes: ArraySlice<UInt8>)
    /// The names under which an answer from Adobe holds tokens (REST v1, REST v2).
    private static let answerFields = (token: "serializedToken", decisions: "decisions")
    private static let mediaTypeLimit = 256

    init(_ request: HTTPRequest) throws(RequestError) {
        token = request.body
        let type = try Self.mediaType(request)
        let tokens = request.values(of: GateField.token).map { NamedToken(GateField.token.description, $0) }
        switch type {
        case _ where !tokens.isEmpty && request.body.isEmpty: token = try Self.one(of: tokens)
        case "application/x-www-form-urlencoded": try readForm(request.body, tokens)
        case "application/json": try readJSON(request.body, tokens)
        case nil, "text/plain", "application/xml", "text/xml", "application/octet-stream":
            // The body is the token itself or a whole REST v1 or v2 answer; the library detects which.
            if !tokens.isEmpty { token = try Self.one(of: tokens + [(name: "the body", bytes: request.body)]) }
        case let other?:
            throw RequestError(
                415, .requestInvalid, "the body is \(printable(other)); expected text/plain, a form, JSON or XML")
        }
        guard !token.isEmpty else {
            let isElsewhere = !request.values(of: GateField.streamToken).isEmpty
            // Unreached: A token in the header of streams, for the message; the tests of requests have it.
            let other = isElsewhere ? "; \(GateField.streamToken) is for requests to streams" : ""
            throw .invalid("no token is given; expected it as the body or in the header \(GateField.token)" + other)
        }
    }

    /// The values of the field `name`. A value is `nil` if it cannot be decoded.
    func values(of name: String) -> [String?] {
        if let form { return form.decoded(name) }
        // A bare token, which most requests send, has no other fields.
        return members.isEmpty ? [] : members[name].map { [$0] } ?? []
    }

    /// The media type in lower case. The body must be plain UTF-8: in other encodings, the bytes may be another token.
    static func mediaType(_ request: HTTPRequest) throws(RequestError) -> String? {
        let codings = request.values(of: .contentEncoding).map { String(decoding: $0, as: UTF8.self) }
        if let coding = codings.first(where: { !$0.isSame(ignoringCaseOf: "identity") }) {
            throw RequestError(
                415, .requestInvalid,
                "the body has Content-Encoding \(printable(coding)), which is not supported; expected none")
        }
        guard let value = request.firstValue(of: .contentType) else { return nil }
        // What nearly all callers send.
        if value.isSame(as: "text/plain") { return "text/plain" }
        guard value.count <= mediaTypeLimit else { throw .invalid("the media type is longer than any") }
        let parts = value.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
            String(decoding: part.trimmingBlanks().map(\.asciiLowercased), as: UTF8.self)
        }
        let isUTF8 = parts.allSatisfy { part in
            !part.utf8.starts(with: "charset".utf8) || utf8Names.contains { $0.hasSameBytes(as: part) }
        }
        guard isUTF8, value.allSatisfy({ $0 < 0x80 }) else {
            let shown = printable(String(decoding: value, as: UTF8.self))
            throw RequestError(415, .requestInvalid, "the body is \(shown); expected UTF-8")
        }
        return parts[0]
    }

    private static let utf8Names = ["utf-8", "\"utf-8\"", "us-ascii"].map { "charset=" + $0 }

    /// The fields of a body that is a form.
    static func form(_ bytes: ArraySlice<UInt8>) throws(RequestError) -> FormFields {
        guard String(utf8: bytes) != nil else { throw .invalid("the form is not UTF-8") }
        return try FormFields.whole(bytes, of: "form")
    }

    /// - Parameter tokens: The tokens in the request's header fields.
    private mutating func readForm(_ bytes: ArraySlice<UInt8>, _ tokens: [NamedToken]) throws(RequestError) {
        let form = try Self.form(bytes)
        let named = (Self.tokenFields + [Self.answerFields.token]).flatMap { name in
            form.encoded(name).map { (name: name, bytes: $0) }
        }
        token = try Self.one(of: tokens + named)
        self.form = form
    }

    /// An object with a member of ``answerFields`` and none of ``tokenFields`` is an answer from Adobe, which the
    /// library reads. Its requestor and resource are not used as the caller's expectation, since the client may have
    /// written them. Any other object is the gate's own.
    ///
    /// - Parameter tokens: The tokens in the request's header fields.
    private mutating func readJSON(_ bytes: ArraySlice<UInt8>, _ tokens: [NamedToken]) throws(RequestError) {
        var tokens = tokens
        let decisions: [JSONObject]?
        do throws(JSONError) {
            let object = try StrictJSON.readObject(bytes)
            func take(_ name: String) throws(JSONError) {
                if let text = try object.text(name) { tokens.append((name, Array(text.utf8)[...])) }
            }
            for name in Self.tokenFields { try take(name) }
            let isAnswer = [Self.answerFields.token, Self.answerFields.decisions].contains { name in
                object.members[JSONName(name)] != nil
            }
            guard !tokens.isEmpty || !isAnswer else { return }
            try take(Self.answerFields.token)
            decisions = try object.objects(Self.answerFields.decisions)
            for name in Self.fields { members[name] = try object.text(name) }
        } catch {
            throw .invalid("the JSON cannot be read: \(error.reason)")
        }
        guard decisions == nil else {
            throw .invalid("a token and an answer of Adobe's are given; expected one of them")
        }
        token = try Self.one(of: tokens)
    }

    /// The one token of the request. A second name is refused even with an equal value: another reader may take either.
    private static func one(of tokens: [NamedToken]) throws(RequestError) -> ArraySlice<UInt8> {
        guard let first = tokens.first else {
            throw .invalid(
                "the form or JSON object has no token; expected one, as \(tokenFields.joined(separator: ", ")), or in "
                    + "the header \(GateField.token), or a bare token with Content-Type: text/plain, in place of the "
                    + "application/x-www-form-urlencoded that curl sends by default")
        }
        if let other = tokens.first(where: { !$0.name.hasSameBytes(as: first.name) }) {
            throw .invalid("a token is given as \(first.name) and as \(other.name); expected one of them")
        }
        guard tokens.allSatisfy({ $0.bytes.hasSameBytes(as: first.bytes) }) else {
            throw .invalid("several tokens that differ are given as \(first.name); expected one")
        }
        return first.bytes
    }
}
