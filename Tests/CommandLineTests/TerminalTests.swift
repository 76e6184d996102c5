import Foundation
import TestSupport
import Testing

@Suite("media-token at a terminal")
struct TerminalTests {
    private static let prompt = Terminal.Step.await("paste the token, then Ctrl-D")
    private static let verify = [
        "verify", "--keys", Fixtures.keys, "--min-rsa-bits", "1024", "--requestor", "MML", "--resource", "TNT", "--at",
        "2016-03-17 15:02:00 -0700",
    ]

    @Test("a pasted line may be longer than a terminal's own lines, with Ctrl-D right after it or a line later")
    func longLine() throws {
        let (directory, resource) = (try TemporaryDirectory(), String(repeating: "long ", count: 1200) + "x")
        let path = directory.path + "/dev"
        try Program.mediaToken.succeed(["keys", "generate", "--to", path])
        let issued = try Program.mediaToken.succeed(
            ["issue", "--signing-key", "\(path)/development.key", "--requestor", "MML", "--resource", resource]
                + ["--format", "base64"])
        #expect(issued.utf8.count > 8000)
        let file = try directory.write(resource, to: "resource")
        for token in [issued, issued.trimmingCharacters(in: .newlines)] {
            let outcome = try Terminal.run(
                ["verify", "--key", "\(path)/development.pem", "--requestor", "MML", "--resource-file", file],
                [Self.prompt, .type(token), .type("\u{4}")])
            #expect(outcome.status == 0 && outcome.output.contains("VALID_TOKEN"), "\(outcome.output.suffix(600))")
            #expect(outcome.collectsLines)
        }
    }

    @Test("typing errors can be erased, and Ctrl-Z stops the program with the terminal as it was")
    func editing() throws {
        let token = try Fixtures.realToken().trimmingCharacters(in: .newlines)
        let halves = (String(token.prefix(400)), String(token.dropFirst(400)))
        let outcome = try Terminal.run(
            Self.verify,
            [
                Self.prompt, .type("wrong\u{15}"), .await("\u{15}\r\n"), .type(halves.0 + "é\u{7F}"),
                .await("\u{7F}\u{8} \u{8}"), .type("x\u{8}"), .await("\u{8} \u{8}"),
                // The terminal drops what the program has not read when it stops it.
                .type("\u{1A}"), .resume, .type(halves.1 + "\n\u{4}"),
            ])
        #expect(outcome.status == 0 && outcome.output.contains("VALID_TOKEN"), "\(outcome)")
        #expect(outcome.collectedLines == true && outcome.collectsLines)
    }

    @Test("the terminal is restored when a signal ends the program", arguments: [SIGINT, SIGTERM, SIGQUIT, SIGHUP])
    func signals(number: Int32) throws {
        for step in [Terminal.Step.signal(number)] + (number == SIGINT ? [.type("\u{3}")] : []) {
            let outcome = try Terminal.run(Self.verify, [Self.prompt, .type("abc"), .await("abc"), step])
            #expect(outcome.status == -Int(number) && outcome.collectsLines, "\(outcome)")
        }
    }

    @Test(
        "each command that reads from a terminal says so",
        arguments: [
            (["inspect"], "token"), (["inspect", "-"], "token"), (["grant", "check", "cat", "-"], "grant"),
        ])
    func prompts(command: [String], subject: String) throws {
        let outcome = try Terminal.run(command, [.await("paste the \(subject), then Ctrl-D"), .type("x\n\u{4}")])
        #expect(outcome.status == 1 && outcome.output.contains("✗"), "\(outcome)")
        #expect(try Program.mediaToken.run(command).errors.contains("paste") == false)
    }

    @Test("lines for people wrap between words, below the column of the details, at a terminal's width only")
    func wrap() throws {
        let arguments = Self.verify.dropLast(2) + ["--resource", "TBS", "@" + Fixtures.realTokenFile]
        let (wide, narrow) = (try Terminal.run(Array(arguments)), try Terminal.run(Array(arguments), columns: 60))
        func bare(_ line: Substring) -> String { String(line).replacing(/\u{1B}\[[0-9]*m/, with: "") }
        let lines = narrow.lines.map(bare)
        #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix(String(repeating: " ", count: 15)) })
        #expect(wide.lines.contains { bare($0).count > 80 })
        func words(_ lines: [Substring]) -> [Substring] { lines.flatMap { bare($0).split(separator: " ").map { $0 } } }
        // The time of the check, which it names, may be another in the second run.
        #expect(words(narrow.lines).count == words(wide.lines).count)
        let piped = try Program.mediaToken.run(Array(arguments), environment: ["COLUMNS": "60"])
        #expect(piped.output.split(separator: "\n").contains { $0.count > 80 })
        let json = try Terminal.run(arguments + ["--json"], columns: 60)
        #expect(json.lines.count == 1)
        // Too narrow for words beside the column.
        #expect(try Terminal.run(Array(arguments), columns: 20).lines.count == wide.lines.count)
    }
}
