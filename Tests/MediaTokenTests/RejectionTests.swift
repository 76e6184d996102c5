import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("What a refusal says")
struct RejectionTests {
    @Test("names the values that differ and what to do, in one line, without token or session GUID")
    func messages() throws {
        let token = try Mint.token { $0.resource = "line\nbreak \u{9B}31m \u{202E}" }
        let late = Timestamp(milliseconds: Mint.now.milliseconds + 600_000)
        let resource = Expectation(requestor: "MML", resource: "TBS")
        let requestor = Expectation(requestor: "ABC", resource: .unsafeAnyResource)
        let cases: [(Verdict, [String])] = [
            (
                try Mint.verifier().verify(token, at: late),
                ["2023-11-14 15:20:20 -0700", "expired 3 min 10 s ago; lived 7 min", "30 s"]
            ),
            (try Mint.verifier().verify(token, for: resource), ["'TBS'", "line\\u{a}break", "byte 0"]),
            (try Mint.verifier().verify(token, for: requestor), ["'MML'", "'ABC'"]),
            (try Mint.verifier(keys: [TestKeys.stranger]).verify(token), ["key-0.pem"]),
            (try Mint.verifier(keys: [TestKeys.short]).verify(token), ["256 bytes", "1024 bits"]),
        ]
        for (verdict, expected) in cases {
            let rejection = try #require(verdict.rejection)
            for text in expected { #expect(rejection.message.contains(text), "\(rejection.message)") }
            for text in [rejection.message, rejection.advice, rejection.description] {
                #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
                #expect(!text.contains("\u{202E}"))
                #expect(!text.contains(Mint.recipe().sessionGUID))
                #expect(!text.contains("signatureInfo>" + token.dropFirst(15).prefix(20)))
            }
        }
    }

    @Test(
        "no more than four bytes of what is no token are shown, as text if they are printable",
        arguments: [
            ("613e99bf-2db4-476f", "'613e'"), ("GET /play", "'GET '"), ("a", "'a'"), ("<html>", "'<htm'"),
            ("a\u{1B}[2J", "the bytes 61 1b 5b 32"),
            ("\u{202E}abc", "the bytes e2 80 ae 61"), ("abc\u{7F}", "the bytes 61 62 63 7f"),
        ])
    func firstBytes(input: String, shown: String) throws {
        let message = try Mint.verifier().verify(input).message
        #expect(message.hasPrefix("it begins with \(shown); expected <signatureInfo>, "), "\(message)")
    }

    @Test("a life that the policy cut is said to be cut")
    func cutLife() throws {
        let token = try Mint.token { $0.timeToLive = 3_600_000 }
        let late = Timestamp(milliseconds: Mint.now.milliseconds + 1_000_000)
        #expect(try Mint.verifier().verify(token, at: late).message.contains("ttl of 1 h cut to 15 min"))
    }

    @Test("a token without a requestor is Adobe's to mend, and no other fault of a requestor is")
    func withoutRequestor() throws {
        for (spelling, isAdobes) in [
            ("", true), ("<requestorID/>", true), ("<requestorID a=\"\"/>", false),
            ("<requestorID/><requestorID/>", false),
        ] {
            let payload = Mint.payload().replacing("<requestorID>MML</requestorID>", with: spelling)
            let rejection = try #require(try Mint.verifier().verify(Mint.signed(payload)).rejection)
            #expect(rejection.code == .invalidTokenFormat)
            #expect(rejection.message.contains("requestorID"))
            #expect(rejection.message.contains("3.4.0") == isAdobes, "\(rejection.message)")
            #expect(rejection.advice.contains("report it to Adobe") == isAdobes, "\(rejection.advice)")
        }
    }

    @Test(
        "a window is told by its distance from the time of the check",
        arguments: [
            (-125, "issued in the future: in 2 min 5 s ("), (0, "expires in 7 min ("), (170, "expires in 4 min 10 s ("),
            (420, "expires in 0 s ("), (441, "expired 21 s ago; lived 7 min ("),
            (86_400, "expired 23 h 53 min ago; lived 7 min ("),
        ] as [(Int64, String)])
    func distance(seconds: Int64, begin: String) throws {
        let now = Timestamp(milliseconds: Mint.issued.timestamp.milliseconds + seconds * 1000)
        let examination = try Mint.verifier().examine(RawToken(Mint.token()), for: Mint.expectation, at: now)
        let window = examination.reports.first { $0.check == .window }
        #expect(window?.detail.hasPrefix(begin) == true, "\(window?.detail ?? "")")
        #expect(window?.detail.contains(" cut to ") == false)
        #expect(window?.outcome == (seconds < 0 || seconds > 450 ? .failed : .passed))
        #expect(examination.time == now)
    }

    @Test(
        "a resource that differs is told by what differs",
        arguments: [
            ("TNT", "tnt", "signed for resource 'tnt'; expected 'TNT'; they differ in case only"),
            (
                "Caf\u{E9}", "Cafe\u{301}",
                "signed for resource 'Cafe\u{301}'; expected 'Caf\u{E9}'; they differ in Unicode normalization only (an"
            ),
            (
                "TNT\u{A0}HD", "TNT HD",
                "signed for resource 'TNT HD'; expected 'TNT\\u{a0}HD'; first difference at byte 3: "
                    + "expected '\\u{a0}HD' (U+00A0), signed ' HD'"
            ),
            (
                "TNT\u{3164}", "TNT",
                "signed for resource 'TNT'; expected 'TNT\\u{3164}'; first difference at byte 3: "
                    + "expected '\\u{3164}' (U+3164), signed the end"
            ),
            (
                "Caf\u{E9}", "Caf\u{E8}",
                "signed for resource 'Caf\u{E8}'; expected 'Caf\u{E9}'; first difference at byte 3: "
                    + "expected '\u{E9}' (U+00E9), signed '\u{E8}' (U+00E8)"
            ),
            (
                "TNT", "TBS",
                "signed for resource 'TBS'; expected 'TNT'; first difference at byte 1: expected 'NT', signed 'BS'"
            ),
            (
                "<a><b>2847812</b></a>", "<a ><b>2847811</b></a>",
                "/a/b: expected '2847812', signed '2847811'; canonical"
            ),
            ("<a><b/></a>", "<a/>", "/a/b: expected, and not in the signed resource; "),
            ("<a/>", "<a><b/></a>", "/a/b: signed, and not in the expected resource; "),
            ("<a><b/></a>", "<a><c/></a>", "/a/b: expected this element, signed 'c' in its place; "),
        ])
    func resourceDifference(expected: String, signed: String, begin: String) throws {
        let wanted = Expectation(requestor: "MML", resource: expected)
        let message = try Mint.verifier().verify(Mint.token { $0.resource = signed }, for: wanted).message
        #expect(message.hasPrefix(begin), "\(message)")
    }

    @Test("a requestor and an MVPD that look like the expected ones are told by what alone differs")
    func likeness() throws {
        let requestor = try Mint.verifier().verify(Mint.token { $0.requestor = "mml" }).message
        #expect(requestor == "signed for requestor 'mml'; expected 'MML'; they differ in case only")
        let policy = VerificationPolicy(allowedMVPDs: ["MML": ["A", "T\u{E9}l\u{E9}"]])
        let verifier = try Mint.verifier(policy: policy)
        let mvpd = try verifier.verify(Mint.token { $0.mvpd = "Te\u{301}le\u{301}" }).message
        #expect(mvpd.contains("; as for 'T\u{E9}l\u{E9}', they differ in Unicode normalization only"), "\(mvpd)")
        let accents = String(repeating: "e\u{301}\u{316}", count: 2000)
        let long = try Mint.verifier().verify(Mint.token { $0.resource = accents }).message
        #expect(long.contains("first difference at byte 0"))
    }

    @Test("what a client put into a resource comes out short, in one line, and from where it differs")
    func hostileResource() throws {
        func resource(_ text: String) -> String {
            "<a><\(String(repeating: "n", count: 500))>\(text)</\(String(repeating: "n", count: 500))></a>"
        }
        let common = String(repeating: "x", count: 1000)
        let wanted = Expectation(requestor: "MML", resource: resource(common + "1"))
        let token = try Mint.token { $0.resource = resource(common + "2\u{202E}\n" + common) }
        let message = try Mint.verifier().verify(token, for: wanted).message
        #expect(
            message.utf8.count < 1000
                && message.contains("'…\(common.prefix(20))1', signed '…\(common.prefix(20))2\\u{202e}\\u{a}"),
            "\(message)")
    }

