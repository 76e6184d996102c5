internal import HTTPServer
internal import MediaToken

/// Reads what `POST /v1/verify` was sent: a token in one of the forms in which tokens travel, and what it must be for.
struct VerifyRequestReader {
    let comparesCanonically: Bool

    /// The names under which a form may hold the token: ours, and those of the field.
    private static let tokenFields = ["token", "accessToken", "auth", "mediaToken"]

    func question(_ request: HTTPRequest, explains: Bool) -> GateQuestion {
        do throws(GateProblem) {
            let query = FormFields(request.query ?? "")
            let body = try Body(request)
            let requestor = try one("requestor", body.requestors, query, request.values(of: "X-Requestor-Id"))
            let resource = ResourceID(try one("resource", body.resources, query, request.values(of: "X-Resource-Id")))
            let rule: ResourceRule = comparesCanonically ? .canonically([resource]) : .exactly(resource)
            let expectation = Expectation(requestor: requestor, resource: rule)
            let verification = VerificationRequest(token: RawToken(body.token), expectation: expectation)
            return explains ? .explain(verification) : .verify(verification, .document)
        } catch {
            return .settled(error.reply)
        }
    }

    /// The one value that all places agree on.
    private func one(
        _ name: String, _ inBody: [String?], _ query: FormFields, _ headers: [String]
    ) throws(GateProblem) -> String {
        let given = inBody + query.decoded(name) + headers
        guard let first = given.first else {
            throw GateProblem(
                400, .requestInvalid, "no \(name) is given; expected it in the body, the query or a header")
        }
        let cannotBeDecoded = GateProblem(
            400, .requestInvalid, "the \(name) cannot be decoded; expected percent-encoded UTF-8")
        guard let first else { throw cannotBeDecoded }
        for value in given.dropFirst() {
            guard let value else { throw cannotBeDecoded }
            guard value.hasSameBytes(as: first) else {
                throw GateProblem(
                    400, .requestInvalid,
                    "the \(name) is given as '\(printable(first))' and as '\(printable(value))'; expected one of them")
            }
        }
        return first
    }

    /// A body, by its media type.
    private struct Body {
        var token: [UInt8]
        var requestors: [String?] = []
        var resources: [String?] = []

        init(_ request: HTTPRequest) throws(GateProblem) {
            token = request.body
            switch Self.mediaType(request) {
            case "application/x-www-form-urlencoded": try readForm(request.body)
            case "application/json": try readJSON(request.body)
            // The token itself, or a whole answer of REST v1 or v2: the library tells by the bytes.
            case nil, "text/plain", "application/xml", "text/xml", "application/octet-stream": break
            case let other?:
                throw GateProblem(
                    415, .requestInvalid, "the body is \(printable(other)); expected text/plain, a form, JSON or XML")
            }
            guard !token.isEmpty else { throw GateProblem(400, .requestInvalid, "no token is given") }
        }

        private static func mediaType(_ request: HTTPRequest) -> String? {
            request.values(of: "Content-Type").first.map { value in
                let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
                var type = value.utf8.prefix { $0 != UInt8(ascii: ";") }.drop(while: isBlank)
                while let last = type.last, isBlank(last) { type.removeLast() }
                return String(decoding: type.map(\.asciiLowercased), as: UTF8.self)
            }
        }

        private mutating func readForm(_ bytes: [UInt8]) throws(GateProblem) {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw GateProblem(400, .requestInvalid, "the form is not UTF-8")
            }
            let form = FormFields(text)
            let tokens = VerifyRequestReader.tokenFields.flatMap(form.encoded)
            guard let first = tokens.first, tokens.allSatisfy({ $0.hasSameBytes(as: first) }) else {
                throw GateProblem(
                    400, .requestInvalid,
                    "the form has \(tokens.isEmpty ? "no token" : "several tokens"); expected one, as "
                        + VerifyRequestReader.tokenFields.joined(separator: ", "))
            }
            token = Array(first.utf8)
            (requestors, resources) = (form.decoded("requestor"), form.decoded("resource"))
        }

        /// Our own object has a `token`. Anything else is an answer of Adobe's, which the library reads; what *that* says of
        /// requestor and resource is not what the caller expects, for the client may have written it.
        private mutating func readJSON(_ bytes: [UInt8]) throws(GateProblem) {
            do throws(StrictJSON.Problem) {
                let object = try StrictJSON.readObject(bytes[...])
                guard let own = try object.text("token") else { return }
                token = Array(own.utf8)
                if let requestor = try object.text("requestor") { requestors = [requestor] }
                if let resource = try object.text("resource") { resources = [resource] }
            } catch {
                throw GateProblem(400, .requestInvalid, "the JSON cannot be read: \(error.reason)")
            }
        }
    }
}
