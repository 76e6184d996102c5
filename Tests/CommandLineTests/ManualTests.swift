import Foundation
import TestSupport
import Testing

/// The commands that the manual has a page for.
enum Manual {
    static let commands = [
        [], ["bench"], ["bench", "gate"], ["bench", "verify"], ["completions"], ["demo"], ["grant"], ["health"],
        ["help"], ["inspect"], ["issue"], ["keys"], ["keys", "generate"], ["keys", "import"], ["keys", "list"],
        ["keys", "rotate"], ["manual"], ["refusals"], ["replays"], ["serve"], ["verify"],
    ]
}

@Suite("media-token manual and completions")
struct ManualTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// What a shell offers for the last word of a line.
    private func offers(_ shell: String, _ line: String) throws -> Set<String> {
        let script = try directory.write(try Program.mediaToken.succeed(["completions", shell]), to: "_media-token")
        switch shell {
        case "fish":
            let output = try Program("fish").succeed(["--no-config", "-c", "source \(script); complete -C '\(line)'"])
            return Set(output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
        case "bash":
            // Bash splits a line at white space and at "=".
            let words = line.replacing("=", with: " = ").split(separator: " ", omittingEmptySubsequences: false)
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let output = try Program("bash").succeed([
                "--norc", "-c",
                """
                source \(script); compopt() { :; }
                COMP_WORDS=(\(list)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _media_token
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
            ])
            return Set(output.split(separator: "\n").map(String.init))
        default:
            // A zsh that has a terminal is asked for completions, and writes what it would add into a file.
            let hits = try directory.write("", to: "hits")
            let commands = [
                #"fpath=(\#(directory.path) $fpath); autoload -Uz compinit; compinit -u -D; bindkey "^I" list-choices"#,
                #"compadd() { local -a f; builtin compadd -O f "$@"; print -l -- $f >> \#(hits); builtin compadd "$@" }"#,
                "PS1='rea''dy'\n",
            ]
            _ = try Terminal.run(
                ["-f", "-i"], of: Program("zsh"),
                [.type(commands.joined(separator: "\n")), .await("ready"), .type(line + "\t\u{15}exit\n")])
            return Set(try String(contentsOfFile: hits, encoding: .utf8).split(separator: "\n").map(String.init))
        }
    }

    @Test("each shell completes commands, options and the words of an option", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        // Bash offers an option with its "=". Fish offers a value with the option before it.
        let equals = shell == "bash" ? "=" : ""
        #expect(try offers(shell, "media-token ").isSuperset(of: ["verify", "serve", "keys", "completions"]))
        #expect(try offers(shell, "media-token keys ").isSuperset(of: ["list", "import", "generate"]))
        #expect(!(try offers(shell, "media-token keys ").contains("verify")))
        #expect(try offers(shell, "media-token keys import --pass").contains("--password-file\(equals)"))
        let option = shell == "fish" ? "--print=" : ""
        let words =
            ["start", "example", "schema", "page", "metrics", "codes", "openapi"]
            + ["nginx", "caddy", "haproxy", "haproxy-lua", "envoy", "traefik"]
        #expect(try offers(shell, "media-token serve --print=") == Set(words.map { option + $0 }))
        #expect(try offers(shell, "media-token replays ").isSuperset(of: ["stat", "sweep", "lookup"]))
        // A flag has no value, so what follows is an operand or an option.
        #expect(try offers(shell, "media-token replays --json ").contains("stat"))
        // An operand that is the name of a command calls none.
        #expect(!(try offers(shell, "media-token manual serve --").contains("--unix-mode\(equals)")))
        #expect(try offers(shell, "media-token manual serve --").contains("--to\(equals)"))
        #expect(try offers(shell, "media-token serve --").contains("--unix-mode\(equals)"))
        #expect(try offers(shell, "media-token bench gate --r").contains("--rate\(equals)"))
    }

    @Test("every command has a manual page without a warning, with each option of its help", arguments: Manual.commands)
    func page(command: [String]) throws {
        let page = try Program.mediaToken.succeed(["manual"] + command)
        let shown = try Program("man").run(
            ["--warnings", "-l", "-"], input: Data(page.utf8), environment: ["MANWIDTH": "200"])
        #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
        let help = try Program.mediaToken.succeed(command + ["--help"])
        let options = help.matches(of: /^ +(?:-., )?--([a-z-]+)/.anchorsMatchLineEndings()).map { String($0.1) }
        #expect(options.contains("help"))
        for option in options where !["help", "usage"].contains(option) {
            #expect(shown.output.contains(try Regex("--\(option)(?![a-z-])")), "\(command) \(option)")
        }
    }

    @Test("the manual has a page for each command, and writes all into a folder")
    func folder() throws {
        try Program.mediaToken.succeed(["manual", "--to", directory.path])
        let names = Manual.commands.map { (["media-token"] + $0).joined(separator: "-") + ".1" }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == names.sorted())
        // Again, as at an upgrade.
        try Program.mediaToken.succeed(["manual", "--to", directory.path])
        #expect(try Program.mediaToken.run(["manual", "verify", "--to", directory.path]).status == 64)
        let refused = try Program.mediaToken.run(["manual", "keys", "nonsense"])
        #expect(refused.status == 64 && refused.errors.contains("no command 'keys nonsense'"))
        #expect(try Program.mediaToken.run(["completions", "csh"]).status == 64)
    }
}
