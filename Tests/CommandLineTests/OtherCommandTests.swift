import Foundation
import Glibc
import TestSupport
import Testing

@Suite("media-token inspect, issue and keys")
struct OtherCommandTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    private func generateKeys() throws -> (secret: String, open: String) {
        let outcome = try run(["keys", "generate", "--bits", "2048", "--to", directory.path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return ("\(directory.path)/development.key", "\(directory.path)/development.pem")
    }

    @Test("help and version")
    func help() throws {
        for command in Manual.commands {
            let outcome = try run(command + ["--help"])
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("Example"), "\(command)")
            #expect(!outcome.output.split(separator: "\n").contains { $0.count > 80 }, "\(command)")
        }
        #expect(try run(["--version"]).output.hasPrefix("media-token "))
        #expect(try run([]).status == 64)
        #expect(try run(["nonsense"]).errors.contains("verify"))
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
        let key = try generateKeys().open
        let odd = ["verify", "--keys", key, "--requestor", "--odd", "--resource=--odd", "--json", "--", "--odd"]
        #expect(try run(odd).status == 1)
    }

    @Test("each token in a message is cut, and a message that only names the first tag is whole")
    func severalTokens() throws {
        let clear = try Fixtures.realToken()
        let key = try generateKeys().open
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

    @Test("what a terminal obeys is escaped in JSON too")
    func controlCharacters() throws {
        let token = Data(
            "<signatureInfo>AAAA</signatureInfo><authToken><requestorID>F\u{9B}31m\u{202E}é</requestorID></authToken>"
                .utf8)
        let output = try Program.mediaToken.run(["inspect", "--json", "-"], input: token).output
        #expect(!output.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) }, "\(output)")
        #expect(output.contains("\\u009b31m\\u202eé"), "\(output)")
    }

    @Test(
        "who verifies the signatures of a group is told, and can be chosen",
        arguments: [
            ("libcrypto", "by libcrypto (MEDIA_TOKEN_RSA=libcrypto)"),
            ("model", "by slow plain C, MEDIA_TOKEN_RSA=model"),
            ("none", "by libcrypto (MEDIA_TOKEN_RSA=none is none of libcrypto, ifma and model)"),
        ])
    func engine(name: String, told: String) throws {
        let environment = ["MEDIA_TOKEN_RSA": name]
        let version = try Program.mediaToken.run(["--version"], environment: environment)
        #expect(version.status == 0 && version.output.contains(told), "\(version.output)")
        let keys = try generateKeys()
        let common = ["--requestor", "MML", "--resource", "TNT"]
        let tokens = try run(["issue", "--signing-key", keys.secret, "--count", "10"] + common)
        let input = Data((tokens.output + (try Fixtures.realToken())).utf8)
        let verified = try Program.mediaToken.run(
            ["verify", "--key", keys.open, "-"] + common, input: input, environment: environment)
        #expect(verified.status == 1)
        let codes = verified.output.matches(of: /VALID_TOKEN|INVALID_SIGNATURE/).map { String($0.0) }
        #expect(codes == Array(repeating: "VALID_TOKEN", count: 10) + ["INVALID_SIGNATURE"], "\(verified.output)")
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

    @Test(
        "tokens that issue signs are verified, in every form",
        arguments: ["clear", "base64", "percent", "v1-xml", "v1-json", "v2-json"])
    func issueAndVerify(form: String) throws {
        let keys = try generateKeys()
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
        let keys = try generateKeys()
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

    @Test("device-bound tokens are inspected with their device", arguments: ["authn", "authz"])
    func deviceBound(kind: String) throws {
        let keys = try generateKeys()
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

    @Test("a token that nobody could use now is headed so, and fails nothing")
    func headline() throws {
        let keys = try generateKeys()
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
        let issued = ", or issued for the token's own issue time"
        for (command, takesIssued) in [("inspect", true), ("verify", true), ("grant check akamai", false)] {
            let words = command.split(separator: " ").map(String.init)
            let outcome = try run(words + ["--at", "yesterday", "x"])
            #expect(outcome.status == 64 && outcome.errors.contains("--at is 'yesterday'; "), "\(outcome.errors)")
            #expect(outcome.errors.contains("(s, m, h, d)\(takesIssued ? issued : "\n")"), "\(outcome.errors)")
        }
    }

    @Test("the issue time is for commands that are given a token")
    func issuedElsewhere() throws {
        for arguments in [
            ["bench", "verify", "--at", "issued"],
            ["issue", "--signing-key", "k", "--resource", "a", "--requestor", "a", "--issued-at", "issued"],
            ["grant", "akamai", "--key-file", "k", "--acl", "/", "--at", "issued"],
        ] {
            let outcome = try run(arguments)
            #expect(
                outcome.status == 64
                    && outcome.errors.contains("is issued, which has a meaning for inspect and verify"),
                "\(outcome.errors)")
        }
    }

    @Test("a signing key has mode 0600 and is not replaced")
    func generate() throws {
        let keys = try generateKeys()
        let attributes = try FileManager.default.attributesOfItem(atPath: keys.secret)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let again = try run(["keys", "generate", "--to", directory.path])
        #expect(again.status == 2)
        #expect(again.errors.contains("already exists"))
    }

    @Test("a keystore is imported, and listed with the same fingerprint", arguments: ["trust.jks", "trust.p12"])
    func importKeys(store: String) throws {
        let file = Fixtures.vectors.appending(path: "keystores/\(store)").path
        let password = try directory.write("123456\n", to: "password")
        let imported = try run(["keys", "import", file, "--password-file", password, "--to", directory.path])
        #expect(imported.status == 0, "\(imported.errors)")
        let listed = try run(["keys", "list", "--json", directory.path])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [String: Any])
        let fingerprint = try #require(object["fingerprint"] as? String)
        #expect(imported.output.contains(fingerprint))
        #expect(object["name"] as? String == "CN=Media Token Test,O=Example")
        #expect(object["bits"] as? Int == 2048)
    }

    @Test("what a keystore has besides its certificates is named, and so is the issuer of one")
    func leftOut() throws {
        let made = try IssuedCertificate()
        let (folder, store) = (made.directory.path, made.directory.path + "/store.p12")
        try Program("openssl").succeed([
            "pkcs12", "-export", "-inkey", made.key, "-in", folder + "/leaf.pem", "-certfile",
            folder + "/authority.pem",
            "-passout", "pass:123456", "-out", store,
        ])
        let options = ["keys", "import", store, "--password", "123456", "--to", directory.path]
        let imported = try run(options)
        #expect(imported.status == 0 && imported.output.contains("/store.pem  2048 bits"), "\(imported.output)")
        #expect(imported.errors.contains("'CN=authority', which was left out: it is the issuer"))
        #expect(imported.errors.contains("holds a private key, which was not imported"))
        #expect(try run(options + ["--with-issuers"]).output.contains("/store-2.pem  2048 bits"))
        let chain = try made.directory.write(made.certificate + made.authority, to: "chain.pem")
        let listed = try run(["keys", "list", chain])
        #expect(listed.status == 0 && listed.output.contains("CN=leaf\n"))
        #expect(listed.output.contains("'CN=authority', which was left out"))
        let lines = try run(["keys", "list", "--json", chain]).output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains(#""leftOut":"has the certificate 'CN=authority'"#))
        #expect(try run(["keys", "list", "--json", "--with-issuers", chain]).output.contains("CN=authority\","))
    }

    @Test(
        "the command that is advised about a private key takes the public key out",
        arguments: ["leaf.key", "both keys.pem", "store.p12", "alone.p12", "key.der"])
    func privateKeyAdvice(name: String) throws {
        let made = try IssuedCertificate()
        let folder = made.directory.path
        let key = try String(contentsOfFile: made.key, encoding: .utf8)
        try made.directory.write(key + made.certificate, to: "both keys.pem")
        let export = ["pkcs12", "-export", "-inkey", made.key, "-passout", "pass:123456"]
        try Program("openssl").succeed(export + ["-in", folder + "/leaf.pem", "-out", folder + "/store.p12"])
        try Program("openssl").succeed(export + ["-nocerts", "-out", folder + "/alone.p12"])
        try Program("openssl").succeed(["rsa", "-in", made.key, "-outform", "DER", "-out", folder + "/key.der"])
        let password = try made.directory.write("123456\n", to: "password")
        let refused = try run(["keys", "list", "\(folder)/\(name)", "--password-file", password])
        #expect(refused.status == 2)
        let text = refused.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
            separator: " ")
        let quoted = text.split(separator: "'", omittingEmptySubsequences: false)
        let command = try #require(quoted.count == 3 ? String(quoted[1]) : nil, "\(text)")
        let program = Program.mediaToken.executable
        let ran = command.replacing("media-token ", with: "\(program) ").replacing(" FILE ", with: " \(password) ")
            .replacing("pkcs12 ", with: "pkcs12 -passin file:\(password) ")
        try Program("sh").succeed(["-c", "cd \(folder) && \(ran)"])
        let written = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("public") }
        let file = try #require(written.first { $0.hasSuffix(".pem") })
        #expect(try run(["keys", "list", "\(folder)/\(file)"]).status == 0)
    }

    @Test("a wrong password is said, not shown")
    func wrongPassword() throws {
        let file = Fixtures.vectors.appending(path: "keystores/trust.jks").path
        let outcome = try run(["keys", "list", "--password", "hunter2", file])
        #expect(outcome.status == 2)
        #expect(outcome.output.contains("wrong password") && !(outcome.output + outcome.errors).contains("hunter2"))
    }

    @Test("a token that one run used up is used up for the next, by way of a store", arguments: ["lmdb", "redis"])
    func replays(kind: String) throws {
        let keys = try generateKeys()
        let server = kind == "redis" ? try RedisServer() : nil
        let url = server.map { $0.url + "?timeout=5000" } ?? "lmdb:\(directory.path)/replays"
        let common = [
            "verify", "--key", keys.open, "--requestor", "MML", "--resource", "TNT", "--replays", url, "--skew", "0",
        ]
        let issue = ["issue", "--signing-key", keys.secret, "--requestor", "MML", "--resource", "TNT"]
        let early = try run(issue).output
        #expect(try run(common, input: early).output.hasPrefix("TOKEN_PREDATES_STORE\n"))
        // Issue times have seconds: one that is later than the store's beginning is so in the next second.
        usleep(1_100_000)
        let token = try run(issue).output
        let other = try run(issue + ["--mvpd", "Other"]).output
        let lookup = ["replays", "lookup", url]
        #expect(try run(lookup, input: token).status == 0)
        let first = try run(common, input: token)
        #expect(first.status == 0)
        #expect(first.errors.split(separator: "\n").count == 1 && first.errors.contains("replays lookup"))
        let second = try run(common, input: token)
        #expect(second.status == 1)
        #expect(second.output.hasPrefix("TOKEN_ALREADY_USED\n"))

        let id = try #require(second.output.firstMatch(of: /token +([0-9a-f]{16})\n/)).1
        let used = try run(lookup + [token])
        #expect(used.status == 1 && used.errors.isEmpty)
        #expect(used.output.contains("token       \(id)\n") && used.output.contains("\nused        yes\n"))
        #expect(used.output.contains("first use   not known") && used.output.contains("\nkept until  20"))
        let both = try run(lookup + ["--json"], input: other + token + early)
        #expect(both.status == 1)
        let lines = both.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].contains("\"result\":\"unused\"") && !lines[0].contains("keptUntil"))
        #expect(lines[1].contains("\"result\":\"used\"") && lines[1].contains("\"token\":\"\(id)\""))
        #expect(lines[1].contains("\"keptUntilMilliseconds\":"))
        #expect(lines[2].contains("\"result\":\"predates\"") && lines[2].contains("\"fenceMilliseconds\":"))
        let predates = try run(lookup, input: early)
        #expect(predates.status == 1 && predates.output.contains("only for tokens issued after 20"))
        let unread = try run(lookup, input: "nothing\n" + token)
        #expect(unread.status == 2 && unread.errors.contains("not looked up: it begins with"))
        #expect(unread.output.contains("used        yes"))
        #expect(try run(common, input: other).status == 0)

