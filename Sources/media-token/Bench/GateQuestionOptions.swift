internal import Basics
internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import MediaTokenGate
internal import Settings

/// The options that select what a gate is asked, and with which code it must answer.
struct GateQuestionOptions {
    static let table = SettingsTable<GateQuestionOptions>.group(
        "What to ask",
        [
            Setting(
                "stream", "PATH", .text(),
                "Path of the stream, or its URL; for all paths of the gate but /v1/verify. The tokens must be for its route's requestor and resource"
            ) { given, name, options in
                options.stream = given.value(name, "a path from / on, or an http(s) URL, in ASCII") { text in
                    let isURL = ["/", "http://", "https://"].contains { text.hasPrefix($0) }
                    return isURL && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
                }
            },
            .word(
                "by", "MEANS",
                "What opens the stream at /v1/authz/…: token, a new one each time; grant, the cookies for which one token is exchanged at /v1/play first; nothing, on an open route",
                default: .token, \.means),
            Setting(
                "expect", "CODE", .text(),
                "Code that every answer must have (default VALID_TOKEN; by grant GRANT_VALID, by nothing TOKEN_NOT_REQUIRED)"
            ) { given, name, options in
                let codes = VerdictCode.allCases.map(\.rawValue)
                options.code = given.value(name, "one of \(codes.joined(separator: ", "))") { text in
                    codes.contains(text) || GateCode(rawValue: text) != nil ? text : nil
                }
            },
        ])

    private var stream: String?
    private var means = GateQuestion.Means.token
    private var code: String?

    private(set) var question = GateQuestion(.verify, by: .token, stream: "", host: "")
    /// The code that every answer must have.
    var expected: String { code ?? usualCode }

    mutating func check(_ given: inout SettingsObject, at place: GateURL) {
        let endpoint = place.endpoint
        if given.wasTaken("stream") == (endpoint == .verify) {
            given.refuse(
                nil,
                stream == nil
                    ? "no --stream is given; \(endpoint.rawValue) is asked about one, for example --stream /live/1.m3u8"
                    : "--stream cannot be used with /v1/verify, which is asked about no stream")
        }
        if !endpoint.isForProxies {
            given.refuse(["by"], withoutEffect: "with \(endpoint.rawValue), which always takes a token")
        }
        if means == .nothing { CorpusOptions.refuseAll(with: "--by nothing", &given) }
        question = GateQuestion(endpoint, by: means, stream: stream ?? "", host: place.host)
    }

    private var usualCode: String {
        switch means {
        case .token: VerdictCode.validToken.rawValue
        case .grant: GateCode.grantValid.rawValue
        case .nothing: GateCode.tokenNotRequired.rawValue
        }
    }
}
