import Foundation
import MediaTokenTesting
import TestSupport
import Testing
import TokenCrypto

@Suite("media-token verify")
struct VerifyCommandTests {
    private static let keys = ["--keys", Fixtures.keys, "--min-rsa-bits", "1024"]
    private static let wanted = ["--requestor", "MML", "--resource", "TNT"]
    private static let time = ["--at", "2016-03-17 15:02:00 -0700"]
    private static let file = "@" + Fixtures.realTokenFile

    private func verify(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Program.Outcome {
        try Program.mediaToken.run(["verify"] + arguments, input: Data(input.utf8), environment: environment)
    }

    /// libxml2 is Debian's, and no sanitizer sees into it.
    @Test("libxml2 reads nothing that it has freed, however a document ends", .enabled(if: !Program.isSanitized))
    func freedInput() throws {
        let documents = [
            "a]]>b", "<a", "<a b", "<a b=", "<a b='", "<a b='<'/>", "<a></b>", "&", "&x;", "&#0;", "&#xFFFFFF;",
            "<a p:b=''/>",
            "<p:a/>", "<a b='' b=''/>", "<![CDATA[", "<![CDATA[]]>]]>", "<?x?>", "<!-- -->", "<!-- -- -->",
            "<!DOCTYPE a>",
            "\u{1}", "<a xmlns:p=''/>", "<a xmlns='b'/>", "<a xmlns:p='%'/>", "</play><a/>", "\u{FFFE}",
            String(repeating: "<a>", count: 20), String(repeating: "<a/>", count: 300),
        ]
        let input = documents.map { "<play>\($0)</play>\n<play>\($0)\n" }.joined()
        let keys = KeyPair()
        let arguments = ["verify", "--key", keys.open, "--requestor", "MML", "--resource", "TNT", "-"]
        let outcome = try Program.mediaToken.underValgrind(
            ["-q", "--error-exitcode=9"], arguments, input: Data(input.utf8))
        #expect(outcome.status == 1, "\(outcome.errors.prefix(2000))")
    }

    @Test("the real token is valid at its own time, with a check list")
    func valid() throws {
        let outcome = try verify(Self.keys + Self.wanted + Self.time + [Self.file])
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("VALID_TOKEN\n"))
        #expect(outcome.output.contains("✓ signature  verified by adobe-pass-2015-2021.pem"))
        #expect(outcome.output.contains("✓ replay"))
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.errors.isEmpty)
    }

    @Test(
        "it is refused, by name, when something does not fit",
        arguments: [
            (["--resource", "TNT", "--at", "2016-03-17 15:09:30 -0700"], "TOKEN_EXPIRED", "✗ window"),
            (["--resource", "TBS", "--at", "1458252120"], "INVALID_RESOURCE_ID", "expected 'TBS'"),
            (["--resource", "TNT", "--at", "2016-03-17T21:00:00Z"], "TOKEN_NOT_YET_VALID", "clock"),
            (["--any-resource", "--at", "1458252120", "--mvpd", "Comcast"], "INVALID_MVPD_ID", "'Comcast'"),
            (
                ["--any-resource", "--max-ttl", "10", "--skew", "0", "--at", "1458252120"], "TOKEN_EXPIRED",
                "0 s of skew"
            ),
        ])
    func refused(arguments: [String], status: String, detail: String) throws {
        let outcome = try verify(Self.keys + ["--requestor", "MML"] + arguments + [Self.file])
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix(status + "\n"))
        #expect(outcome.output.contains(detail), "\(outcome.output)")
    }

    @Test("without --min-rsa-bits the key is refused, by that name")
    func shortKey() throws {
        let outcome = try verify(["--keys", Fixtures.keys] + Self.wanted + [Self.file])
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("--min-rsa-bits 1024"))
    }

    @Test("--json prints one object a line")
    func json() throws {
        let input = "\(try Fixtures.realToken())\n\n\(try Fixtures.realToken())\njunk\n"
        let outcome = try verify(Self.keys + Self.wanted + Self.time + ["--json", "-"], input: input)
        #expect(outcome.status == 1)
        let lines = outcome.output.split(separator: "\n")
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(
            objects.map { $0["code"] as? String } == ["VALID_TOKEN", "TOKEN_ALREADY_USED", "INVALID_TOKEN_FORMAT"])
        #expect(objects.map { $0["number"] as? Int } == [0, 8, 1])
        #expect(objects[0]["key"] as? String == "adobe-pass-2015-2021.pem")
        #expect(objects[0]["kind"] as? String == "media")
        #expect(objects[0]["issueTime"] as? String == "2016-03-17 15:01:31 -0700")
        #expect(objects[0]["expires"] as? Int == 1_458_252_091 + 420)
        #expect(objects[0]["secondsLeft"] as? Int == 391)
        #expect((objects[0]["fields"] as? [String: String])?["mvpdId"] == "TempPass")
        #expect(objects[1]["check"] as? String == "replay" && objects[1]["detail"] is String)
        let checks = try #require(objects[0]["checks"] as? [[String: Any]])
        #expect(
            checks.map { $0["name"] as? String }
                == ["format", "signature", "window", "requestor", "resource", "mvpd", "replay"])
        #expect(Set(checks[0].keys) == ["name", "result", "detail"])
    }

    @Test("--quiet prints nothing")
    func quiet() throws {
        let outcome = try verify(Self.keys + Self.wanted + ["--quiet", Self.file])
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
    }

    @Test("standard input, a file and an argument are read alike")
    func inputs() throws {
        let token = try Fixtures.realToken()
        let common = Self.keys + Self.wanted + Self.time + ["--quiet"]
        #expect(try verify(common + [token]).status == 0)
        #expect(try verify(common, input: token).status == 0)
        #expect(try verify(common + ["-"], input: "\r\n" + token + "\r\n").status == 0)
        #expect(try verify(common + [Self.file]).status == 0)
        let base64 = Data(token.utf8).base64EncodedString()
        let document =
            "{\n  \"decisions\": [ {\n \"authorized\": true,\n \"token\": { \"serializedToken\": \"\(base64)\" } } ]\n}\n"
        #expect(try verify(common, input: document).status == 0)
        #expect(try verify(common, input: "<play>\n<serializedToken>\(base64)</serializedToken>\n</play>").status == 0)
    }

    @Test(
        "input that is no token is refused, whatever it is",
        arguments: [
            "", "\n\n", "\0\0", "<signatureInfo>", "{", "<play", "%", String(repeating: "A", count: 70_000),
            "{" + String(repeating: "[", count: 70_000), String(repeating: "<signatureInfo>\n", count: 3),
        ])
    func junk(input: String) throws {
        let outcome = try verify(Self.keys + Self.wanted, input: input)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("INVALID_TOKEN_FORMAT\n"))
    }

    @Test("a file that cannot be read is named")
    func absentFile() throws {
        let outcome = try verify(Self.keys + Self.wanted + ["@/nowhere/token.txt"])
        #expect(outcome.status == 2)
        #expect(outcome.errors == "media-token: /nowhere/token.txt: No such file or directory\n")
    }

    /// `KEYS` and `WANTED` stand for what a good command line has.
    @Test(
        "a command line that makes no sense ends with 64 and says what was expected",
        arguments: [
            ("", "--keys"), ("KEYS", "--requestor"), ("KEYS --requestor MML", "--resource"),
            ("KEYS WANTED --any-resource", "--any-resource"), ("KEYS WANTED --skew 301", "0 to 300"),
            ("KEYS WANTED --skew x", "'x'"), ("KEYS WANTED --at noon", "2016-03-17T22:02:00Z"),
            ("KEYS WANTED a b", "2 tokens"), ("KEYS WANTED README.md", "expected @ before"),
            ("KEYS WANTED --json --quiet", "--json"),
            ("WANTED --min-rsa-bits 512", "1024"), ("KEYS WANTED --nonsense", "nonsense"),
            ("KEYS WANTED --password a --password-file b", "--password"), ("KEYS WANTED --skew 1 --skew 2", "once"),
            ("KEYS --requestor MML --any-res", "did you mean --any-resource?"),
            ("KEYS WANTED --replays nonsense:x", "no replay store of the kind 'nonsense'"),
        ])
    func usage(line: String, expected: String) throws {
        let arguments = line.split(separator: " ").flatMap { word in
            switch word {
            case "KEYS": Self.keys
            case "WANTED": Self.wanted
            default: [String(word)]
            }
        }
        let outcome = try verify(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    }

    @Test("several tokens are told apart, however each is written")
    func mixedInput() throws {
        let token = try Fixtures.realToken()
        let base64 = Data(token.utf8).base64EncodedString()
        let document = "{\"serializedToken\":\"\(base64)\"}"
        let play = "<play>\n  <serializedToken>\n\(base64)\n</serializedToken>\n</play>"
        let input = [
            String(token.dropLast(20)), base64, document, "junk", play, token,
            "{\n \"serializedToken\": \"\(base64)\"\n}", token,
        ].joined(separator: "\r\n")
        let outcome = try verify(Self.keys + Self.wanted + Self.time + ["--json"], input: input)
        let codes = outcome.output.split(separator: "\n").map { $0.firstMatch(of: /"code":"([A-Z_]+)"/)?.1 ?? "" }
        let used: Substring = "TOKEN_ALREADY_USED"
        #expect(
            codes == [
                "INVALID_SIGNATURE", "VALID_TOKEN", used, "INVALID_TOKEN_FORMAT", used, used, used, used,
            ])
    }

    @Test(
        "Base64 in lines is one token, from an argument, a file and standard input, also beside others",
        arguments: [76, 64, 60, 25, 200], ["\n", "\r\n"])
    func lines(width: Int, lineBreak: String) throws {
        let directory = try TemporaryDirectory()
        let token = try Fixtures.realToken()
        func lines(_ base64: String) -> String {
            let digits = Array(base64)
            let starts = stride(from: 0, to: digits.count, by: width)
            return starts.map { String(digits[$0...].prefix(width)) }.joined(separator: lineBreak)
        }
        let base64 = Data(token.utf8).base64EncodedString()
        let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let common = Self.keys + Self.wanted + Self.time
        let ended = Data((token + "\n").utf8).base64EncodedString()
        for text in [lines(base64), lines(urlSafe), lines(ended) + lineBreak] {
            let file = try directory.write(text, to: "token-\(text.count)-\(text.hashValue)")
            for outcome in [
                try verify(common + [text]), try verify(common, input: text), try verify(common + ["@" + file]),
            ] {
                #expect(outcome.output.hasPrefix("VALID_TOKEN\n"), "\(outcome.output)")
                #expect(outcome.status == 0, "\(outcome.output)")
            }
        }
        let cut = String(lines(base64).prefix(150))
        let input = [
            lines(base64), lines(urlSafe), base64, cut, token, cut, "ju,nk", lines(base64), "", lines(urlSafe), token,
        ].joined(separator: lineBreak)
        let several = try verify(common + ["--status", "--replays", "memory"], input: input)
        let (used, junk) = ("TOKEN_ALREADY_USED", "INVALID_TOKEN_FORMAT")
        let codes = several.output.split(separator: "\n").map(String.init)
        #expect(codes == ["VALID_TOKEN", used, used, junk, used, junk, junk, used, used, used])
    }

    @Test("clear text of several lines is one token, though a line may end as a token does, also beside others")
    func clearTextInLines() throws {
        let keys = KeyPair()
        let payload = Mint.payload().replacing("><", with: ">\n  <")
        let tokens = [try Mint.signed(payload), try Mint.signed(payload.replacing("\n", with: "\r\n"))]
        let common = ["--key", keys.open, "--requestor", "MML", "--resource", "TNT", "--at", "1700000010", "--status"]
        for token in tokens {
            let file = try keys.directory.write(token + "\n", to: "token-\(token.utf8.count)")
            let outcome = try verify(common + ["--replays", "memory", "@" + file])
            #expect(outcome.output == "VALID_TOKEN\n", "\(outcome.errors)")
        }
        let several = try verify(common + ["--replays", "memory"], input: tokens.joined(separator: "\n"))
        #expect(several.output == "VALID_TOKEN\nVALID_TOKEN\n", "\(several.errors)")
    }

    @Test("output that cannot be written is not passed over")
    func fullDisk() throws {
        let line = "exec \"$0\" inspect @\"$1\" > /dev/full"
        let program = Program.mediaToken.executable
        let outcome = try Program("sh").run(["-c", line, program, Fixtures.realTokenFile])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("No space left"))
    }

    @Test("a resource from a file, compared canonically, with line breaks in the token")
    func resourceFile() throws {
        let keys = KeyPair()
        let mrss = "<rss version=\"2.0\">\n<item><guid>1</guid></item>\n</rss>"
        let tokens = [try Mint.token { $0.resource = mrss }, try Mint.token { $0.sessionGUID = "other" }]
        let token = tokens.joined(separator: "\n") + "\n"
        let same = try keys.directory.write(mrss + "\n", to: "same.xml")
        let like = try keys.directory.write("<rss version='2.0'><item><guid>1</guid></item></rss>", to: "like.xml")
        let common = ["--key", keys.open, "--requestor", "MML", "--at", "1700000010"]
        let exact = try verify(common + ["--resource-file", same, "--resource", "TNT"], input: token)
        #expect(exact.status == 0, "\(exact.output)")
        #expect(exact.output.components(separatedBy: "VALID_TOKEN").count == 3)
        #expect(try verify(common + ["--resource-file", like], input: token).status == 1)
        let canonical = common + ["--resource-file", like, "--resource", "TNT", "--canonical-resource"]
        #expect(try verify(canonical, input: token).status == 0)
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
        let keys = KeyPair()
        let common = ["--requestor", "MML", "--resource", "TNT"]
        let tokens = try Program.mediaToken.succeed(
            ["issue", "--signing-key", keys.secret, "--count", "10"] + common)
        let input = try tokens + Fixtures.realToken()
        let verified = try verify(["--key", keys.open, "-"] + common, input: input, environment: environment)
        #expect(verified.status == 1)
        let codes = verified.output.matches(of: /VALID_TOKEN|INVALID_SIGNATURE/).map { String($0.0) }
        #expect(codes == Array(repeating: "VALID_TOKEN", count: 10) + ["INVALID_SIGNATURE"], "\(verified.output)")
    }
}
