import Foundation
import PlaybackGrants
import TestSupport
import Testing
import TokenCrypto

@Suite("Grants explained")
struct GrantCheckTests {
    private let secret: GrantSecret
    private let period: GrantPeriod
    private static let digits = String(repeating: "0f", count: 32)
    private static let (begin, end) = (Int64(1_800_000_000), Int64(1_800_000_600))

    init() throws {
        secret = try GrantSecret(hexadecimal: Self.digits)
        period = try GrantPeriod(from: Self.begin, to: Self.end)
    }

    private func question(_ url: String?, at seconds: Int64 = 1_800_000_300, ip: String? = nil) -> GrantQuestion {
        var question = GrantQuestion(at: Timestamp(milliseconds: seconds * 1000))
        (question.url, question.ip) = (url, ip)
        return question
    }

    /// The subjects that failed; `nil` where all passed.
    private func failures(_ checks: [GrantCheck]) -> Set<GrantCheck.Subject>? {
        let failed = Set(checks.filter { $0.isPassed == false }.map(\.subject))
        #expect(!checks.isEmpty)
        return failed.isEmpty ? nil : failed
    }

    @Test("of Akamai: the HMAC, the times, the address and the paths")
    func akamai() throws {
        var maker = try AkamaiToken(key: secret)
        (maker.ip, maker.data) = ("192.0.2.1", "x=1")
        let token = try maker.grant(.acl(["/live/*/?.ts", "/vod/a"]), period).fields[0].value
        func failed(_ token: String, _ question: GrantQuestion) throws -> Set<GrantCheck.Subject>? {
            failures(try maker.check(token, question))
        }
        for path in ["/live/tnt/1.ts", "/live/a/b/c/2.ts?x=/y", "/vod/a"] {
            #expect(try failed(token, question(path, ip: "192.0.2.1")) == nil, "\(path)")
            #expect(try failed(token, question("https://edge.example" + path)) == nil, "\(path)")
            #expect(try failed("hdnts=" + token, question(path)) == nil)
        }
        for path in ["/live/tnt/12.ts", "/live/1.ts", "/vod/ab", "/vod", "/LIVE/tnt/1.ts", ""] {
            #expect(try failed(token, question(path)) == [.scope], "\(path)")
        }
        #expect(try failed(token, question("/vod/a", at: Self.begin - 1)) == [.begin])
        #expect(try failed(token, question("/vod/a", at: Self.begin)) == nil)
        #expect(try failed(token, question("/vod/a", at: Self.end)) == nil)
        #expect(try failed(token, question("/vod/a", at: Self.end + 1)) == [.end])
        #expect(try failed(token, question("/vod/a", ip: "192.0.2.2")) == [.ip])
        #expect(try failed(token.replacing("/vod/a", with: "/vod/*"), question("/vod/b")) == [.key])
        for broken in [
            "", "hmac=", "exp=1", "end=1~" + token, token + "~exp=9", token.replacing("~hmac", with: "~exp=9~hmac"),
            "~" + token,
        ] {
            #expect(try failed(broken, question("/vod/a")) == [.format], "\(broken)")
        }
        maker.salt = try GrantSecret([1])
        #expect(try failed(token, question("/vod/a")) == [.key])
        let url = try maker.grant(.url("/vod/a"), period).fields[0].value
        #expect(try failed(url, question("/vod/a")) == nil)
        #expect(try failed(url, question("/vod/b")) == [.key])
        #expect(try maker.check(url, question(nil)).contains { $0.subject == .key && $0.isPassed == nil })
        #expect(try maker.check(url, question("/vod/a")).opens && !maker.check(url, question(nil)).opens)
    }

