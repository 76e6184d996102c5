import Foundation
import PlaybackGrants
import StreamPaths
import TestSupport
import Testing
import TokenCrypto

@Suite("CloudFront's signed URLs and cookies")
struct CloudFrontGrantTests {
    /// RSA's key, as PEM.
    private let pem: String
    private let maker: CloudFrontGrant

    init() throws {
        pem = try TestKeys.standard.pemText()
        maker = try CloudFrontGrant(key: Array(pem.utf8), keyPairID: "K2JCJMDEHXQW5F")
    }

    /// A key of another kind, as PEM.
    private static func key(_ algorithm: String, _ option: String) throws -> String {
        try Program("openssl").succeed(["genpkey", "-algorithm", algorithm, "-pkeyopt", option])
    }

    private static let url = "https://d111111abcdef8.cloudfront.net/image.jpg?color=red"

    /// Whether openssl calls the grant's signature one of `policy`.
    private func isSigned(
        _ grant: Grant, _ policy: String, _ digest: String, by pem: String? = nil
    ) throws -> Bool {
        let letters = try #require(grant.fields.first { $0.parameter == "Signature" }).value
        let directory = try TemporaryDirectory()
        let (file, key) = (try directory.write(pem ?? self.pem, to: "private.pem"), "\(directory.path)/key.pem")
        try Program("openssl").succeed(["pkey", "-in", file, "-pubout", "-out", key])
        let signature = try directory.write(try #require(Data(base64Encoded: Self.base64(letters))), to: "signature")
        let message = try directory.write(policy, to: "policy")
        let outcome = try Program("openssl").run([
            "dgst", "-\(digest)", "-verify", key, "-signature", signature, message,
        ])
        return outcome.status == 0 && outcome.output == "Verified OK\n"
    }

    private static func base64(_ letters: String) -> String {
        letters.replacing("-", with: "+").replacing("_", with: "=").replacing("~", with: "/")
    }

    @Test("a canned policy is signed and does not travel", arguments: CloudFrontGrant.Digest.allCases)
    func canned(digest: CloudFrontGrant.Digest) throws {
        var maker = maker
        maker.digest = digest
        let grant = try maker.grant(url: Self.url, try GrantPeriod(to: 1_767_290_400))
        let policy =
            #"{"Statement":[{"Resource":"\#(Self.url)","Condition":{"DateLessThan":{"AWS:EpochTime":1767290400}}}]}"#
        #expect(try isSigned(grant, policy, digest.rawValue))
        #expect(try isSigned(grant, policy + " ", digest.rawValue) == false)
        let names = ["Expires", "Signature", "Key-Pair-Id"] + (digest == .sha256 ? ["Hash-Algorithm"] : [])
        #expect(grant.fields.map(\.parameter) == names)
        #expect(grant.appended(to: Self.url).hasPrefix(Self.url + "&Expires=1767290400&Signature="))
        #expect(
            grant.query.hasSuffix("&Key-Pair-Id=K2JCJMDEHXQW5F" + (digest == .sha256 ? "&Hash-Algorithm=SHA256" : "")))
    }

    @Test("a custom policy travels, as a query and as cookies", arguments: CloudFrontGrant.Digest.allCases)
    func custom(digest: CloudFrontGrant.Digest) throws {
        var maker = maker
        (maker.digest, maker.ip) = (digest, "192.0.2.0/24")
        let grant = try maker.grant(
            url: "https://cdn.example/live/*", try GrantPeriod(from: 1_767_290_000, to: 1_767_290_400))
        #expect(grant.fields.first?.cookie == "CloudFront-Policy")
        let letters = try #require(grant.fields.first).value
        let policy = String(decoding: try #require(Data(base64Encoded: Self.base64(letters))), as: UTF8.self)
        #expect(
            policy
                == #"{"Statement":[{"Resource":"https://cdn.example/live/*","Condition":{"IpAddress":{"AWS:SourceIp":"#
                + #""192.0.2.0/24"},"DateLessThan":{"AWS:EpochTime":1767290400},"DateGreaterThan":{"AWS:EpochTime":1767290000}}}]}"#
        )
        #expect(try JSONSerialization.jsonObject(with: Data(policy.utf8)) is [String: Any])
        #expect(try isSigned(grant, policy, digest.rawValue))
        let cookies = try grant.cookies(path: "/live", at: Timestamp(milliseconds: 1_767_290_100_000))
        #expect(cookies.allSatisfy { $0.contains("; Path=/live; Max-Age=300; Secure; HttpOnly") })
        #expect(cookies[1].hasPrefix("CloudFront-Signature=") && cookies[2].hasPrefix("CloudFront-Key-Pair-Id=K2JC"))
    }

    @Test("a key of ECDSA on P-256 signs as CloudFront has it", arguments: CloudFrontGrant.Digest.allCases)
    func ecdsa(digest: CloudFrontGrant.Digest) throws {
        let pem = try Self.key("EC", "ec_paramgen_curve:P-256")
        var maker = try CloudFrontGrant(key: Array(pem.utf8), keyPairID: "K1")
        maker.digest = digest
        let (url, period) = ("https://d.example/a", try GrantPeriod(to: 1_767_290_400))
        let grant = try maker.grant(url: url, period)
        #expect(try isSigned(grant, try maker.policy(for: url, period), digest.rawValue, by: pem))
        var question = GrantQuestion(at: Timestamp(milliseconds: 1_767_290_000_000))
        question.url = url
        #expect(try maker.check(grant.query, question).opens)
        let other = try CloudFrontGrant(key: Array(Self.key("EC", "ec_paramgen_curve:P-256").utf8), keyPairID: "K1")
        #expect(try !other.check(grant.query, question).opens && !self.maker.check(grant.query, question).opens)
    }

