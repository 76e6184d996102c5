internal import Basics
internal import HTTP
internal import MediaToken

extension TokenExchange {
    /// Reads a request to `POST /v1/verify` or `/v1/explain`: a token in any supported form, and what it must be for.
    func verify(_ request: HTTPRequest, explains: Bool) throws(RequestError) -> GateTask {
        let sent = try VerifyRequestFields(request)
        let token = RawToken(sent.body.token)
        let requestor = try sent.requestor().map { RequestorID($0) }
        let resource = try sent.resource().map { rule(for: ResourceID($0)) }
        if explains {
            return .explain(
                ExplanationRequest(token: token, requestors: requestor.map { [$0] }, resource: resource))
        }
        guard let requestor else { throw .missing("requestor", "X-Requestor-Id") }
        guard let resource else { throw .missing("resource", "X-Resource-Id") }
        let expectation = Expectation(requestors: [requestor], resource: resource)
        return .verify(VerificationTask(VerificationRequest(token: token, expectation: expectation), .document))
    }

    /// Reads a request to `POST /v1/play`: the fields of `/v1/verify`, and the stream's URL or path.
    func play(_ request: HTTPRequest, at now: Timestamp) throws(RequestError) -> GateTask {
        let sent = try VerifyRequestFields(request)
        let (field, text) = try sent.one("url", or: "path")
        let target = PlayTarget.url(text, in: field, mayBePrefix: false)
        return try task(request, RawToken(sent.body.token), target, .document, at: now) { () throws(RequestError) in
            (try sent.requestor(), try sent.resource())
        }
    }
}

/// The fields of a request with a token, from its body, query and headers.
struct VerifyRequestFields: ~Copyable {
    let body: VerifyRequestBody
    private let query: FormFields
    private let request: HTTPRequest

    init(_ request: HTTPRequest) throws(RequestError) {
        let query = try FormFields.whole(request.query ?? [], of: "query")
        body = try VerifyRequestBody(request)
        self.query = query
        self.request = request
    }

    func requestor() throws(RequestError) -> String? { try one("requestor", or: "requestorId", GateField.requestor) }

    func resource() throws(RequestError) -> String? { try one("resource", or: "resourceId", GateField.resource) }

    /// Either `name` or `other`, exactly one of which must be given, and its value.
    func one(_ name: String, or other: String) throws(RequestError) -> (name: String, value: String) {
        guard let given = try either(name, other) else {
            throw .invalid("no \(name) is given; expected it, or a \(other), in the body or the query")
        }
        return given
    }

    /// The value of either `name` or `other` on which body, query and header agree; `nil` if none of them has it.
    private func one(_ name: String, or other: String, _ header: HTTPFieldName) throws(RequestError) -> String? {
        var (agreed, place) = (try either(name, other)?.value, 0)
        while let value = request.nextValue(of: header, from: &place) {
            // A replacement character stands for bytes that were not UTF-8 when a proxy read them.
            let text = String(utf8: value).flatMap { $0.holdsReplacement ? nil : $0 }
            try Self.agree(on: text, of: name, &agreed)
        }
        return agreed
    }

    /// Either `name` or `other`, and its value in body and query, which may not have both; `nil` if they have neither.
    private func either(_ name: String, _ other: String) throws(RequestError) -> (name: String, value: String)? {
        let (first, second) = (try one(name), try one(other))
        guard first == nil || second == nil else {
            throw .invalid("a \(name) and a \(other) are given; expected one of them")
        }
        return first.map { (name, $0) } ?? second.map { (other, $0) }
    }

    /// The value on which body and query agree; `nil` if neither has it.
    private func one(_ name: String) throws(RequestError) -> String? {
        var agreed: String?
        for value in body.values(of: name) { try Self.agree(on: value, of: name, &agreed) }
        for value in query.decoded(name) { try Self.agree(on: value, of: name, &agreed) }
        return agreed
    }

    private static func agree(on value: String?, of name: String, _ agreed: inout String?) throws(RequestError) {
        guard let value else { throw .invalid("the \(name) cannot be decoded; expected percent-encoded UTF-8") }
        guard !value.isEmpty else { throw .invalid("the \(name) is empty; expected a value, or no \(name)") }
        guard let first = agreed else { return agreed = value }
        guard value.hasSameBytes(as: first) else {
            throw .invalid(
                "the \(name) is given as '\(printable(first))' and as '\(printable(value))'; expected one of them")
        }
    }
}

extension RequestError {
    fileprivate static func missing(_ name: String, _ header: String) -> Self {
        .invalid(
            "no \(name) is given; expected it as a form field, a JSON member, a query field or the header \(header)")
    }
}
