import PlaybackGrants
import TestSupport
import Testing

@Suite("nginx' secure links")
struct SecureLinkTests {
    private let secret: GrantSecret
    private let period: GrantPeriod

    init() throws {
        secret = try GrantSecret(Array("enigma".utf8))
        period = try GrantPeriod(to: 2_147_483_647)
    }

    @Test("the example of nginx' documentation comes out")
    func documented() throws {
        var link = try SecureLink(secret: secret, expression: "$secure_link_expires$uri$remote_addr $secret")
        link.ip = "127.0.0.1"
        let grant = try link.grant(uri: "/s/link", period)
        let digest = try OpenSSL.digest(Array("2147483647/s/link127.0.0.1 enigma".utf8), "md5")
        #expect(grant.query == "md5=\(digest.letters)&expires=2147483647")
        let braced = try SecureLink(secret: secret, expression: "${secure_link_expires}${uri}127.0.0.1 ${secret}")
        #expect(try braced.grant(uri: "/s/link", period) == grant)
    }

    @Test("an expression without a time or a secret, or with another variable, is refused")
    func expressions() throws {
        func problem(_ expression: String) -> String? {
            Part.problem { _ = try SecureLink(secret: secret, expression: expression) }
        }
        #expect(problem("$uri $secret")?.contains("expected $secure_link_expires in it") == true)
        #expect(problem("$secure_link_expires$uri")?.contains("expected $secret in it") == true)
        // The end of /a1 could be read as the beginning of the time.
        for wrong in ["$uri$secure_link_expires $secret", "${uri}1 $secure_link_expires$secret"] {
            #expect(problem(wrong)?.contains("something else than digits behind $uri") == true)
        }
        #expect(problem("$uri $secure_link_expires$secret") == nil)
        for wrong in ["$secure_link_expires$host$secret", "$", "${uri", "$secure_link_expires$secret$uri2", "${}"] {
            #expect(problem(wrong)?.hasPrefix("expression: ") == true, "\(wrong)")
        }
        let bound = try SecureLink(secret: secret, expression: "$secure_link_expires$remote_addr$secret")
        #expect(
            Part.problem { _ = try bound.grant(uri: "/x", period) } == "ip: is missing; the expression has $remote_addr"
        )
        #expect(Part.problem { _ = try bound.grant(uri: "x", period) }?.hasPrefix("path: ") == true)
    }
}
