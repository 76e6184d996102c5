internal import Basics
internal import HTTP
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants
internal import TestSupport

/// A dialect accepts only a token that somebody signed, from the one place that it declares, and each of its answers
/// has its form, whatever a client sent.
struct DialectProperty {
    private let known: SignedTokens
    private let gate: Gate
    /// The origin of the only page that may call the gate.
    private static let page = "https://player.example"

    init(_ known: SignedTokens, keyFile: String) throws {
        self.known = known
        func route(_ path: String, _ kind: String?) -> GateRoute? {
            let grant = kind.flatMap(GrantKind.named).map { kind in
                var maker = GrantConfiguration(kind)
                maker.keyFiles = [keyFile]
                return RouteGrantSettings(maker, scope: path)
            }
            let access = GateRoute.Access.token(Expectation(requestor: "MML", resource: .unsafeAnyResource))
            return GateRoute(path: path, access: access, grant: grant)
        }
        let open = GateRoute(path: "/free", access: .open)
        let routes = [route("/live", "akamai"), route("/link", "secure-link"), route("/plain", nil), open]
        let loaded = try routes.compactMap(\.self).map { try $0.withGrant(among: []) }
        let text = "{\"token\": \"{token}\", \"url\": \"{url}\", \"until\": {expires}}"
        let dialects = [
            try Self.dialect(
                "/json", "json:a.token;base64", "json:a.requestor", "json:resource;base64", "json:url", text),
            try Self.dialect("/form", "form:token", nil, "form:resource", nil, "{\"token\": \"{token}\"}"),
            try Self.dialect("/query", "query:token", "query:requestor", nil, "query:path", "{\"token\": \"{token}\"}"),
            try Self.dialect("/query", "query:token", nil, nil, nil, "{}", route: "/plain", method: "GET"),
            try Self.dialect("/header", "header:X-Token;base64", nil, nil, "header:X-Url", "{\"until\": {expires}}"),
            try Self.dialect("/verified", "header:X-Token", nil, nil, nil, "{}", route: "/plain"),
        ]
        for dialect in dialects {
            if let problem = dialect.problem(beside: loaded) { throw Violation(description: "\(problem)") }
        }
        gate = Gate(
            routes: loaded, dialects: dialects, corsOrigins: CORSOrigins([Self.page].compactMap { CORSOrigin($0) }))
    }

    private static func dialect(
        _ path: String, _ token: String, _ requestor: String?, _ resource: String?, _ url: String?, _ accepted: String,
        route: String = "/live", method: String = "POST"
    ) throws -> Dialect {
        func place(_ text: String) throws -> DialectField {
            guard let place = DialectField(text) else { throw Violation(description: "\(text) is no place") }
            return place
        }
        func answer(_ status: Int, _ text: String) throws -> DialectAnswers.Answer {
            let values = status == 200 ? DialectAnswers.valuesOfAcceptance : DialectAnswers.valuesOfDenial
            return DialectAnswers.Answer(status, try AnswerTemplate(text, type: "application/json", filling: values))
        }
        let places: [Dialect.Value: String?] = [
            .token: token, .requestor: requestor, .resource: resource, .url: url,
        ]
        return Dialect(
            at: path, path: path, method: method, try places.compactMapValues { try $0.map(place) },
            route: url == nil ? route : nil,
            answers: DialectAnswers(
                accepted: try answer(200, accepted),
                rejected: try answer(403, "{\"code\": \"{code}\", \"detail\": \"{detail}\"}"),
                undecided: try answer(503, "{\"detail\": \"{detail}\"}")))
    }

    func check(_ request: HTTPRequest) throws {
        let readers = gate.corsFields(for: request).filter { "\($0.name)" == "Access-Control-Allow-Origin" }
        try demand(readers.allSatisfy { $0.value == Self.page }, "another page may read the answer")
        switch gate.task(request, at: known.batches[0].time) {
        case .settled(let reply):
            // A proxy's question, about an open path or with a grant, is asked in no dialect.
            let isProxied = ["TOKEN_NOT_REQUIRED", "GRANT_VALID"].contains(reply.code)
            try demand(reply.answer.status != 200 || isProxied, "200 without a token")
            try checkForm(reply.answer)
        case .verify(let task):
            guard case .dialect = task.format else { return }
            for batch in known.batches {
                let outcome = batch.verifier.verify([task.request], at: batch.time)[0]
                let reply = task.reply(to: outcome, at: batch.time)
                if case .success(.accepted(let token)) = outcome {
                    try demand(batch.isSigned(token.replayKey), "accepted, and nobody has signed it")
                } else {
                    try demand(reply.answer.status != 200, "200, and the token is not accepted")
                }
                try checkForm(reply.answer)
            }
        case .explain: break
        }
    }

    private func checkForm(_ answer: HTTPAnswer) throws {
        guard answer.headers.contains(where: { $0.value == "application/json" }) else { return }
        let names: Set<JSONName> = ["code", "detail", "token", "url", "until"]
        let object = try? StrictJSON.readObject(answer.body[...])
        try demand(object.map { names.isSuperset(of: $0.members.keys) } ?? false, "an answer is not of its form")
    }
}
