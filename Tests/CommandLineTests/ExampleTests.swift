import Foundation
import TestSupport
import Testing

/// Runs the examples of help texts and pages with a shell, in a folder with what they name of a checkout.
private struct Examples {
    /// The examples, without the blanks in front and with their further lines.
    let examples: [String]

    /// The examples of a command's help.
    init(help: String) throws {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let title = try #require(lines.lastIndex { ["Example:", "Examples:"].contains($0) }, "\(help)")
        let shown = lines[(title + 1)...].filter { !$0.isEmpty }
        // A line that is too long is broken where no shell would expect it.
        #expect(shown.allSatisfy { $0.hasPrefix("  ") }, "\(shown)")
        examples = Self.examples(in: shown.map { String($0.dropFirst(2)) })
    }

    /// The examples of a page: what stands in its blocks for a shell.
    init(page: String) {
        examples = page.matches(of: /```sh\n(.*?)\n```/.dotMatchesNewlines()).flatMap { block in
            Self.examples(in: block.1.split(separator: "\n").map(String.init))
        }
    }

    init(_ examples: [String]) { self.examples = examples }

    private static func examples(in lines: [String]) -> [String] {
        lines.reduce(into: []) { examples, line in
            if let last = examples.last, last.hasSuffix("\\") || line.hasPrefix("  ") {
                examples[examples.count - 1] = last + "\n" + line
            } else {
                examples.append(line)
            }
        }
    }

    /// Runs each example in turn, and expects the exit status that a comment in it names, or else 0.
    func run() throws {
        let directory = try TemporaryDirectory()
        for name in ["Keys", "Tests"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.path + "/" + name, withDestinationPath: Fixtures.package.appending(path: name).path)
        }
        let programs = directory.path + "/bin"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
        for program in [Program.mediaToken, .sandbox] {
            let name = URL(filePath: program.executable).lastPathComponent
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/\(name)", withDestinationPath: program.executable)
        }
        let ports = try FreePort.take(3)
        func onFreePorts(_ text: String) -> String {
            zip([8080, 8081, 8090], ports).reduce(text) { $0.replacing(":\($1.0)", with: ":\($1.1)") }
                .replacing("--port 8080", with: "--port \(ports[0])")
        }
        var script = "cd '\(directory.path)' || exit\ntrap 'kill $gates 2> /dev/null' EXIT\n"
        for (number, example) in examples.enumerated() {
            let command = onFreePorts(example)
            script += "\n" + (Self.health(of: example).map { Self.started(command, onFreePorts($0)) } ?? command)
            script += "\necho $? > status-\(number)\n"
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let outcome = try Program("sh").run(
            [try directory.write(script, to: "script")],
            environment: ["PATH": "\(programs):\(path)", "HOME": directory.path, "MANPAGER": "cat"])
        for (number, example) in examples.enumerated() {
            let promised = example.firstMatch(of: /# exit status ([0-9]+)/).map { String($0.1) } ?? "0"
            let status = try? String(contentsOfFile: "\(directory.path)/status-\(number)", encoding: .utf8)
            #expect(
                status == promised + "\n",
                "\(example)\n\(outcome.output.suffix(2000))\n\(outcome.errors.suffix(2000))")
        }
    }

    /// Where an example answers that runs until somebody stops it; `nil` for one that ends by itself.
    private static func health(of example: String) -> String? {
        switch example {
        case _ where example.hasPrefix("media-token serve") && !example.contains("--print"):
            example.contains("--check") ? nil : "http://127.0.0.1:8081/livez"
        case _ where example.hasPrefix("media-token-sandbox serve"): "http://127.0.0.1:8090/healthz"
        case _ where example.hasPrefix("media-token-sandbox demo"): "http://127.0.0.1:8080/"
        default: nil
        }
    }

    /// Starts a service. An example in the background waits for it by itself, if it has to. For one that a user would
    /// have in the foreground, this waits until it answers and stops it; its status is the example's.
    private static func started(_ command: String, _ health: String) -> String {
        guard !command.hasSuffix("&") else { return command + "\ngates=\"$gates $!\"" }
        let ask = "curl --silent --output /dev/null --noproxy '*' \(health)"
        return """
            \(command) &
            gates="$gates $!"
            for attempt in $(seq 300); do
                \(ask) && break
                sleep 0.1
            done
            \(ask) && kill $! && wait $!
            """
    }
}

@Suite("examples run as they stand in a checkout")
struct ExampleTests {
    @Test("those of --help", arguments: Manual.commands)
    func help(command: [String]) throws {
        let examples = try Examples(help: try Program.mediaToken.succeed(command + ["--help"]))
        #expect(!examples.examples.isEmpty)
        try examples.run()
    }

    @Test("the FILE of serve's --help")
    func settingsFile() throws {
        let help = try Program.mediaToken.succeed(["serve", "--help"])
        let file = try #require(help.firstMatch(of: /\n *(\{"keys"[^#]*?\}\]\})\n/)).output.1
        let directory = try TemporaryDirectory()
        let checked = try Program("sh").run(
            [
                "-c", #"cd "$0" && exec "$1" serve --check --config "$2""#, Fixtures.package.path,
                Program.mediaToken.executable, try directory.write(String(file), to: "gate.json"),
            ])
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    }

    @Test("those of the sandbox's --help", arguments: ["", "serve", "demo", "cards", "sso", "device", "crowd", "help"])
    func sandbox(command: String) throws {
        let words = command.isEmpty ? ["--help"] : [command, "--help"]
        let examples = try Examples(help: try Program.sandbox.succeed(words))
        #expect(!examples.examples.isEmpty)
        try examples.run()
    }

    @Test("those of the page on the command line")
    func page() throws {
        let examples = Examples(page: try Fixtures.page("media-token/CommandLine.docc/CommandLine"))
        #expect(examples.examples.count >= 5)
        try examples.run()
    }

    /// The README's blocks for a shell install packages and run all tests, and CI runs them.
    @Test("those in the README's text")
    func readme() throws {
        let text = try String(contentsOf: Fixtures.package.appending(path: "README.md"), encoding: .utf8)
        let commands = text.matches(of: /`(media-token [^`]*@Tests[^`]*)`/).map { String($0.1) }
        #expect(!commands.isEmpty)
        try Examples(commands).run()
    }
}
