import Foundation
import TestSupport
import Testing
import TokenCrypto

@Suite("media-token inspect")
struct InspectCommandTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test("inspect shows every field under UNVERIFIED without a key")
    func unverified() throws {
        let outcome = try run(["inspect", "@" + Fixtures.realTokenFile])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(/^UNVERIFIED; expired [0-9]+ years( [0-9]+ months?)? ago\n/))
        #expect(outcome.output.contains("613e99bf2db476308f802091f8462819"))
    }

    @Test("inspect with keys verifies; what is asked and does not fit is a failure")
    func inspected() throws {
        let common = ["inspect", "--keys", Fixtures.keys, "--min-rsa-bits", "1024"]
        let good = try run(common + ["@" + Fixtures.realTokenFile])
        #expect(good.status == 0)
        #expect(good.output.contains(/^VERIFIED, but expired [0-9]+ years( [0-9]+ months?)? ago\n/))
        let alive = try run(common + ["--at", "issued", "@" + Fixtures.realTokenFile])
        #expect(alive.status == 0 && alive.output.hasPrefix("VERIFIED\n"), "\(alive.output)")
        #expect(try run(common + ["--json", "@" + Fixtures.realTokenFile]).output.contains("\"code\":\"VERIFIED\""))
        #expect(try run(common + ["--resource", "TBS", "@" + Fixtures.realTokenFile]).status == 1)
        #expect(try run(common + ["--at", "now", "@" + Fixtures.realTokenFile]).status == 1)
        let forged = try Fixtures.realToken().replacing("MML", with: "ABC")
        let outcome = try run(common + [forged])
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("INVALID_SIGNATURE\n"))
    }

    @Test("a token that nobody could use now is headed so, and fails nothing")
    func headline() throws {
        func heading(_ kind: String, issued: String, _ key: String...) throws -> String {
            let names = ["--requestor", "MML", "--resource", "TNT", "--kind", kind]
            let token = try run(["issue", "--signing-key", keys.secret, "--issued-at", issued] + names).output
            let outcome = try run(["inspect"] + key, input: token)
            #expect(outcome.status == 0, "\(outcome.output)")
            return String(outcome.output.prefix { $0 != "\n" })
        }
        for kind in ["media", "authn", "authz"] {
            #expect(try heading(kind, issued: "-400d", "--key", keys.open).hasPrefix("VERIFIED, but expired 1 year"))
            #expect(try heading(kind, issued: "-400d").hasPrefix("UNVERIFIED; expired 1 year"))
            #expect(try heading(kind, issued: "now", "--key", keys.open) == "VERIFIED")
        }
        let early = try heading("media", issued: "+2h", "--key", keys.open)
        #expect(early.hasPrefix("VERIFIED, but issued in the future: in 1 h 59 min"), "\(early)")
        #expect(try heading("media", issued: "+2h").hasPrefix("UNVERIFIED; issued in the future: in 1 h 59 min"))
    }

    @Test("a dead token is said to be dead, in UTC and here; what nobody asked for takes one line")
    func deadToken() throws {
        let inspect = ["inspect", "@" + Fixtures.realTokenFile]
        let outcome = try Program.mediaToken.run(inspect, environment: ["TZ": "XYZ-5:45"])
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        let window = try #require(lines.firstIndex { $0.hasPrefix("  – window     expired ") })
        #expect(
            lines[window].contains(
                " ago; lived 7 min (issued 2016-03-17 15:01:31 -0700, expires 2016-03-17 15:08:31 -0700)"))
        #expect(lines[window].hasSuffix("; give --at to check it"))
        #expect(
            lines[window + 1].contains(
                "in UTC: issued 2016-03-17 22:01:31 +0000, expires 2016-03-17 22:08:31 +0000, now "))
        #expect(
            lines[window + 2].contains(
                "here: issued 2016-03-18 03:46:31 +0545, expires 2016-03-18 03:53:31 +0545, now "))
        #expect(
            lines[window + 3] == "  – not asked for: requestor, resource, mvpd (give --requestor, --resource, --mvpd)")
        let utc = try Program.mediaToken.run(inspect, environment: ["TZ": "UTC"]).output
        #expect(utc.contains("in UTC: ") && !utc.contains("here: "))
        let json = try run(inspect + ["--json", "--at", "2016-03-17T22:08:32"])
        #expect(json.status == 0 && json.output.contains("\"secondsLeft\":-1,"), "\(json.output)")
        #expect(json.output.ranges(of: "\"result\":").count == 7)
        #expect(
            try run(["inspect", "junk"]).output.contains(
                "could not be read: signature, window, requestor, resource, mvpd"))
    }

    @Test(
        "a real token that was changed is told from one of another key, by people's commands",
        arguments: ["inspect", "verify"])
    func signatureOrigin(command: String) throws {
        let names = ["--requestor", "MML", "--resource", "TNT", "--at", "issued"]
        let ask = [command, "--key", Fixtures.keys + "/adobe-pass-2015-2021.pem", "--min-rsa-bits", "1024"] + names
        let token = try Fixtures.realToken()
        let changed = try run(ask, input: token.replacing("TempPass", with: "Comcast"))
        #expect(changed.status == 1 && changed.output.hasPrefix("INVALID_SIGNATURE\n"))
        #expect(
            changed.output.contains("signed by adobe-pass-2015-2021.pem, but the text was changed afterwards"),
            "\(changed.output)")
        #expect(changed.output.contains("→ get the token as Adobe Pass issued it: something between changed it"))
        let start = try #require(token.range(of: "<signatureInfo>")).upperBound
        let damaged = token.replacingCharacters(
            in: start..<token.index(after: start), with: token[start] == "A" ? "B" : "A")
        for text in [damaged, try Mint.token(key: TestKeys.short)] {
            let outcome = try run(ask + ["--json"], input: text)
            #expect(outcome.status == 1 && outcome.output.contains("\"code\":\"INVALID_SIGNATURE\""))
            #expect(
                outcome.output.contains(
                    "no loaded key verifies it; tried 'adobe-pass-2015-2021.pem, 1024 bits': another key made"),
                "\(outcome.output)")
            #expect(outcome.output.contains("load the key of the environment"))
        }
        // The length alone tells of a longer key.
        let long = try run(ask, input: try Mint.token())
        #expect(long.output.contains("the signature has 256 bytes (RSA with 2048 bits); the loaded keys are"))
        #expect(!long.output.contains("another key made it"))
    }

    @Test("device-bound tokens are inspected with their device", arguments: ["authn", "authz"])
    func deviceBound(kind: String) throws {
        let token = try run([
            "issue", "--signing-key", keys.secret, "--requestor", "MML", "--resource", "TNT", "--kind", kind,
            "--device", "D1",
        ]).output
        let common = ["inspect", "--key", keys.open, "--at", "now", "--requestor", "MML"]
        #expect(try run(common + ["--device", "D1"], input: token).status == 0)
        let other = try run(common + ["--device", "D2"], input: token)
        #expect(other.status == 1)
        #expect(other.output.contains("✗ device"))
        let verified = try run(["verify", "--key", keys.open, "--requestor", "MML", "--resource", "TNT"], input: token)
        #expect(verified.status == 1)
        #expect(verified.output.hasPrefix("INVALID_TOKEN_FORMAT\n"))
        let advice =
            "take the media token from decisions/authorize (REST v2), tokens/media (REST v1) or getAuthorization"
        #expect(verified.output.contains("→ \(advice) (SDK)\n"), "\(verified.output)")
        let asked = try run(["inspect", "--resource", "TNT"], input: token)
        #expect(
            asked.output.contains("; if a media token was meant, \(advice)") == (kind == "authn"), "\(asked.output)")
    }

    @Test("what a terminal obeys is escaped in JSON too")
    func controlCharacters() throws {
        let token = Data(
            "<signatureInfo>AAAA</signatureInfo><authToken><requestorID>F\u{9B}31m\u{202E}é</requestorID></authToken>"
                .utf8)
        let output = try Program.mediaToken.run(["inspect", "--json", "-"], input: token).output
        #expect(!output.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) }, "\(output)")
        #expect(output.contains("\\u009b31m\\u202eé"), "\(output)")
    }
}
