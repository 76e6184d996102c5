import Foundation
import TestSupport
import Testing

@Suite("the first minutes with media-token")
struct FirstTouchTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: [String]) throws -> Program.Outcome { try Program.mediaToken.run(arguments) }

    @Test("a command has one help, with an example, in lines of 80 characters", arguments: Manual.commands)
    func help(command: [String]) throws {
        let help = try Program.mediaToken.succeed(command + ["--help"])
        #expect(try Program.mediaToken.succeed(command + ["-h"]) == help)
        #expect(try Program.mediaToken.succeed(["help"] + command) == help)
        #expect(help.contains("  -h, --help ") && help.contains("Example"))
        #expect(!help.split(separator: "\n").contains { $0.count > 80 }, "\(help)")
        // --keys has one wording in every command.
        guard help.contains(/^ +--keys=/.anchorsMatchLineEndings()) else { return }
        #expect(help.contains(/--keys=PATH +Load a key file, or those of a directory\s+\(repeatable\)/), "\(help)")
    }

    @Test("the help of an operand is that of its command", arguments: [["replays", "stat"], ["grant", "cat"]])
    func helpOfOperands(words: [String]) throws {
        let help = try Program.mediaToken.succeed(["help"] + words)
        #expect(try Program.mediaToken.succeed([words[0], "--help"]) == help)
        #expect(help.contains(words[1]))
    }

    @Test(
        "a name that is misspelt is answered with the nearest one",
        arguments: [
            (["insepct"], "no command 'insepct'; did you mean inspect?"),
            (["vrify", "x"], "did you mean verify?"), (["keys", "lits"], "did you mean list?"),
            (["help", "keys", "imprt"], "did you mean import?"),
            (["manual", "keys", "lst"], "did you mean keys list?"),
            (["replays", "lokup", "x"], "did you mean lookup?"), (["verify", "--requester=a"], "mean --requestor?"),
            (["keys", "list", "--jsno"], "mean --json?"), (["grant", "akmai"], "did you mean akamai?"),
            (["grant", "chekc", "cat", "x"], "did you mean check?"),
            (["grant", "check", "cta", "x"], "did you mean cat?"),
            (["nonsense"], "verify"), (["help", "nonsense"], "no command 'nonsense'; expected verify, inspect"),
        ])
    func misspelt(arguments: [String], hint: String) throws {
        let outcome = try run(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty && outcome.errors.contains(hint), "\(outcome.errors)")
    }

    @Test("-h that is the value of an option, or follows --, is no question for help")
    func valueLikeHelp() throws {
        let key = ["verify", "--keys", Fixtures.keys, "--min-rsa-bits", "1024", "--resource", "TNT"]
        #expect(try run(key + ["--requestor", "-h", "x"]).status == 1)
        #expect(try run(key + ["--requestor", "MML", "--", "-h"]).status == 1)
    }

    @Test(
        "nothing but a verdict ends with 0: a token that is an option is none, and none of a file is quoted",
        arguments: [
            "--help", "-h", "--usage", "--version", "-?", "-V", "--hel", "--help=", "-hx", "-xh", "-", "-help", "@FILE",
        ])
    func verdictAlone(token: String) throws {
        let key = try directory.write("00112233445566778899aabbccddeeff", to: "grant.key")
        let file = try directory.write("secret of the host\n{\"secret\":1,\"secret\":2}\n", to: "file")
        let keys = ["--keys", Fixtures.keys, "--min-rsa-bits", "1024"]
        let asked = ["--requestor", "MML", "--resource=TNT"]
        let store = "lmdb:\(directory.path)/replays"
        _ = try run(["verify"] + keys + asked + ["--replays", store, "x"])
        for command in [
            ["verify"] + keys + asked, ["verify", "--quiet"] + keys + asked, ["verify", "--find"] + keys + asked,
            ["verify", "--status", "--replays", store] + keys + asked, ["verify", "--json"] + keys + asked,
            ["inspect"] + keys, ["replays", "lookup", store], ["grant", "check", "akamai"],
            ["grant", "check", "akamai", "--key-file", key, "--url", "/a"],
        ] {
            for separator in [[], ["--"]] {
                let outcome = try run(command + separator + [token.replacing("FILE", with: file)])
                #expect(outcome.status != 0, "\(command): \(outcome)")
                #expect(!(outcome.output + outcome.errors).contains("secr"), "\(command): \(outcome)")
            }
        }
    }

    @Test("help and the version are given where nothing else was asked for")
    func helpAlone() throws {
        for alone in [["--version"], ["grant", "check", "--help"], ["replays", "lookup", "-h"]] {
            #expect(try run(alone).status == 0, "\(alone)")
        }
        #expect(try run(["--version"]).output.hasPrefix("media-token ") && run([]).status == 64)
        for option in ["--help", "-h", "--version"] {
            let outcome = try run([option, "verify"])
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.contains(": \(option) is given with other arguments; expected it alone"))
        }
    }
}
