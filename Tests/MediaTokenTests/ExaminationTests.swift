import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Examining and inspecting")
struct ExaminationTests {
    private func results(_ examination: Examination) -> [String: CheckReport.Outcome] {
        Dictionary(uniqueKeysWithValues: examination.reports.map { ($0.check.rawValue, $0.outcome) })
    }

    @Test("every check is reported, whatever failed before")
    func everyCheck() throws {
        let token = try Mint.token(key: TestKeys.stranger) { $0.resource = "TBS" }
        let late = Timestamp(milliseconds: Mint.now.milliseconds + 600_000)
        let policy = VerificationPolicy(allowedMVPDs: ["MML": ["Comcast"]])
        let examination = try Mint.verifier(policy: policy).examine(RawToken(token), for: Mint.expectation, at: late)
        #expect(examination.firstFailure?.code == .invalidSignature)
        #expect(examination.key == nil)
        #expect(
            results(examination) == [
                "format": .passed, "signature": .failed, "window": .failed, "requestor": .passed, "resource": .failed,
                "mvpd": .failed, "replay": .notChecked,
            ])
    }

    @Test("what neither the policy nor the request restricts is not checked, and what one of them does has passed")
    func exemptions() throws {
        let token = RawToken(try Mint.token())
        let anything = Expectation(requestors: ["MML"], resource: .unsafeAnyResource)
        let open = results(try Mint.verifier().examine(token, for: anything, at: Mint.now))
        #expect(open["mvpd"] == .notChecked && open["resource"] == .notChecked && open["requestor"] == .passed)
        let policy = VerificationPolicy(allowedMVPDs: ["MML": ["TempPass"]])
        let strict = results(try Mint.verifier(policy: policy).examine(token, for: Mint.expectation, at: Mint.now))
        #expect(strict["mvpd"] == .passed && strict["resource"] == .passed)
    }

    @Test("where a byte was changed, it names what a verification names")
    func flippedBytes() throws {
        let bytes = Array(try Mint.token().utf8)
        let verifier = try Mint.verifier()
        for index in bytes.indices {
            var altered = bytes
            altered[index] ^= 1
            let examination = verifier.examine(RawToken(altered), for: Mint.expectation, at: Mint.now)
            let verdict = try verifier.verify(RawToken(altered), for: Mint.expectation, at: Mint.now)
            #expect(examination.firstFailure?.code == verdict.code, "byte \(index)")
        }
    }

    @Test("only a person is told that the text of a signed token was changed, masked or cut")
    func signatureOrigin() throws {
        let changed = RawToken(try Mint.token().replacing("TNT", with: "TBS"))
        let (verifier, expected) = (try Mint.verifier(), "signed by key-0.pem, but the text was changed afterwards")
        let request = VerificationRequest(token: changed, expectation: Mint.expectation)
        let shown = verifier.verifyAndExamine([request], at: Mint.now)[0]
        #expect(shown.examination.firstFailure?.detail == expected)
        #expect(try shown.outcome.get().message.hasPrefix("no loaded key verifies it; tried "))
        #expect(
            TokenInspector(keys: try Mint.keyRing()).inspect(changed, asking: .init()).firstFailure?.detail == expected)
        let (requestors, resource) = (Mint.expectation.requestors, Mint.expectation.resource)
        func explained(_ token: RawToken) -> CheckReport? {
            verifier.examine(token, for: requestors, resource, at: Mint.now, seeksCause: true).firstFailure
        }
        #expect(explained(changed)?.detail == expected)
        let masked = RawToken(try Mint.token().replacing("TempPass", with: "[REDACTED]"))
        #expect(explained(masked)?.detail == "it contains '[redacted]', which logs write in place of a secret")
        let cut = try Mint.token().dropLast(30)
        let words = "it ends after \(cut.utf8.count) bytes, at 'mvpdId'; its last tag is missing"
        #expect(explained(RawToken(String(cut)))?.detail == words)
        #expect(TokenInspector(keys: nil).inspect(RawToken(String(cut)), asking: .init()).firstFailure?.detail == words)
        let gates = verifier.examine(changed, for: Mint.expectation, at: Mint.now).firstFailure
        #expect(gates?.detail.hasPrefix("no loaded key verifies it; tried ") == true)
    }

    @Test("no check failed is not the same as valid: without keys nothing is verified")
    func unverified() throws {
        let examination = TokenInspector(keys: nil).inspect(RawToken(try Mint.token()), asking: .init())
        #expect(examination.firstFailure == nil)
        #expect(examination.key == nil)
        #expect(results(examination)["signature"] == .notChecked)
    }

    @Test("without a time to check, a dead token is said to be dead, and fails nothing", arguments: TokenKind.allCases)
    func note(kind: TokenKind) throws {
        let token = RawToken(try Mint.token { $0.kind = kind })
        let inspector = TokenInspector(keys: nil)
        let now = Timestamp(milliseconds: Mint.now.milliseconds + 86_400_000 * 40)
        let dead = inspector.inspect(token, asking: .init(now: now))
        let note = try #require(dead.reports.first { $0.check == .window })
        #expect(dead.firstFailure == nil && note.outcome == .notAsked)
        let end = try #require(dead.expires)
        #expect(note.detail.hasPrefix("expired 1 month "), "\(note.detail)")
        #expect(note.detail.contains(" ago") && note.detail.contains("expires \(end)"), "\(note.detail)")
        #expect(note.detail.contains("; lived ") == (kind != .authorization), "\(note.detail)")
        let alive = inspector.inspect(token, asking: .init(now: Mint.now)).reports.first { $0.check == .window }
        #expect(alive?.outcome == .notAsked && alive?.detail.hasPrefix("expires in ") == true)
        #expect(results(dead)["requestor"] == .notAsked && results(dead)["signature"] == .notChecked)
    }

    @Test(
        "at its own issue time a media token is alive; the others have none, and are told so",
        arguments: TokenKind.allCases)
    func atIssue(kind: TokenKind) throws {
        var questions = TokenInspector.Questions()
        questions.time = .issued
        let examination = TokenInspector(keys: nil).inspect(
            RawToken(try Mint.token { $0.kind = kind }), asking: questions)
        #expect((examination.firstFailure == nil) == (kind == .media))
        guard kind == .media else {
            #expect(examination.firstFailure?.detail == "\(kind.title) has no issue time")
            return
        }
        #expect(examination.time == Mint.issued.timestamp)
    }

    @Test("a proxy MVPD is asked about too")
    func proxy() throws {
        var questions = TokenInspector.Questions()
        questions.mvpds = ["TempPass"]
        let token = RawToken(try Mint.token { $0.proxyMVPD = "Proxy" })
        let failure = TokenInspector(keys: nil).inspect(token, asking: questions).firstFailure
        #expect(failure?.code == .invalidMVPDID)
        #expect(failure?.detail.contains("'Proxy'") == true)
    }

    @Test("fields do not come out by accident")
    func withheld() throws {
        let examination = TokenInspector(keys: nil).inspect(RawToken(try Mint.token()), asking: .init())
        var dumped = ""
        dump(examination, to: &dumped)
        #expect(!"\(examination)".contains(Mint.recipe().sessionGUID))
        #expect(!dumped.contains(Mint.recipe().sessionGUID))
    }

    @Test("unknown fields are shown")
    func extraFields() throws {
        let payload = Mint.payload().replacing("<ttl>", with: "<a><b>1</b><b>2</b></a><ttl>")
        let token = try Mint.signed(payload)
        let examination = try Mint.verifier().examine(RawToken(token), for: Mint.expectation, at: Mint.now)
        #expect(examination.fields.filter { $0.name == "a/b" }.map(\.text) == ["1", "2"])
        let verified = try #require(try Mint.verifier().verify(token).accepted)
        #expect(verified.claims.extraFields.map(\.text) == ["1", "2"])
    }

    @Test("AuthN and AuthZ tokens are read, and never accepted", arguments: [TokenKind.authentication, .authorization])
    func boundTokens(kind: TokenKind) throws {
        let token = try Mint.token {
            $0.kind = kind
            $0.device = "device-1"
        }
        let verdict = try Mint.verifier().verify(token)
        #expect(verdict.code == .invalidTokenFormat)
        #expect(verdict.message.contains(kind.title))

        let inspector = TokenInspector(keys: try Mint.keyRing())
        var questions = TokenInspector.Questions()
        questions.requestor = "MML"
        questions.device = "device-1"
        questions.mvpds = ["TempPass"]
        questions.time = .at(Mint.now)
        if kind == .authorization { questions.resource = .exactly("TNT") }
        let good = inspector.inspect(RawToken(token), asking: questions)
        #expect(good.kind == kind)
        #expect(good.key == "key-0.pem")
        #expect(!good.reports.contains { $0.outcome == .failed })
        #expect(
            good.fields.contains { $0.name == "simpleTokenDeviceID/simpleTokenFingerprint" && $0.text == "device-1" })

        questions.device = "device-2"
        questions.requestor = "ABC"
        questions.time = .at(Timestamp(milliseconds: Mint.now.milliseconds + 86_400_000))
        let failed = inspector.inspect(RawToken(token), asking: questions).reports.filter { $0.outcome == .failed }
        #expect(failed.map(\.check) == [.window, .requestor, .device])
    }

    @Test("an AuthN token with empty and nested fields is read")
    func unusualFields() throws {
        let payload = Mint.payload { $0.kind = .authentication }
            .replacing(/<simpleSamlSessionIndex>[^<]*/, with: "<simpleSamlSessionIndex>")
            .replacing(/<simpleTokenMsoID>[^<]*/, with: "<simpleTokenMsoID>")
            .replacing("</simpleTokenDeviceID>", with: "<fragments><a>1</a></fragments></simpleTokenDeviceID>")
        let token = RawToken(try Mint.signed(payload))
        let examination = TokenInspector(keys: try Mint.keyRing()).inspect(token, asking: .init())
        #expect(examination.firstFailure == nil)
        #expect(examination.fields.contains { $0.name == "simpleTokenDeviceID/fragments/a" && $0.text == "1" })
        #expect(examination.fields.contains { $0.name == "simpleSamlSessionIndex" && $0.text.isEmpty })
    }

    @Test("asking for what a kind does not say fails")
    func absent() throws {
        var questions = TokenInspector.Questions()
        questions.device = "device-1"
        let report = TokenInspector(keys: nil).inspect(RawToken(try Mint.token()), asking: questions).reports.last
        #expect(report?.check == .device)
        #expect(report?.outcome == .failed)
    }
}