        let stat = try run(["replays", "stat", url])
        #expect(stat.status == 0)
        // Redis has taken the early one down too, before it came to see its fence.
        let live = kind == "redis" ? 3 : 2
        #expect(stat.output.hasPrefix("live tokens  \(live)\n"))
        let swept = try run(["replays", "sweep", "--json", url])
        #expect(swept.output.contains("\"entries\":\(live)"))
        #expect(try run(common + ["--at", "now"], input: token).status == 64)
        server?.end(SIGKILL)
    }

    @Test("a token is looked up in a store of other processes only, and one that exists")
    func badLookups() throws {
        let issued = try run([
            "issue", "--signing-key", try generateKeys().secret, "--requestor", "MML", "--resource", "TNT",
        ])
        let token = issued.output
        for (url, status, text) in [
            ("memory", 64, "its own process only"), ("nonsense:x", 64, "memory, lmdb:PATH"),
            ("lmdb:\(directory.path)/none", 2, "no replay store"),
            ("redis://:hunter2@127.0.0.1:1", 2, "cannot be reached"),
        ] {
            let outcome = try run(["replays", "lookup", url, token])
            #expect(outcome.status == Int32(status) && outcome.errors.contains(text), "\(url): \(outcome.errors)")
            #expect(outcome.output.isEmpty && !outcome.errors.contains("hunter2"))
        }
        #expect(try run(["replays", "lookup"]).status == 64)
        #expect(try run(["replays", "lookup", "lmdb:x", token, token]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/none"))
    }

    @Test("a store that is none, or cannot be opened, is an error with status 2")
    func badStores() throws {
        let server = try RedisServer()
        let cases = [
            ("lmdb:/nowhere/replays", "no replay store"), (server.url, "no replay store"),
            ("redis://:hunter2@127.0.0.1:1", "redis://127.0.0.1:1 cannot be reached"),
        ]
        for (url, text) in cases {
            let outcome = try run(["replays", "stat", url])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
            #expect(!outcome.errors.contains("hunter2"))
        }
        for (url, text) in [("nonsense:x", "memory, lmdb:PATH"), ("memory", "known to its own process only")] {
            let outcome = try run(["replays", "stat", url])
            #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome.errors)")
        }
        let keys = try generateKeys()
        let verified = try run(
            [
                "verify", "--key", keys.open, "--requestor", "A", "--resource", "B", "--replays",
                "lmdb:/nowhere/replays", "x",
            ])
        #expect(verified.status == 2)
        #expect(verified.errors.contains("/nowhere/replays cannot be made: No such file or directory"))
    }
}