    @Test("of CloudFront: the signature, the key pair, the times and the URL")
    func cloudFront() throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        var maker = try CloudFrontGrant(key: pem, keyPairID: "K1")
        let url = "https://d.example/vod/a"
        for digest in CloudFrontGrant.Digest.allCases {
            maker.digest = digest
            let canned = try maker.grant(url: url, try GrantPeriod(to: Self.end))
            let custom = try maker.grant(url: "https://d.example/live/*", period)
            let cookies = custom.fields.map { "\($0.cookie)=\($0.value)" }.joined(separator: "; ")
            func failed(_ query: String, _ question: GrantQuestion) throws -> Set<GrantCheck.Subject>? {
                failures(try maker.check(query, question))
            }
            #expect(try failed(canned.query, question(url)) == nil)
            #expect(try failed(canned.query, question(url + "b")) == [.key])
            // CloudFront makes a canned policy again without an address.
            maker.ip = "192.0.2.1"
            #expect(try failed(canned.query, question(url, ip: "192.0.2.1")) == nil)
            let bound = try maker.grant(url: url, try GrantPeriod(to: Self.end))
            maker.ip = nil
            let unbound = "Expires=\(Self.end)&" + bound.query.drop { $0 != "&" }.dropFirst()
            #expect(try failed(unbound, question(url, ip: "192.0.2.1")) == [.key])
            #expect(try failed(canned.query, question(url, at: Self.end)) == [.end])
            #expect(try maker.check(canned.query, question(nil)).contains { $0.subject == .key && $0.isPassed == nil })
            for query in [custom.query, cookies] {
                #expect(try failed(query, question("https://d.example/live/1.ts")) == nil)
                #expect(try failed(query, question("https://d.example/vod")) == [.scope])
                #expect(try failed(query, question("https://d.example/live/1", at: Self.begin - 1)) == [.begin])
            }
            let last = question("https://d.example/live/1.ts", at: Self.end - 1)
            #expect(try failed(custom.query, last) == nil)
            #expect(try failed(custom.query, question("https://d.example/live/1.ts", at: Self.end)) == [.end])
            for (address, asked, isPassed) in [
                ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.0/24", "192.0.2.2", nil),
            ] as [(String, String, Bool?)] {
                maker.ip = address
                let bound = try maker.grant(url: url, try GrantPeriod(to: Self.end))
                maker.ip = nil
                #expect(bound.fields[0].parameter == "Policy", "a canned policy has no address")
                let check = try maker.check(bound.query, question(url, ip: asked)).first { $0.subject == .ip }
                #expect(check?.isPassed == .some(isPassed), "\(address)")
            }
            #expect(try failed(custom.query.replacing("K1", with: "K2"), question(nil)) == [.key])
            #expect(try failed(custom.query + "&Signature=x", question(nil)) == [.format])
            #expect(try failed("Expires=1", question(nil)) == [.format])
        }
    }

    @Test("a signed policy of another form opens nothing: what it says is not known")
    func otherPolicies() throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let maker = try CloudFrontGrant(key: pem, keyPairID: "K1")
        let ours = #"{"Resource":"https://d/*","Condition":{"DateLessThan":{"AWS:EpochTime":1800000600}}}"#
        for (policy, opens) in [
            (ours, true), ("\(ours),\(ours)", false),
            (#"{"Condition":{"DateLessThan":{"AWS:EpochTime":1800000600}}}"#, false),
            (#"{"Resource":"https://d/*","Condition":{}}"#, false),
            (ours.replacing("}}}", with: #"},"DateGreaterthan":{"AWS:EpochTime":1}}}"#), false),
            (ours.replacing("}}}", with: #"},"DateGreaterThan":{"AWS:EpochTime":"1"}}}"#), false),
            (ours.replacing("}}}", with: #"},"DateGreaterThan":{"AWS:EpochTime":1}}}"#), true),
            (ours.replacing("}}}", with: #"},"IpAddress":{"AWS:SourceIp":"192.0.2.0/24"}}}"#), true),
            (ours.replacing("}}}", with: #"},"IpAddress":{"AWS:SourceIp":["192.0.2.1"]}}}"#), false),
            (ours.replacing("{\"Res", with: #"{"Effect":"Deny","Res"#), false),
        ] {
            let document = Array(#"{"Statement":[\#(policy)]}"#.utf8)
            let signature = try RSASigningKey(pem: pem).sign(document, .sha256)
            let fields = [("Policy", document), ("Signature", signature)].map { name, bytes in
                let letters = Data(bytes).base64EncodedString()
                return name + "="
                    + letters.replacing("+", with: "-").replacing("=", with: "_").replacing("/", with: "~")
            }
            let query = fields.joined(separator: "&") + "&Key-Pair-Id=K1&Hash-Algorithm="
            #expect(try maker.check(query + "SHA256", question("https://d/a")).opens == opens, "\(policy)")
            for digest in ["SHA1", "SHA512", ""] {
                #expect(try maker.check(query + digest, question("https://d/a")).opens == false, "\(digest)")
            }
        }
    }

    @Test("of Akamai: a time that cannot be read is a fault of the token, though its HMAC is right")
    func unreadableTimes() throws {
        let maker = try AkamaiToken(key: secret)
        for (times, failed) in [
            ("st=1800000000~exp=1800000600", nil), ("st=99999999999999999999~exp=1800000600", [.begin]),
            ("st=now~exp=1800000600", [.begin]), ("exp=+1800000600", [.format]), ("exp=01800000600", [.format]),
        ] as [(String, Set<GrantCheck.Subject>?)] {
            let code = try Part.hmac("\(times)~acl=/*", hexadecimalKey: Self.digits, "sha256")
            #expect(
                failures(try maker.check("\(times)~acl=/*~hmac=\(code)", question("/a"))) == failed, "\(times)")
        }
    }

    @Test("of nginx: the digest and the end")
    func secureLink() throws {
        let maker = try SecureLink(secret: secret)
        let query = try maker.grant(uri: "/vod/a b", period).query
        #expect(failures(try maker.check(query, question("/vod/a b"))) == nil)
        #expect(failures(try maker.check(query, question("/vod/a"))) == [.key])
        #expect(failures(try maker.check(query, question("/vod/a b", at: Self.end + 1))) == [.end])
        #expect(failures(try maker.check(query.replacing("600", with: "700"), question("/vod/a b"))) == [.key])
        #expect(failures(try maker.check("md5=x", question("/vod/a b"))) == [.format])
        #expect(failures(try maker.check(query + "&expires=\(Self.end)", question("/vod/a b"))) == [.format])
        var bound = try SecureLink(secret: secret, expression: "$secure_link_expires$uri$remote_addr $secret")
        bound.ip = "192.0.2.1"
        let link = try bound.grant(uri: "/vod/a", period).query
        #expect(failures(try bound.check(link, question("/vod/a"))) == nil)
        #expect(failures(try bound.check(link, question("/vod/a", ip: "192.0.2.1"))) == nil)
        #expect(failures(try bound.check(link, question("/vod/a", ip: "192.0.2.2"))) == [.key], "from another address")
    }

    @Test("of a Common Access Token: all that it says")
    func cat() throws {
        let maker = try CommonAccessToken(key: secret, keyID: "k")
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.notBefore) = ("me", Self.end, Self.begin)
        (claims.methods, claims.scope.host, claims.scope.pathPrefix) = (["GET"], "cdn", "/live/")
        let token = try maker.grant(claims).query
        func failed(_ url: String, at seconds: Int64 = 1_800_000_300, _ method: String = "GET") throws -> Set<
            GrantCheck.Subject
        >? {
            var question = question(url, at: seconds)
            (question.method, question.issuer) = (method, "me")
            return failures(try maker.check(token, question))
        }
        #expect(try failed("https://cdn/live/1?a=b") == nil && failed("/live/1") == nil)
        #expect(try failed("https://other/live/1") == [.scope] && failed("/vod/1") == [.scope])
        for unclear in [
            "/live/../vod/1", "/live/%2e%2e/vod", "/live//1", "/live/./1", "/live/a%2f..", "/live\\1", "/live/%255c",
            "/live/%", "/live/%ff", "/live/a%00", "/vod/a://cdn/live/1", "live/1",
        ] {
            #expect(
                try failed(unclear) == [.scope]
                    && failed(unclear.hasPrefix("/") ? "https://cdn" + unclear : unclear) == [.scope], "\(unclear)")
        }
        #expect(try failed("/live/1/") == nil && failed("https://cdn/live/1#x") == nil)
        #expect(try failed("/live/a%20b") == nil && failed("/l%69ve/a;b=c") == nil)
        let byPath = try maker.check(token, question("/live/1")).first { $0.subject == .scope }
        #expect(byPath?.isPassed == .some(nil), "of a path nobody can tell whether its host is the one")
        #expect(try failed("/live/1", "POST") == [.method])
        #expect(try failed("/live/1", at: Self.end) == [.end] && failed("/live/1", at: Self.begin - 1) == [.begin])
        claims.issuer = nil
        var expecting = question("https://cdn/live/1")
        (expecting.method, expecting.issuer) = ("GET", "me")
        #expect(
            failures(try maker.check(try maker.grant(claims).query, expecting)) == [.issuer],
            "no issuer is not the expected one")
        let stranger = try CommonAccessToken(key: GrantSecret([UInt8](repeating: 1, count: 32)), keyID: "k")
        #expect(failures(try stranger.check(token, question("/live/1"))) == [.key])
        #expect(failures(try maker.check("x", question("/live/1"))) == [.format])
    }
}
