import Foundation
import TestSupport
import Testing

@Suite("the first minutes with media-token")
struct FirstTouchTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: [String]) throws -> Program.Outcome { try Program.mediaToken.run(arguments) }

    @Test("help COMMAND, COMMAND -h and COMMAND --help print one text", arguments: Manual.commands)
    func help(command: [String]) throws {
        let help = try Program.mediaToken.succeed(command + ["--help"])
        #expect(try Program.mediaToken.succeed(command + ["-h"]) == help)
        #expect(try Program.mediaToken.succeed(["help"] + command) == help)
        #expect(help.contains("  -h, --help "))
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
            (["help", "nonsense"], "no command 'nonsense'; expected verify, inspect"),
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
        for alone in [["--version"], ["--usage"], ["grant", "check", "--help"], ["replays", "lookup", "-h"]] {
            #expect(try run(alone).status == 0, "\(alone)")
        }
        for option in ["--help", "-h", "--usage", "--version"] {
            let outcome = try run([option, "verify"])
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.contains(": \(option) is given with other arguments; expected it alone"))
        }
    }

    @Test("keys list shows refused keys, each once, and ends with 2 if none is usable")
    func refusedKeys() throws {
        let folder = directory.path + "/keys"
        let none = try run(["keys", "list", Fixtures.keys])
        #expect(
            none.status == 2 && none.output.contains("2021.pem\n  refused: is RSA with 1024 bits;"), "\(none.output)")
        #expect(none.errors.split(separator: "\n").count == 1 && !none.errors.contains("1024 bits"), "\(none.errors)")

        try Program.mediaToken.succeed(["keys", "generate", "--to", folder])
        try FileManager.default.copyItem(
            atPath: Fixtures.keys + "/adobe-pass-2015-2021.pem", toPath: folder + "/adobe.pem")
        let some = try run(["keys", "list", folder])
        #expect(some.status == 0 && some.errors.isEmpty, "\(some.errors)")
        #expect(some.output.contains("fingerprint") && some.output.contains("adobe.pem\n  refused: is RSA with 1024"))

        // A file that is named is listed like one of a folder.
        let json = try run(["keys", "list", "--json", folder + "/adobe.pem", folder + "/development.pem"])
        #expect(json.status == 0)
        let objects = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.count == 2 && objects[0]["bits"] as? Int == 2048 && objects[0]["refused"] == nil)
        #expect(objects[1]["file"] as? String == folder + "/adobe.pem")
        #expect((objects[1]["refused"] as? String)?.hasPrefix("is RSA with 1024 bits") == true)
        #expect(try run(["keys", "list", folder + "/none"]).errors.contains("/none: cannot be opened: No such file"))
    }

    @Test("keys generate makes its folder for the user alone, but no parents")
    func folder() throws {
        let folder = directory.path + "/dev"
        try Program.mediaToken.succeed(["keys", "generate", "--to", folder])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        let deep = try run(["keys", "generate", "--to", directory.path + "/a/b"])
        #expect(deep.status == 2 && deep.errors.contains("/a/b: its directory does not exist"), "\(deep.errors)")
    }

    @Test("--keys has one wording in every command", arguments: Manual.commands)
    func keys(command: [String]) throws {
        let help = try Program.mediaToken.succeed(command + ["--help"])
        guard help.contains(/^ +--keys=/.anchorsMatchLineEndings()) else { return }
        #expect(help.contains(/--keys=PATH +Load a key file, or those of a directory\s+\(repeatable\)/), "\(help)")
    }
}
