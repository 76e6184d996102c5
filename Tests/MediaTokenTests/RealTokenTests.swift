import MediaToken
import TestSupport
import Testing

@Suite("The token that Adobe Pass issued in 2016")
struct RealTokenTests {
    private let verifier: MediaTokenVerifier
    private let token: String

    init() throws {
        let keys = try KeyRing(loading: Fixtures.keys, minimumRSABits: 1024)
        verifier = MediaTokenVerifier(keys: keys, replays: MemoryReplayStore.unfenced())
        token = try Fixtures.realToken()
    }

    @Test("is accepted once, with what it says")
    func accepted() throws {
        let verdict = try verifier.verify(token, at: Fixtures.realTokenTime)
        let verified = try #require(verdict.accepted, "\(verdict.message)")
        #expect(verified.claims.requestor == "MML")
        #expect(verified.claims.resource == "TNT")
        #expect(verified.claims.mvpd == "TempPass")
        #expect(verified.claims.proxyMVPD == nil)
        #expect(verified.claims.sessionGUID.text == "613e99bf2db476308f802091f8462819")
        #expect(verified.claims.timeToLive == .seconds(420))
        #expect(verified.claims.issueTime.timestamp.milliseconds == 1_458_252_091_000)
        #expect(verified.claims.issueTime.description == "2016-03-17 15:01:31 -0700")
        #expect(verified.key == "adobe-pass-2015-2021.pem")
        #expect(try verifier.code(token, at: Fixtures.realTokenTime) == .tokenAlreadyUsed)
    }

    @Test(
        "has the code of its moment",
        arguments: [
            ("2016-03-17 15:01:00 -0700", VerdictCode.tokenNotYetValid),
            ("2016-03-17 15:01:01 -0700", .validToken),
            ("2016-03-17 15:09:01 -0700", .validToken),
            ("2016-03-17 15:09:02 -0700", .tokenExpired),
            ("2026-11-21 12:00:00 +0000", .tokenExpired),
        ])
    func window(time: String, code: VerdictCode) throws {
        let now = try #require(Timestamp(reading: time))
        #expect(try verifier.code(token, at: now) == code)
    }

    @Test("is refused for another resource, another requestor, and with the default key length")
    func refused() throws {
        let time = Fixtures.realTokenTime
        #expect(
            try verifier.code(token, for: .init(requestor: "MML", resource: "TBS"), at: time) == .invalidResourceID)
        #expect(
            try verifier.code(token, for: .init(requestor: "mml", resource: "TNT"), at: time) == .invalidRequestorID)
        let error = #expect(throws: KeyRingError.self) { try KeyRing(loading: Fixtures.keys) }
        #expect(error?.description.contains("--min-rsa-bits 1024") == true)
    }

    @Test("is refused when any byte of it is flipped")
    func flipped() throws {
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            for bit in [UInt8(1), 0x20, 0x80] {
                var altered = bytes
                altered[index] ^= bit
                let verdict = try verifier.verify(
                    RawToken(altered), for: .init(requestor: "MML", resource: .unsafeAnyResource),
                    at: Fixtures.realTokenTime)
                #expect([.invalidTokenFormat, .invalidSignature].contains(verdict.code), "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("is refused when it is cut at any length")
    func cut() throws {
        let bytes = Array(token.utf8)
        for length in bytes.indices {
            let verdict = try verifier.verify(
                RawToken(Array(bytes[..<length])), for: Mint.expectation, at: Fixtures.realTokenTime)
            #expect([.invalidTokenFormat, .invalidSignature].contains(verdict.code), "cut to \(length) bytes")
        }
    }
}
