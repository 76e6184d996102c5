internal import CommandShell
internal import FoundationEssentials
internal import HTTP

/// One request of the demo's tour, and the answer that it must get.
struct DemoStop {
    private enum Question {
        /// A proxy's request, about a path of the streams.
        case path(String, DemoToken?)
        /// A backend's request, about a token.
        case verify(DemoToken)
    }

    /// The gate's answer.
    struct Answer: Equatable, CustomStringConvertible {
        let status: Int
        let code: String

        var description: String { "\(status) \(code)" }
    }

    private let title: String
    private let question: Question
    private let expected: Answer

    /// The request of a proxy about `path`, for a client that has sent `token`.
    static func path(
        _ title: String, _ path: String, token: DemoToken? = nil, expecting status: Int, _ code: String
    ) -> DemoStop {
        DemoStop(title: title, question: .path(path, token), expected: Answer(status: status, code: code))
    }

    /// The request of a backend about `token`.
    static func verify(
        _ title: String, token: DemoToken, expecting status: Int, _ code: String
    ) -> DemoStop {
        DemoStop(title: title, question: .verify(token), expected: Answer(status: status, code: code))
    }

    /// Sends the request, and prints it as a command to paste, with its answer.
    ///
    /// - Returns: whether the answer is the expected one.
    func visit(number: Int, with client: HTTPClient, at address: String) -> Bool {
        Console.print("\n\(Style.strong("\(number). \(title)"))\n   \(Style.faint(curl(address)))")
        guard let answer = send(client) else {
            Console.print("   \(Style.bad("✗")) no answer; expected \(expected)")
            return false
        }
        let came = Answer(status: answer.status, code: answer.header("X-Media-Token-Code") ?? "")
        let isRight = came == expected
        Console.print(
            isRight
                ? "   \(Style.good("✓")) \(came)" : "   \(Style.bad("✗")) \(came); expected \(expected)")
        if let detail = Self.detail(answer) { Console.print("     \(detail)") }
        Console.flush()
        return isRight
    }

    private static let proxyTarget = "/v1/authz/auth-request"
    private static let backendTarget =
        "/v1/verify?requestor=\(DemoFolder.requestor)&resource=\(DemoFolder.resource)"

    /// The request as a `curl` command for a shell.
    func curl(_ address: String) -> String {
        switch question {
        case .path(let path, let token):
            let header = token.map { " -H \"X-Media-Token: $(cat \($0.file))\"" } ?? ""
            return "curl -i -H 'X-Original-URI: \(path)'\(header) http://\(address)\(Self.proxyTarget)"
        case .verify(let token):
            return "curl -i -H 'Content-Type: text/plain' --data-binary @\(token.file) "
                + "'http://\(address)\(Self.backendTarget)'"
        }
    }

    private func send(_ client: HTTPClient) -> HTTPClient.Answer? {
        switch question {
        case .path(let path, let token):
            let headers = [("X-Original-URI", path)] + (token.map { [("X-Media-Token", $0.text)] } ?? [])
            return client.ask(Self.proxyTarget, headers: headers)
        case .verify(let token):
            return client.ask(
                Self.backendTarget, headers: [("Content-Type", "text/plain")], body: Array(token.text.utf8))
        }
    }

    /// The reason for a rejection, from the problem document of an answer (RFC 9457); `nil` if the answer has none.
    private static func detail(_ answer: HTTPClient.Answer) -> String? {
        struct Problem: Decodable {
            let detail: String
        }
        return (try? JSONDecoder().decode(Problem.self, from: Data(answer.body)))?.detail
    }
}
