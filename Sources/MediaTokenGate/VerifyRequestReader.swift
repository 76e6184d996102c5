internal import HTTPServer
internal import MediaToken

/// Reads what `POST /v1/verify` was sent: a token in one of the forms in which tokens travel, and what it must be for.
struct VerifyRequestReader {
    let comparesCanonically: Bool

    func question(_ request: HTTPRequest, explains: Bool) -> GateQuestion {
        do throws(GateProblem) {
            let query = FormFields(request.query ?? "")
            guard query.isWhole else { throw .invalid("the query has a name that cannot be decoded, or too many") }
            let body = try VerifyRequestBody(request)
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
        // What was no UTF-8 in a header has become a replacement character.
        let sent = headers.map { $0.unicodeScalars.contains("\u{FFFD}") ? nil : $0 }
        let given = inBody + query.decoded(name) + sent
        guard let first = given.first else {
            throw .invalid("no \(name) is given; expected it in the body, the query or a header")
        }
        let cannotBeDecoded = GateProblem.invalid("the \(name) cannot be decoded; expected percent-encoded UTF-8")
        guard let first else { throw cannotBeDecoded }
        for value in given.dropFirst() {
            guard let value else { throw cannotBeDecoded }
            guard value.hasSameBytes(as: first) else {
                throw .invalid(
                    "the \(name) is given as '\(printable(first))' and as '\(printable(value))'; expected one of them")
            }
        }
        return first
    }
}
