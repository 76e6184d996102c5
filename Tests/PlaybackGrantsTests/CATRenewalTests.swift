import TestSupport
import Testing

@testable import PlaybackGrants

@Suite("Renewal of Common Access Tokens")
struct CATRenewalTests {
    private static let issued: Int64 = 1_800_000_000

    /// Claims that hold for 600 seconds, of which the last 60 are for the renewal by 300 more.
    private static func claims(_ change: (inout CATClaims) -> Void = { _ in }) -> CATClaims {
        var claims = CATClaims()
        (claims.issuer, claims.issuedAt, claims.notBefore) = ("gate", issued, issued - 5)
        (claims.expires, claims.identifier, claims.methods) = (issued + 600, [1, 2], ["GET"])
        (claims.scope.pathPrefix, claims.scope.host) = ("/live/", "cdn.example")
        claims.renewal = CATRenewal(kind: .cookie, seconds: 300, deadline: 60)
        change(&claims)
        return claims
    }

    /// The new expiry, in seconds from the issue time.
    private static func end(
        _ second: Int64, until longest: Int64 = 1000, _ change: (inout CATClaims) -> Void = { _ in }
    ) -> Int64? {
        claims(change).renewed(until: longest, at: issued + second)?.expires.map { $0 - issued }
    }

    @Test("a token is renewed in its window, with the same claims and a later expiry")
    func window() {
        #expect(Self.end(0) == nil && Self.end(539) == nil)
        #expect(Self.end(540) == 840 && Self.end(599) == 899)
        var expected = Self.claims()
        expected.expires = Self.issued + 840
        #expect(Self.claims().renewed(until: 1000, at: Self.issued + 540) == expected)
        // Without a deadline, the window is the half of what the renewal adds.
        #expect(Self.end(449) { $0.renewal?.deadline = nil } == nil)
        #expect(Self.end(450) { $0.renewal?.deadline = nil } == 750)
    }

    @Test("no token is renewed beyond the time that its first issue allows, however often it was renewed before")
    func bound() throws {
        #expect(Self.end(599, until: 700) == 700 && Self.end(599, until: 601) == 601)
        #expect(Self.end(599, until: 600) == nil && Self.end(599, until: 1) == nil)
        var (claims, ends) = (Self.claims(), [Int64]())
        for second in 0..<2000 where second % 7 == 0 {
            let now = Self.issued + Int64(second)
            guard let end = claims.expires, now < end else { break }
            claims = claims.renewed(until: 1000, at: now) ?? claims
            if claims.expires != end { ends.append((claims.expires ?? 0) - Self.issued) }
        }
        #expect(ends == [846, 1000] && claims.issuedAt == Self.issued)
    }

    @Test("only a token that says how, and when it was issued, is renewed")
    func conditions() {
        for kind in CATRenewal.Kind.allCases {
            let isRenewed = Self.end(599) { $0.renewal?.kind = kind } != nil
            #expect(isRenewed == [.cookie, .automatic].contains(kind), "\(kind)")
        }
        #expect(Self.end(599) { $0.renewal = nil } == nil)
        #expect(Self.end(599) { $0.issuedAt = nil } == nil)
        #expect(Self.end(599) { $0.issuedAt = Self.issued + 599 } == 899)
        #expect(Self.end(599) { $0.issuedAt = Self.issued + 600 } == nil, "issued in the future")
        #expect(Self.end(599) { $0.expires = nil } == nil)
    }

    @Test("numbers that no clock reaches renew nothing, and end no process")
    func numbers() {
        for number in [Int64.min, -1, 0, .max] {
            #expect(Self.end(599) { $0.renewal?.deadline = number } == (number == .max ? 899 : nil), "\(number)")
            #expect(Self.end(599) { $0.renewal?.seconds = number } == (number == .max ? 1000 : nil), "\(number)")
            _ = Self.end(599) { $0.issuedAt = number }
            _ = Self.end(599) { $0.expires = number }
        }
    }

    @Test(
        "a verifier renews with its first key, if it renews at all, and says that it cannot write what it has read in part"
    )
    func verifier() throws {
        let keys = try [1, 2].map { (key: try GrantSecret(Array(repeating: $0, count: 32)), keyID: "\($0)") }
        let (both, first) = (try CommonAccessToken(keys: keys), try CommonAccessToken(keys: [keys[0]]))
        let now = Timestamp(milliseconds: (Self.issued + 599) * 1000)
        let verifier = GrantVerifier(tokens: both, issuer: nil, renewsUntil: 1000)
        let renewed = try #require(try verifier.renewed(Self.claims(), at: now))
        let read = try first.authenticClaims(of: renewed.fields[0].value)
        #expect(read == Self.claims { $0.expires = Self.issued + 899 })
        #expect(try verifier.renewed(Self.claims(), at: now) == renewed)
        #expect(try GrantVerifier(tokens: both, issuer: nil, renewsUntil: nil).renewed(Self.claims(), at: now) == nil)
        // {4: 1800000600, 6: 1800000000, 323: {0: 1, 1: 300, 3: "a"}}: the name of a cookie would be lost.
        let payload: [UInt8] =
            [0xA3, 4, 0x1A, 0x6B, 0x49, 0xD4, 0x58, 6, 0x1A, 0x6B, 0x49, 0xD2, 0, 0x19, 0x01, 0x43]
            + [0xA3, 0, 1, 1, 0x19, 0x01, 0x2C, 3, 0x61, 0x61]
        let claims = try CATClaims(CBORReader.value(of: payload))
        #expect(claims.renewed(until: 1000, at: Self.issued + 599) != nil)
        #expect(throws: GrantError.self) { try verifier.renewed(claims, at: now) }
    }
}
