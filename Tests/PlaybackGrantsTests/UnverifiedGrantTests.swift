import PlaybackGrants
import Testing

@Suite("grants recognised without their key")
struct UnverifiedGrantTests {
    private static let end: Int64 = 1_800_000_600
    private static let period = Result { try GrantPeriod(from: end - 600, to: end) }
    private static let shortest = Result { try GrantPeriod(to: end) }
    private let key: GrantSecret

    init() throws { key = try GrantSecret(Array(repeating: 0x0F, count: 32)) }

    private func fields(_ grant: UnverifiedGrant) -> [String: String] {
        Dictionary(grant.fields.map { ($0.name, $0.text) }) { first, _ in first }
    }

    @Test(
        "an Akamai token, under any name",
        arguments: [
            "", "hdnts=", "hdnea=", "hdntl=", "__token__=", "akamai_token=", "https://h/x?a=b&_t-2=",
            "Cookie: a=b; hdntl=", "Set-Cookie: hdntl=", "X-Token: ",
        ])
    func akamai(name: String) throws {
        let made = try AkamaiToken(key: key).grant(.acl(["/live/*"]), Self.period.get()).fields[0].value
        let grant = try #require(UnverifiedGrant(recognizing: name + made))
        #expect(grant.kind == "akamai" && grant.fields.map(\.name) == ["st", "exp", "acl", "hmac"])
        #expect(fields(grant)["exp"] == "1800000600 (2027-01-15 08:10:00 +0000)")
        #expect(grant.starts?.milliseconds == 1_800_000_000_000 && grant.expires?.milliseconds == 1_800_000_600_000)
        var question = GrantQuestion(at: Timestamp(milliseconds: 1_800_000_000_000))
        #expect(grant.checks(question).allSatisfy { $0.isPassed != false } && !grant.checks(question).opens)
        question.url = "/vod/1"
        #expect(grant.checks(question).last?.isPassed == false)
        question.now = Timestamp(milliseconds: 1_800_000_601_000)
        #expect(grant.checks(question).filter { $0.isPassed == false }.map(\.subject) == [.end, .scope])
    }

    @Test("an Akamai token in a path, where the edge escapes its ACL")
    func inPath() throws {
        let made = try AkamaiToken(key: key).grant(.acl(["/live/*"]), Self.period.get()).fields[0].value
        let url = "https://h/a/hdntl=\(made.replacing("/", with: "%2f"))/b/1.m3u8?x=y"
        #expect(fields(try #require(UnverifiedGrant(recognizing: url)))["acl"] == "/live/*")
    }

    @Test("an Akamai token that a client escaped again is recognised, and opens nothing")
    func escapedAgain() throws {
        let made = try AkamaiToken(key: key).grant(.acl(["/live/*"]), Self.period.get()).fields[0].value
        let escaped = made.replacing("=", with: "%3D").replacing("~", with: "%7e").replacing("/", with: "%2F")
        for text in ["hdnts=\(escaped)", "https://h/live/1?akamai_token=\(escaped)", "u=hdnts%3D\(escaped)"] {
            let grant = try #require(UnverifiedGrant(recognizing: text), "\(text)")
            let checks = grant.checks(GrantQuestion(at: Timestamp(milliseconds: 1_800_000_000_000)))
            #expect(checks.filter { $0.isPassed == false }.map(\.subject) == [.format])
            #expect(fields(grant)["acl"] == "/live/*")
        }
    }

    @Test("an nginx link, as a query and in a URL")
    func secureLink() throws {
        let made = try SecureLink(secret: key).grant(uri: "/a", Self.shortest.get()).query
        for text in [made, "https://d/a?b=c&\(made)#t=10", "Cookie: \(made.replacing("&", with: "; "))"] {
            let grant = try #require(UnverifiedGrant(recognizing: text), "\(text)")
            #expect(grant.kind == "secure-link" && grant.fields.map(\.name) == ["md5", "expires"])
            #expect(grant.starts == nil && grant.expires?.milliseconds == 1_800_000_600_000)
        }
    }

    @Test("a Common Access Token, with names for its claims")
    func commonAccessToken() throws {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.methods) = ("gate", Self.end, ["GET"])
        claims.scope.pathPrefix = "/live/"
        let made = try CommonAccessToken(key: key, keyID: "2027").grant(claims).fields[0].value
        for text in [
            made, "CTA-Common-Access-Token=\(made)", "CTA-Common-Access-Token: \(made)", "cat=\(made)",
            "a=b&CTA-Common-Access-Token=\(made)&c=d",
        ] {
            let grant = try #require(UnverifiedGrant(recognizing: text), "\(text)")
            #expect(grant.kind == "cat" && grant.expires?.milliseconds == 1_800_000_600_000)
            let fields = fields(grant)
            #expect(fields["kid"] == "2027" && fields["iss"] == "gate" && fields["catm"] == "[GET]")
            #expect(fields["catu"] == "{3: {1: /live/}}")
        }
    }

    @Test("a JSON Web Token is none of the kinds, and is named")
    func jsonWebToken() throws {
        // {"alg":"HS256","typ":"JWT"}, {"sub":"a b","exp":1800000600,"nbf":1800000000.5}
        let token =
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIGIiLCJleHAiOjE4MDAwMDA2MDAsIm5iZiI6MTgwMDAwMDAwMC41fQ.AAAA"
        let grant = try #require(UnverifiedGrant(recognizing: token + "\n"))
        #expect(grant.kind == "jwt" && grant.title == "JSON Web Token (JWT)")
        #expect(grant.fields.map(\.name) == ["alg", "typ", "exp", "nbf", "sub"])
        #expect(fields(grant)["sub"] == "a b" && fields(grant)["exp"] == "1800000600 (2027-01-15 08:10:00 +0000)")
        #expect(grant.starts?.milliseconds == 1_800_000_000_000 && grant.expires?.milliseconds == 1_800_000_600_000)
    }

    @Test(
        "other text is not recognised",
        arguments: [
            "", ".", "..", "a.b.c", "e30.e30.", "hello, world", "https://d/a?b=c", "exp=1~hmac=00", "hdnts=",
            "exp=1~hmac=" + String(repeating: "g", count: 64), "exp=x~hmac=" + String(repeating: "0", count: 64),
            "md5=x&expires=1", "expires=1800000600", "Expires=1&Signature=AAAA&Key-Pair-Id=K", "2D3RhEOhAQWhBA",
            "<signatureInfo>AAAA</signatureInfo>", String(repeating: "a.", count: 40_000),
            "eyJhbGciOiJIUzI1NiJ9.x.AAAA", "PHNpZ25hdHVyZUluZm8", "{\"md5\": 1}", "~~~~hmac=", "\u{0}\u{301}=&;~.",
        ])
    func others(text: String) { #expect(UnverifiedGrant(recognizing: text) == nil) }
}
