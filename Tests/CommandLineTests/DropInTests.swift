import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing
import TokenCrypto

/// `verify --status`, and the script of the page on backends.
@Suite("A drop-in verifier")
struct DropInTests {
    private let keys = KeyPair()
    private var directory: TemporaryDirectory { keys.directory }
    private var key: String { keys.open }

    private func verify(_ options: [String], input: String = "") throws -> Program.Outcome {
        let wanted = ["verify", "--status", "--requestor", "MML", "--resource", "TNT"]
        let replays = options.contains("--replays") ? [] : ["--replays", "memory"]
        return try Program.mediaToken.run(wanted + replays + options, input: Data(input.utf8))
    }

    @Test("--status prints one code a token and nothing else, and the reasons on standard error")
    func codes() throws {
        let tokens = [
            try Mint.token(), try Mint.token(), try Mint.token { $0.resource = "TBS" },
            try Mint.token(key: TestKeys.stranger) { $0.mvpd = "Other" }, "junk",
        ]
        let outcome = try verify(
            ["--key", key, "--min-rsa-bits", "1024", "--at", "1700000010"], input: tokens.joined(separator: "\n"))
        #expect(outcome.status == 1)
        #expect(
            outcome.output
                == "VALID_TOKEN\nTOKEN_ALREADY_USED\nINVALID_RESOURCE_ID\nINVALID_SIGNATURE\nINVALID_TOKEN_FORMAT\n")
        #expect(outcome.errors.split(separator: "\n").count == 4, "\(outcome.errors)")
        #expect(outcome.errors.contains("media-token: INVALID_RESOURCE_ID: signed for resource 'TBS'"))
        let valid = try verify(["--key", key, "--min-rsa-bits", "1024", "--at", "1700000010", tokens[0]])
        #expect(valid.status == 0 && valid.output == "VALID_TOKEN\n" && valid.errors.isEmpty)
    }

    /// `KEY`, `DIR` and `STORE` stand for a good key, a directory, and a store that cannot be opened.
    @Test(
        "whatever fails, --status prints ERROR_UNKNOWN once",
        arguments: [
            "--key /nowhere/key.pem", "--keys DIR/none", "--key DIR/junk",
            "--key KEY --resource-file /nowhere/resource",
            "--key KEY --password-file /nowhere/password", "--key KEY --replays lmdb:/nowhere/replays",
            "--key KEY --replays STORE", "--key KEY @/nowhere/token",
            "--key KEY @DIR",
        ])
    func failures(line: String) throws {
        try directory.write("junk", to: "junk")
        let options = line.replacing("KEY", with: key).replacing("DIR", with: directory.path)
            .replacing("STORE", with: "redis://127.0.0.1:1?timeout=200").split(separator: " ").map(String.init)
        let outcome = try verify(["--min-rsa-bits", "1024"] + options, input: try Mint.token())
        #expect(outcome.status == 2)
        #expect(outcome.output == "ERROR_UNKNOWN\n")
        #expect(!outcome.errors.isEmpty)
    }

    @Test("standard input that cannot be read is ERROR_UNKNOWN too")
    func unreadableInput() throws {
        let script =
            "exec \"$0\" verify --status --replays memory --key \"$1\" --min-rsa-bits 1024 --requestor A --resource B - < \"$2\""
        let outcome = try Program("sh").run(["-c", script, Program.mediaToken.executable, key, directory.path])
        #expect(outcome.status == 2 && outcome.output == "ERROR_UNKNOWN\n", "\(outcome)")
    }

    @Test(
        "a usage error leaves standard output empty",
        arguments: [["--json"], ["--quiet"], ["--skew", "x"], ["a", "b"], ["--nonsense"]])
    func usage(options: [String]) throws {
        let outcome = try verify(["--key", key] + options)
        #expect(outcome.status == 64 && outcome.output.isEmpty && !outcome.errors.isEmpty)
    }

    @Test("the script of the page on backends takes Adobe's arguments, and no token for anything else")
    func script() throws {
        let store = "lmdb:\(directory.path)/replays"
        let snippet = try Fixtures.snippet(
            "sh", under: "Call the program from another language", of: "MediaToken/MediaToken.docc/VerifyInYourBackend")
        let text = snippet.replacing("exec media-token", with: "exec '\(Program.mediaToken.executable)'")
            .replacing("/etc/playback/adobe-keys", with: key + " --min-rsa-bits 1024")
            .replacing("lmdb:/var/lib/playback/replays", with: store)
        #expect(text.contains(key) && text.contains(store))
        let script = try directory.write(text, to: "verify")
        func run(_ arguments: [String]) throws -> Program.Outcome {
            // Standard input has a good token, which nothing may read.
            try Program("sh").run([script] + arguments, input: Data(try token(0).utf8))
        }
        // A new store's fence allows for skew. A store that allows for none takes tokens of the next seconds at once.
        let fenced = try verify(
            ["--key", key, "--min-rsa-bits", "1024", "--replays", store, "--skew", "0"], input: "junk")
        #expect(fenced.output == "INVALID_TOKEN_FORMAT\n", "\(fenced.errors)")

        let (good, other) = (try token(1), try token(2))
        for (arguments, code, status) in [
            (["MML", "TNT", good], "VALID_TOKEN", 0), (["MML", "TNT", good], "TOKEN_ALREADY_USED", 1),
            (["MML", "TBS", other], "INVALID_RESOURCE_ID", 1), (["ABC", "TNT", other], "INVALID_REQUESTOR_ID", 1),
            (["--any-resource", "TNT", other], "INVALID_REQUESTOR_ID", 1),
            (["MML", "--any-resource", other], "INVALID_RESOURCE_ID", 1),
            (["MML", "", other], "INVALID_RESOURCE_ID", 1), (["", "TNT", other], "INVALID_REQUESTOR_ID", 1),
            (["MML", "TNT", other], "VALID_TOKEN", 0),
        ] as [([String], String, Int32)] {
            let outcome = try run(arguments)
            #expect(outcome.output == code + "\n" && outcome.status == status, "\(outcome)")
        }
        let file = try directory.write(try token(3), to: "token")
        for hostile in [
            "", "-", "--help", "--any-resource", "@" + file, file, "$(touch \(directory.path)/run)", "`id`", "';id;'",
            "%s%n", "\\n\\0", " * ", "--version\nVALID_TOKEN",
        ] {
            let outcome = try run(["MML", "TNT", hostile])
            let codes = Set(outcome.output.split(separator: "\n"))
            #expect(codes == ["INVALID_TOKEN_FORMAT"] && outcome.status == 1, "\(hostile): \(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/run"))
        for arguments in [[], ["MML"], ["MML", "TNT"], ["MML", "TNT", good, "more"]] {
            let outcome = try run(arguments)
            #expect(outcome.status == 64 && outcome.output.isEmpty && outcome.errors.contains("expected REQUESTOR"))
        }
        try FileManager.default.removeItem(atPath: key)
        let lost = try run(["MML", "TNT", try token(4)])
        #expect(lost.output == "ERROR_UNKNOWN\n" && lost.status == 2)
    }

    /// A token of the next seconds.
    private func token(_ number: Int) throws -> String {
        try Mint.token {
            $0 = TokenRecipe(issued: TokenDate(.now.advanced(byMilliseconds: 15_000)))
            $0.sessionGUID = "viewer-\(number)"
        }
    }
}
