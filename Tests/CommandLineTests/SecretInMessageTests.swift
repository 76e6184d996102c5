import Foundation
import TestSupport
import Testing

@Suite("tokens in messages of media-token")
struct SecretInMessageTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test("a token that is given in the place of a file, a URL or another value is not shown")
    func tokenInPlaceOfOther() throws {
        let clear = try Fixtures.realToken()
        let encoded = Data(clear.utf8).base64EncodedString()
        let escaped = try #require(clear.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        for token in [clear, encoded, escaped] {
            for command in [
                ["inspect", "@"], ["verify", "--requestor", "a", "--resource", "b", "--keys"],
                ["verify", "--requestor", "a", "--resource", "b", "--key", "k", "--at"], ["replays", "stat"],
                ["replays", "lookup"], ["replays", "lookup", "lmdb:"], ["serve", "--config"], ["serve", "--log-every"],
                ["serve", "--check", "--keys"], ["keys", "list"], ["grant"], ["bench", "gate"], [],
            ] {
                let joins = ["@", "lmdb:"].contains(command.last)
                let outcome = try run(joins ? command.dropLast() + [(command.last ?? "") + token] : command + [token])
                #expect(outcome.status != 0 && !outcome.errors.isEmpty)
                // Twelve characters of the signature, and of the session GUID.
                for start in [30, 280] {
                    let part = token.dropFirst(start).prefix(12)
                    #expect(!outcome.errors.contains(part), "\(command): \(outcome.errors)")
                }
            }
        }
    }

    @Test("a password in a URL or behind the name of an option is not shown")
    func passwords() throws {
        let url = "redis://user:hunter2@host"
        for command in [
            ["serve", url], ["serve", "--listen", url], ["keys", "list", url],
            ["bench", "gate", "http://a:hunter2@h/"],
            ["verify", "--password:hunter2"], ["verify", "--help=hunter2", "x"],
            ["grant", "akamai", "--acl", "/", "--key-env", "hunter2-hunter2"],
        ] {
            let outcome = try run(command)
            #expect(outcome.status != 0 && !outcome.errors.isEmpty && !outcome.errors.contains("hunter2"), "\(outcome)")
        }
    }

    @Test("an option that there is not is refused by its name, without what is behind it")
    func unknownOptions() throws {
        let clear = try Fixtures.realToken()
        let tokens = [clear, Data(clear.utf8).base64EncodedString(), "%253CsignatureInfo%253E" + clear.dropFirst(15)]
        for token in tokens {
            for command in ["verify", "inspect", "serve", "issue", "grant", "replays", "bench"] {
                for argument in ["--token=\(token)", "--\(token)"] {
                    let outcome = try run([command, argument])
                    #expect(outcome.status == 64 && outcome.errors.contains("no option '--"), "\(command)")
                    #expect(!outcome.errors.contains(token.dropFirst(30).prefix(12)), "\(outcome.errors)")
                }
            }
        }
        // A line break in a name begins no message of its own, and a terminal obeys nothing in it.
        let forged = try run(["serve", "--config", "zz\n\u{1B}[31mmedia-token: all is well"]).errors
        #expect(forged.contains("\nmedia-token:   \\u{1b}[31mmedia-token: all is well"), "\(forged)")
        #expect(try run(["verify", "--requester", "a"]).errors.contains("did you mean --requestor?"))
        #expect(try run(["keys", "list", "--jsn", "a"]).errors.contains("did you mean --json?"))
        // What follows an option is its value, and what follows -- an operand.
        let key = keys.open
        let odd = ["verify", "--keys", key, "--requestor", "--odd", "--resource=--odd", "--json", "--", "--odd"]
        #expect(try run(odd).status == 1)
    }

    @Test("each token in a message is cut, and a message that only names the first tag is whole")
    func severalTokens() throws {
        let clear = try Fixtures.realToken()
        let key = keys.open
        let outcome = try run([
            "verify", "--status", "--keys", key, "--requestor", clear, "--requestor", "x" + clear, "--resource", "TNT",
            "--replays", "memory", clear,
        ])
        #expect(!outcome.errors.contains(clear.dropFirst(30).prefix(12)), "\(outcome.errors)")
        let database = try run(["replays", "lookup", "redis://\(clear)", "x"])
        // Forms that no list of beginnings has: every byte escaped, and JSON with the session GUID beside the token.
        let escaped = clear.utf8.map { "%" + String($0, radix: 16) }.joined()
        let json =
            #"{"serializedToken":"\#(Data(clear.utf8).base64EncodedString())","userId":"0123456789abcdef0123456789abcdef"}"#
        for form in [escaped, json, "\u{200D}" + json] {
            for arguments in [["serve", "--workers", form], ["verify", "--\(form)"]] {
                let errors = try run(arguments).errors
                #expect(!errors.isEmpty && !errors.contains(form.suffix(20)) && errors.utf8.count < 400, "\(errors)")
            }
        }
        // Words after the time of issue, which has spaces, are short.
        let both = try run(["serve", "--workers", "\(clear) \(clear)"]).errors
        #expect(both.contains("…") && !both.contains("issueTime"), "\(both)")
        let signature = try #require(clear.firstMatch(of: /\/[^\/]{24}/)).output
        #expect(database.status != 0 && !database.errors.contains(signature))
        let second = try run(
            ["verify", "--status", "--keys", key, "--requestor", "a", "--resource", "b", "--replays", "memory", "-"],
            input: "<signatureInfo>AAAA<signatureInfo>")
        #expect(second.errors.contains("second <signatureInfo>; expected"), "\(second.errors)")
    }
}