    @Test("of several resources the nearest is compared, and every one canonically")
    func nearestResource() throws {
        let token = try Mint.token { $0.resource = "<a b='1'/>" }
        let rule = ResourceRule.anyOf(["TNT", "<a c='1'/>", "<a b=\"1\"></a>"])
        let message = try Mint.verifier().verify(token, for: .init(requestor: "MML", resource: rule)).message
        #expect(message.contains("nearest: '<a b=\"1\"></a>'"))
        #expect(message.contains("canonical comparison would match"))
    }

    @Test("the session GUID does not come out by accident")
    func sessionGUID() throws {
        let verified = try #require(try Mint.verifier().verify(Mint.token()).accepted)
        var dumped = ""
        dump(verified, to: &dumped)
        let secret = Mint.recipe().sessionGUID
        #expect(!"\(verified)".contains(secret))
        #expect(!dumped.contains(secret))
        #expect(verified.claims.sessionGUID.text == secret)
        var dumpedToken = ""
        dump(RawToken(try Mint.token()), to: &dumpedToken)
        #expect("\(RawToken("<sig>"))" == "RawToken(5 bytes)")
        #expect(dumpedToken.split(separator: "\n").count == 1, "\(dumpedToken)")
    }

    @Test("codes have the names and numbers of the table")
    func table() {
        let names = VerdictCode.allCases.map(\.rawValue)
        #expect(
            names == [
                "VALID_TOKEN", "INVALID_TOKEN_FORMAT", "INVALID_SIGNATURE", "TOKEN_NOT_YET_VALID", "TOKEN_EXPIRED",
                "INVALID_REQUESTOR_ID", "INVALID_RESOURCE_ID", "INVALID_MVPD_ID", "TOKEN_ALREADY_USED",
                "TOKEN_PREDATES_STORE", "ERROR_UNKNOWN",
            ])
        #expect(VerdictCode.allCases.map(\.number) == Array(0...10))
    }

    @Test("each code has its HTTP status, says whether the token is consumed, and who has to act")
    func rows() {
        let rows = VerdictCode.allCases.map { code in
            "\(code.number) \(code.httpStatus) \(code.consumed) \(code.action?.rawValue ?? "-")"
        }
        #expect(
            rows == [
                "0 200 yes -", "1 401 no fix-request", "2 401 no operator", "3 401 no operator", "4 401 no new-token",
                "5 403 no fix-request", "6 403 no fix-request", "7 403 no operator", "8 403 yes new-token",
                "9 403 no wait", "10 503 unknown wait",
            ])
    }
}
