import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Policy")
struct PolicyTests {
    @Test("several requestors may be expected, and none is not everyone")
    func requestors() throws {
        let token = try Mint.token()
        let either = Expectation(requestors: ["ABC", "MML"], resource: .exactly("TNT"))
        #expect(try Mint.verifier().code(token, for: either) == .validToken)
        let nobody = Expectation(requestors: [], resource: .exactly("TNT"))
        #expect(try Mint.verifier().code(token, for: nobody) == .invalidRequestorID)
    }

    @Test("canonically equivalent Unicode is not equal")
    func unicode() throws {
        let token = try Mint.token { $0.resource = "Cin\u{E9}" }
        let canonical = Expectation(requestor: "MML", resource: .canonically(["Cine\u{301}"]))
        #expect(try Mint.verifier().code(token, for: canonical) == .invalidResourceID)
        let same = Expectation(requestor: "MML", resource: .canonically(["Cin\u{E9}"]))
        #expect(try Mint.verifier().code(token, for: same) == .validToken)
        #expect(OtherID("Cin\u{E9}") == "Cin\u{E9}" && OtherID("Cin\u{E9}") != "Cine\u{301}")
    }

    /// An identifier of another package.
    private struct OtherID: ExactIdentifier {
        let text: String
        init(_ text: String) { self.text = text }
    }

    @Test("any of a list of resources, and an empty list is none")
    func resourceList() throws {
        let token = try Mint.token()
        let list = Expectation(requestor: "MML", resource: .anyOf(["TBS", "TNT"]))
        #expect(try Mint.verifier().code(token, for: list) == .validToken)
        let empty = Expectation(requestor: "MML", resource: .anyOf([]))
        #expect(try Mint.verifier().code(token, for: empty) == .invalidResourceID)
        let any = Expectation(requestor: "MML", resource: .unsafeAnyResource)
        #expect(try Mint.verifier().code(token, for: any) == .validToken)
        for (rule, isOnly) in [
            (.anyOf(["TNT"]), true), (.anyOf(["TBS"]), false), (.anyOf(["TNT", "TBS"]), false), (.anyOf([]), false),
        ] as [(ResourceRule, Bool)] {
            #expect(rule.namesOnly("TNT") == isOnly)
        }
    }

    @Test("an MVPD must be on its requestor's list, and so must a proxy")
    func mvpds() throws {
        let plain = try Mint.token()
        let proxied = try Mint.token { $0.proxyMVPD = "Proxy" }
        func code(_ token: String, _ allowed: [RequestorID: Set<MVPDID>]) throws -> VerdictCode {
            try Mint.verifier(policy: VerificationPolicy(allowedMVPDs: allowed)).code(token)
        }
        #expect(try code(plain, [:]) == .validToken)
        #expect(try code(plain, ["OTHER": ["Comcast"]]) == .validToken)
        #expect(try code(plain, ["MML": ["TempPass"]]) == .validToken)
        #expect(try code(plain, ["MML": ["Comcast"]]) == .invalidMVPDID)
        #expect(try code(plain, ["MML": []]) == .invalidMVPDID)
        #expect(try code(proxied, ["MML": ["TempPass"]]) == .invalidMVPDID)
        #expect(try code(proxied, ["MML": ["Proxy"]]) == .invalidMVPDID)
        #expect(try code(proxied, ["MML": ["TempPass", "Proxy"]]) == .validToken)
    }

    @Test("the first check that fails names the verdict")
    func order() throws {
        let policy = VerificationPolicy(allowedMVPDs: ["ABC": []])
        let verifier = try Mint.verifier(policy: policy)
        let wrong = Expectation(requestor: "ABC", resource: "TBS")
        let late = Timestamp(milliseconds: Mint.now.milliseconds + 86_400_000)
        let token = try Mint.token { $0.requestor = "MML" }
        #expect(try verifier.code(token, for: wrong, at: late) == .tokenExpired)
        #expect(try verifier.code(token, for: wrong) == .invalidRequestorID)
        let other = try Mint.token { $0.requestor = "ABC" }
        #expect(try verifier.code(other, for: wrong) == .invalidResourceID)
        #expect(try verifier.code(other, for: .init(requestor: "ABC", resource: "TNT")) == .invalidMVPDID)
        let forged = try Mint.token(key: TestKeys.stranger)
        #expect(try verifier.code(forged, for: wrong, at: late) == .invalidSignature)
    }

    @Test("settings beyond their bounds count as the bound")
    func clamped() {
        let policy = VerificationPolicy(clockSkew: .seconds(-5), defaultTTL: .zero, maximumTTL: .seconds(-1))
        #expect(policy.clockSkew == .zero)
        #expect(policy.defaultTTL == .milliseconds(1))
        #expect(policy.maximumTTL == .milliseconds(1))
        let huge = VerificationPolicy(clockSkew: .seconds(Int64.max), defaultTTL: .seconds(Int64.max))
        #expect(huge.clockSkew == .seconds(300) && VerificationPolicy.largestClockSkew == .seconds(300))
        #expect(huge.defaultTTL == .seconds(86_400) && VerificationPolicy.longestDefaultTTL == .seconds(86_400))
        let usual = VerificationPolicy()
        #expect([usual.clockSkew, usual.defaultTTL, usual.maximumTTL] == [.seconds(30), .seconds(300), .seconds(900)])
    }

    @Test("a life is cut to the longest, also that of a token without one")
    func cut() throws {
        let policy = VerificationPolicy(clockSkew: .zero, defaultTTL: .seconds(600), maximumTTL: .seconds(60))
        for payload in [Mint.payload(), Mint.payload().replacing("<ttl>420000</ttl>", with: "")] {
            for (milliseconds, code) in [(60_000, .validToken), (60_001, .tokenExpired)] as [(Int64, VerdictCode)] {
                let now = Mint.issued.timestamp.advanced(byMilliseconds: milliseconds)
                #expect(try Mint.verifier(policy: policy).code(Mint.signed(payload), at: now) == code)
            }
        }
    }

    @Test("absurd clocks give a verdict", arguments: [Int64.min, -1, 0, Int64.max])
    func absurdClock(milliseconds: Int64) throws {
        let code = try Mint.verifier().code(Mint.token(), at: Timestamp(milliseconds: milliseconds))
        #expect(code == (milliseconds > 0 ? .tokenExpired : .tokenNotYetValid))
    }
}
