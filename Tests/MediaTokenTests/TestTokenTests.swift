import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Tokens for the tests of others")
struct TestTokenTests {
    private let issuer: TestTokenIssuer
    private let verifier: MediaTokenVerifier

    init() throws {
        issuer = try TestTokenIssuer()
        verifier = MediaTokenVerifier(keys: issuer.keys, replays: MemoryReplayStore.unfenced())
    }

    @Test("a token is accepted once, by the issuer's keys and by no others")
    func accepted() throws {
        let (token, other) = (try issuer.token(), try issuer.token())
        #expect(token != other)
        #expect(try verifier.code(token, at: .now) == .validToken)
        #expect(try verifier.code(token, at: .now) == .tokenAlreadyUsed)
        #expect(try verifier.code(try TestTokenIssuer().token(), at: .now) == .invalidSignature)
    }

    @Test("a fault has the code that it promises", arguments: TokenFault.allCases)
    func faults(_ fault: TokenFault) throws {
        #expect(try verifier.code(try issuer.token(fault: fault), at: .now) == fault.code)
    }

    @Test("fields, times and TTL are those that were asked for, by a clock that a test moves")
    func fields() throws {
        let clock = TestClock(at: Mint.now)
        let token = try issuer.token(
            requestor: "CNN", resource: "<rss/>", mvpd: "Comcast", proxyMVPD: "Proxy", issued: clock.now,
            ttl: .seconds(60))
        func verdict() throws -> Verdict {
            try verifier.verify(RawToken(token), for: .init(requestor: "CNN", resource: "<rss/>"), at: clock.now)
        }
        clock.advance(by: .seconds(91))
        #expect(try verdict().code == .tokenExpired)
        clock.advance(by: .seconds(-1))
        guard case .accepted(let accepted) = try verdict() else { throw Program.Failure(description: "rejected") }
        #expect(accepted.claims.mvpd.text == "Comcast" && accepted.claims.proxyMVPD?.text == "Proxy")
        #expect("\(accepted.claims.mvpd)" == "Comcast")
        let endless = try issuer.token(issued: clock.now, ttl: nil)
        guard case .accepted(let other) = try verifier.verify(RawToken(endless), for: Mint.expectation, at: clock.now)
        else { throw Program.Failure(description: "rejected") }
        #expect(other.claims.ttlMilliseconds == nil)
    }
}
