import Foundation
import TestSupport
import Testing

@Suite("media-token issue")
struct IssueCommandTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test(
        "tokens that issue signs are verified, in every form",
        arguments: ["clear", "base64", "percent", "v1-xml", "v1-json", "v2-json"])
    func issueAndVerify(form: String) throws {
        let issued = try run([
            "issue", "--signing-key", keys.secret, "--requestor", "R&D", "--resource", "<a>]]></a>", "--mvpd", "M",
            "--count", "3", "--format", form, "--root", "shortAuthorizationToken",
        ])
        #expect(issued.status == 0, "\(issued.errors)")
        #expect(issued.errors.isEmpty)
        let lines = issued.output.split(separator: "\n").map(String.init)
        #expect(Set(lines).count == 3)
        for line in lines {
            let outcome = try run(
                ["verify", "--key", keys.open, "--requestor", "R&D", "--resource", "<a>]]></a>", "--mvpd", "M"],
                input: line)
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test(
        "a token is issued without a field, or with an empty one",
        arguments: [
            (["--omit", "requestorID"], "INVALID_TOKEN_FORMAT", "<requestorID> is missing"),
            (["--empty", "requestorID"], "INVALID_TOKEN_FORMAT", "<requestorID> is empty"),
            (["--omit", "sessionGUID", "--empty", "mvpdId"], "INVALID_TOKEN_FORMAT", "<sessionGUID> is missing"),
            (["--empty", "ttl", "--empty", "proxyMvpdId"], "VALID_TOKEN", "no ttl"),
            (["--ttl", "none"], "VALID_TOKEN", "no ttl"),
            (["--mvpd", "P", "--proxy-mvpd", "M"], "INVALID_MVPD_ID", "exchanged"),
        ])
    func partialTokens(options: [String], code: String, detail: String) throws {
        let common = ["--requestor", "MML", "--resource", "TNT"]
        let issued = try run(["issue", "--signing-key", keys.secret] + common + options)
        #expect(issued.status == 0, "\(issued.errors)")
        let allowed = ["--mvpd", "M", "--mvpd", "TempPass"]
        let verified = try run(["verify", "--key", keys.open] + common + allowed, input: issued.output)
        #expect(verified.output.hasPrefix(code + "\n") && verified.output.contains(detail), "\(verified.output)")
    }

    @Test(
        "what cannot be left out or empty is a usage error",
        arguments: [
            (["--omit", "requestor"], "expected sessionGUID, requestorID, resourceID, ttl"),
            (["--empty", "TTL"], "expected sessionGUID"), (["--omit", "ttl", "--empty", "ttl"], "the same field"),
            (["--ttl", "none", "--empty", "ttl"], "the same field"), (["--ttl", "None"], "whole number"),
            (["--kind", "authn", "--omit", "ttl"], "media tokens"),
            (["--kind", "authz", "--ttl", "none"], "media tokens"),
            (["--kind", "authz", "--empty", "ttl"], "media tokens"),
        ])
    func partialTokenUsage(options: [String], detail: String) throws {
        let outcome = try run(["issue", "--signing-key", "k", "--requestor", "MML", "--resource", "TNT"] + options)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(detail), "\(outcome.errors)")
    }
}
