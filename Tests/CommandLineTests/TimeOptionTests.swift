import Foundation
import TestSupport
import Testing

@Suite("--at of media-token")
struct TimeOptionTests {
    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test(
        "the time of a check in each form",
        arguments: [
            (["--at", "issued"], 0), (["--at=issued"], 0), (["--at", "-5m"], 1), (["--at=-5m"], 1),
            (["--at", "+3d"], 1),
            (["--at", "1458252120000"], 0), (["--at", "2016-03-17T22:05:00"], 0), (["--at", "2016-03-17 22:05"], 0),
            (["--at", "-5"], 64), (["--at", "-5w"], 64),
        ] as [([String], Int32)])
    func checkTimes(options: [String], status: Int32) throws {
        let keys = ["--keys", Fixtures.keys, "--min-rsa-bits", "1024", "--requestor", "MML", "--resource", "TNT"]
        for command in ["inspect", "verify"] {
            let outcome = try run([command] + keys + options + ["@" + Fixtures.realTokenFile])
            #expect(outcome.status == status, "\(command): \(outcome.output)\(outcome.errors)")
        }
    }

    @Test("a time that cannot be read is answered with all that the option takes")
    func unreadableTime() throws {
        let issued = ", issued or line"
        for (command, takesIssued) in [("inspect", true), ("verify", true), ("grant check akamai", false)] {
            let words = command.split(separator: " ").map(String.init)
            let outcome = try run(words + ["--at", "yesterday", "x"])
            #expect(outcome.status == 64 && outcome.errors.contains("--at is 'yesterday'; "), "\(outcome.errors)")
            #expect(outcome.errors.contains("(s, m, h, d)\(takesIssued ? issued : "\n")"), "\(outcome.errors)")
        }
    }

    @Test("the words for a token's own times are for commands that are given a token")
    func wordsElsewhere() throws {
        for arguments in [
            ["bench", "verify", "--at", "line"],
            ["bench", "verify", "--at", "issued"],
            ["issue", "--signing-key", "k", "--resource", "a", "--requestor", "a", "--issued-at", "issued"],
            ["grant", "akamai", "--key-file", "k", "--acl", "/", "--at", "issued"],
        ] {
            let outcome = try run(arguments)
            #expect(
                outcome.status == 64
                    && outcome.errors.contains("is 'issued' or 'line', which only inspect and verify"),
                "\(outcome.errors)")
        }
    }
}
