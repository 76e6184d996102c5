internal import HTTPMessages
internal import TextEncodings

/// The content of a request's body, read according to its media type.
struct VerifyRequestBody: ~Copyable {
    private(set) var token: ArraySlice<UInt8>
    /// The fields of a form; `nil` if the body is not a form.
    private var form: FormFields?
    private var members: [String: String] = [:]

    private static let fields = ["requestor", "resource", "url", "path"]
    /// The names for the token in a form or the gate's own JSON object: the gate's name, and those in common use.
    static let tokenFields = ["token", "accessToken", "auth", "mediaToken"]
    /// The names under which an answer from Adobe holds tokens (REST v1, REST v2).
    private static let answerFields = (token: "serializedToken", decisions: "decisions")
    private static let mediaTypeLimit = 256

    init(_ request: HTTPRequest) throws(RequestError) {
        token = request.body
        switch try Self.mediaType(request) {
        case "application/x-www-form-urlencoded": try readForm(request.body)
        case "application/json": try readJSON(request.body)
        // The body is the token itself or a whole REST v1 or v2 answer; the library detects which.
        case nil, "text/plain", "application/xml", "text/xml", "application/octet-stream": break
        case let other?:
            throw RequestError(
                415, .requestInvalid, "the body is \(printable(other)); expected text/plain, a form, JSON or XML")
        }
        guard !token.isEmpty else { throw .invalid("no token is given") }
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

    static func form(_ bytes: ArraySlice<UInt8>) throws(RequestError) -> FormFields {
        guard String(utf8: bytes) != nil else { throw .invalid("the form is not UTF-8") }
        let form = FormFields(bytes)
        guard form.isWhole else {
            throw .invalid("a field name of the form cannot be decoded, or there are more than 256 fields")
        }
        return form
    }

    private mutating func readForm(_ bytes: ArraySlice<UInt8>) throws(RequestError) {
        let form = try Self.form(bytes)
        token = try Self.one(of: (Self.tokenFields + [Self.answerFields.token]).flatMap(form.encoded), in: "form")
        self.form = form
    }

    /// An object with a member of ``answerFields`` and none of ``tokenFields`` is an answer from Adobe, which the library reads.
    /// Its requestor and resource are not used as the caller's expectation, since the client may have written them. Any
    /// other object is the gate's own.
    private mutating func readJSON(_ bytes: ArraySlice<UInt8>) throws(RequestError) {
        var tokens: [String?] = []
        let decisions: [JSONObject]?
        do throws(JSONError) {
            let object = try StrictJSON.readObject(bytes)
            for name in Self.tokenFields { tokens.append(try object.text(name)) }
            let isAnswer = [Self.answerFields.token, Self.answerFields.decisions].contains { name in
                object.members[JSONName(name)] != nil
            }
            guard tokens.contains(where: { $0 != nil }) || !isAnswer else { return }
            tokens.append(try object.text(Self.answerFields.token))
            decisions = try object.objects(Self.answerFields.decisions)
            for name in Self.fields { members[name] = try object.text(name) }
        } catch {
            throw .invalid("the JSON cannot be read: \(error.reason)")
        }
        guard decisions == nil else {
            throw .invalid("the body has a token, and an answer of Adobe's; expected one of them")
        }
        token = try Self.one(of: tokens.compactMap { $0.map { Array($0.utf8)[...] } }, in: "JSON object")
    }

    private static func one(
        of tokens: [ArraySlice<UInt8>], in form: String
    ) throws(RequestError) -> ArraySlice<UInt8> {
        guard let first = tokens.first, tokens.allSatisfy({ $0.hasSameBytes(as: first) }) else {
            throw .invalid(
                "the body, read as a \(form), has \(tokens.isEmpty ? "no token" : "several tokens that differ"); expected "
                    + "one, as \(tokenFields.joined(separator: ", ")), or a bare token sent as text/plain")
        }
        return first
    }
}
