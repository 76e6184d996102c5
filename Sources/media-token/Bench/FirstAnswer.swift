internal import Basics
internal import CommandShell
internal import EventLoops
internal import Glibc
internal import HTTP
internal import LoadTest
internal import MediaToken
internal import PlaybackGrants

/// The answer to one question before a load test. It shows that the gate's store accepts tokens issued from now on, and
/// exchanges a token for the grant with which the test asks for segments.
struct FirstAnswer {
    /// The longest wait for the fence of a store in seconds, if the gate's `Retry-After` names no longer one.
    private static let patience = 120
    /// The longest wait, whatever the gate names, in seconds.
    private static let longest = 7200

    private let client: HTTPClient
    private let url: String

    init(from url: String, at settings: GateLoad.Settings) throws(CommandError) {
        self.url = url
        do {
            client = HTTPClient(try EventLoop(), address: settings.address, port: settings.port)
        } catch { throw CommandError.noDescriptors }
    }

    /// Prepares a load test that asks `question`.
    ///
    /// - Returns: The question, with the cookies of a grant if it is asked with one.
    func prepare(_ question: GateQuestion, _ tokens: GateTokens) throws(CommandError) -> GateQuestion {
        guard question.means == .grant else {
            if case .signed = tokens { _ = try answer(to: question, tokens) }
            return question
        }
        let answer = try answer(to: question.exchange, tokens)
        let cookies = answer.headers.filter { $0.name.isSame(ignoringCaseOf: "Set-Cookie") }.map { cookie in
            String(cookie.value.prefix { $0 != ";" })
        }
        // Only this kind of grant opens a stream at the gate itself.
        guard answer.status == 200, cookies.contains(where: { $0.hasPrefix(CommonAccessToken.name + "=") }) else {
            let reason = answer.gateDetail.map { " (\($0))" } ?? ""
            throw CommandError(
                "/v1/play answers \(printable(answer.gateCode))\(reason), without the cookie \(CommonAccessToken.name); expected "
                    + "VALID_TOKEN with that cookie, as of a route with a grant of kind cat")
        }
        var question = question
        question.cookies = cookies.joined(separator: "; ")
        return question
    }

    /// Asks `question` with a token; about once per second with a fresh one, while the store rejects it for its age.
    private func answer(to question: GateQuestion, _ tokens: GateTokens) throws(CommandError) -> HTTPClient.Answer {
        var (patience, attempt) = (Self.patience, 0)
        while attempt < patience {
            let request = question.request(with: try tokens.one())
            guard let answer = client.ask(request.target, headers: request.headers, body: request.body) else {
                throw CommandError("\(url): no answer; is a gate listening there?")
            }
            guard case .signed = tokens, answer.gateCode == VerdictCode.tokenPredatesStore.rawValue else {
                return answer
            }
            if attempt == 0 {
                let seconds = answer.header("Retry-After").flatMap { Int($0) }.map { min(max(0, $0), Self.longest) }
                patience = max(patience, (seconds ?? 0) + 1)
                Console.printError(
                    "the gate's store is new, and still rejects every token; waiting"
                        + (seconds.map { " \($0) s" } ?? ""))
            }
            attempt += 1
            sleep(1)
        }
        throw CommandError(
            "\(url): still TOKEN_PREDATES_STORE after \(patience) s; expected the store to accept tokens issued now: "
                + "compare the clocks, and the gate's --skew")
    }
}