    @Test("a public key checks grants of RSA and of ECDSA, and makes none")
    func publicKey() throws {
        for pem in [pem, try Self.key("EC", "ec_paramgen_curve:P-256")] {
            let directory = try TemporaryDirectory()
            let file = try directory.write(pem, to: "private.pem")
            let half = Array(try Program("openssl").succeed(["pkey", "-in", file, "-pubout"]).utf8)
            let (owner, checker) = try (
                CloudFrontGrant(key: Array(pem.utf8), keyPairID: "K1"), CloudFrontGrant(key: half, keyPairID: "K1")
            )
            let period = try GrantPeriod(to: 1_767_290_400)
            let grant = try owner.grant(url: Self.url, period)
            var question = GrantQuestion(at: Timestamp(milliseconds: 1_767_290_000_000))
            question.url = Self.url
            #expect(try checker.check(grant.query, question).opens)
            question.url = Self.url + "x"
            #expect(try !checker.check(grant.query, question).opens)
            #expect(
                Part.problem { _ = try checker.grant(url: Self.url, period) }
                    == "key: is a public key, which checks grants; expected the private key, which makes them")
        }
        for (pem, found) in [("-----BEGIN CERTIFICATE-----\n", "a PEM block 'CERTIFICATE'"), ("x", "no PEM block")] {
            let problem = Part.problem { _ = try CloudFrontGrant(key: Array(pem.utf8), keyPairID: "K1") }
            #expect(problem?.hasPrefix("key: holds \(found); expected an unencrypted PEM private key") == true)
        }
    }

    @Test("an expiry after January 2038, as one in milliseconds is, is neither made nor opens")
    func lastTime() throws {
        let last: Int64 = 2_147_483_647
        _ = try maker.grant(url: Self.url, try GrantPeriod(to: last))
        for url in [Self.url, "https://d/*"] {
            let problem = Part.problem { _ = try maker.grant(url: url, try GrantPeriod(to: last + 1)) }
            #expect(
                problem == "expires: is 2147483648, after 2038-01-19 03:14:07 +0000, the latest expiry for CloudFront")
        }
    }

    @Test("keys that CloudFront does not take are refused")
    func otherKeys() throws {
        for pem in [
            try Self.key("EC", "ec_paramgen_curve:P-384"),
            try Program("openssl").succeed(["genpkey", "-algorithm", "ED25519"]),
        ] {
            let problem = Part.problem { _ = try CloudFrontGrant(key: Array(pem.utf8), keyPairID: "K") }
            #expect(problem?.contains("neither an RSA key nor one on the curve P-256") == true, "\(problem ?? "")")
        }
    }

    @Test("what cannot be part of a policy is refused by its field")
    func refusals() throws {
        let period = try GrantPeriod(to: 1_767_290_400)
        for url in [
            "", "/path", "ftp://x/", "https://x/a b", "https://x/\"", "https://x/\\", "https://x/\u{e4}",
            "https://x/a#f",
        ] {
            #expect(Part.problem { _ = try maker.grant(url: url, period) }?.hasPrefix("url: is '") == true, "\(url)")
        }
        var other = maker
        for ip in ["1.2.3.4\"}", "", "::1", "1.2.3.4/33", "1.2.3.4/032", "1.2.3.4/"] {
            other.ip = ip
            #expect(Part.problem { _ = try other.grant(url: Self.url, period) }?.hasPrefix("ip: ") == true)
        }
        #expect(Part.problem { _ = try CloudFrontGrant(key: [1, 2, 3], keyPairID: "K") }?.hasPrefix("key: ") == true)
        let pem = Array(try TestKeys.standard.pemText().utf8)
        for pair in ["K&x", ""] {
            #expect(
                Part.problem { _ = try CloudFrontGrant(key: pem, keyPairID: pair) }?.hasPrefix("key-pair-id: ") == true)
        }
    }

    @Test("a period has an end after its beginning, in years that all can say")
    func periods() {
        #expect(
            Part.problem { _ = try GrantPeriod(from: 11, to: 10) }
                == "starts: is 11, and expires is 10; expected a time before that")
        #expect(Part.problem { _ = try GrantPeriod(to: 0) }?.hasPrefix("expires: is 0") == true)
        #expect(Part.problem { _ = try GrantPeriod(to: .max) }?.hasPrefix("expires: ") == true)
        for seconds in [0, -1, GrantPeriod.longest.components.seconds + 1, .max] {
            #expect(
                Part.problem { _ = try GrantPeriod(from: .now, lasting: .seconds(seconds)) }?.hasPrefix("validity: ")
                    == true)
        }
        for clock in [-1000, Int64.min, .max] {
            let problem = Part.problem {
                _ = try GrantPeriod(from: Timestamp(milliseconds: clock), lasting: .seconds(60))
            }
            #expect(problem?.hasPrefix("clock: ") == true)
        }
        #expect(Part.problem { _ = try GrantPeriod(from: .now, lasting: .seconds(60)) } == nil)
    }
}
