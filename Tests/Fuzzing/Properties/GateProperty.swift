internal import HTTPServer
internal import MediaToken
internal import MediaTokenGate
internal import TokenCrypto

/// No request gets a protected stream without a token that somebody signed, and every answer is one that a proxy understands.
struct GateProperty: FuzzProperty {
    private let known: SignedTokens
    private let gate: Gate

    init() throws {
        known = try SignedTokens()
        let member = Expectation(requestor: "MML", resource: .unsafeAnyResource)
        let routes = [
            GateRoute(path: "/free", access: .open), GateRoute(path: "/free/members", access: .token(member)),
            GateRoute(path: "/paid", access: .token(member)),
        ]
        gate = Gate(routes: routes.compactMap(\.self))
    }

    /// - Parameter input: `METHOD TARGET`, then lines of headers, an empty line, and the body.
    func check(_ input: [UInt8]) throws {
        guard let request = Self.request(input) else { return }
        switch gate.question(request) {
        case .settled(let reply):
            try check(reply.answer)
            try demand(
                reply.answer.status != 200 || Self.target(request).map(Self.isFree) ?? false,
                "open, and not in every reading below /free")
        case .verify(let verification, let form):
            for batch in known.batches {
                let outcome = batch.verifier.verify([verification], at: batch.time)[0]
                let answer = form.reply(to: outcome).answer
                try check(answer)
                if case .success(.accepted(let token)) = outcome {
                    try demand(batch.isSigned(token.replayKey), "accepted, and nobody has signed it")
                } else {
                    try demand(answer.status != 200, "200, and the token is not accepted")
                }
            }
        case .explain(let verification):
            let batch = known.batches[0]
            _ = batch.verifier.examine(verification.token, for: verification.expectation, at: batch.time)
        }
    }

    private func check(_ answer: HTTPAnswer) throws {
        try demand([200, 400, 401, 403, 404, 405, 415].contains(answer.status), "answered with \(answer.status)")
        for (name, value) in answer.headers {
            try demand(value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(name) is \(value.debugDescription)")
        }
    }

    private static func request(_ input: [UInt8]) -> HTTPRequest? {
        let end = input.firstRange(of: [0x0A, 0x0A])
        let lines = input[..<(end?.lowerBound ?? input.endIndex)].split(separator: 0x0A).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let words = lines.first?.split(separator: " ", maxSplits: 1), words.count == 2 else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let pair = line.split(separator: ":", maxSplits: 1)
            return pair.count == 2 ? (String(pair[0]), String(pair[1].drop { $0 == " " })) : nil
        }
        return HTTPRequest(
            method: String(words[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            headers: headers, body: end.map { Array(input[$0.upperBound...]) } ?? [])
    }

    /// What the request is about, found again without the gate's code.
    private static func target(_ request: HTTPRequest) -> String? {
        let prefix = "/v1/authz/ext-authz"
        if request.path.hasPrefix(prefix) { return String(request.path.dropFirst(prefix.count)) }
        let name = ["/v1/authz/auth-request": "x-original-uri", "/v1/authz/forward-auth": "x-forwarded-uri"][
            request.path]
        return request.headers.first { $0.name.lowercased() == name }?.value
    }

    /// Whether the target lies below /free, and not below /free/members, for every server that reads it in its own way.
    private static func isFree(_ target: String) -> Bool {
        PathReadings(of: target).all.allSatisfy { segments in
            segments.first == "free" && segments.dropFirst().first != "members"
        }
    }
}
