internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import MediaTokenGate
internal import TextEncodings

/// The options that select what a gate is asked, and with which code it must answer.
struct GateQuestionOptions {
    static let group = OptionGroup(
        heading: "What to ask:",
        options: [
            CommandOption(
                "stream", "PATH",
                "Path of the stream, or its URL; for all paths of the gate but /v1/verify. The tokens must be for its route's requestor and resource"
            ),
            CommandOption(
                "by", "MEANS",
                "What opens the stream at /v1/authz/…: token, a new one each time; grant, the cookies for which one token is exchanged at /v1/play first; nothing, on an open route (default token)"
            ),
            CommandOption(
                "expect", "STATUS",
                "What every answer must be (default VALID_TOKEN; by grant GRANT_VALID, by nothing TOKEN_NOT_REQUIRED)"),
        ])

    let question: GateQuestion
    /// The code that every answer must have.
    let expected: String

    init(_ given: Arguments, at place: GateURL) throws(UsageError) {
        let endpoint = place.endpoint
        let stream = try given.one("stream")
        if let stream { try Self.check(stream) }
        guard (stream == nil) == (endpoint == .verify) else {
            throw UsageError(
                stream == nil
                    ? "no --stream is given; \(endpoint.rawValue) is asked about one, for example --stream /live/1.m3u8"
                    : "--stream cannot be used with /v1/verify, which is asked about no stream")
        }
        let means = try given.one("by")
        guard let known = GateQuestion.Means(rawValue: means ?? "token") else {
            let names = GateQuestion.Means.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--by is '\(printable(means ?? ""))'; expected one of \(names)")
        }
        guard means == nil || endpoint.isForProxies else {
            throw UsageError("--by cannot be used with \(endpoint.rawValue), which always takes a token")
        }
        if known == .nothing { try CorpusOptions.refuseAll(with: "--by nothing", given) }
        question = GateQuestion(endpoint, by: known, stream: stream ?? "", host: place.host)
        expected = try Self.code(given) ?? Self.usual(known)
    }

    private static func check(_ stream: String) throws(UsageError) {
        guard ["/", "http://", "https://"].contains(where: { stream.hasPrefix($0) }),
            stream.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw UsageError(
                "--stream is '\(printable(stream))'; expected a path from / on, or an http(s) URL, in ASCII")
        }
    }

    private static func usual(_ means: GateQuestion.Means) -> String {
        switch means {
        case .token: VerdictCode.validToken.rawValue
        case .grant: GateCode.grantValid.rawValue
        case .nothing: GateCode.tokenNotRequired.rawValue
        }
    }

    /// The code that `--expect` names: one of a verdict, or of an answer without one.
    private static func code(_ given: Arguments) throws(UsageError) -> String? {
        if let text = try given.one("expect"), let code = GateCode(rawValue: text) { return code.rawValue }
        return try given.code("expect")?.rawValue
    }
}
