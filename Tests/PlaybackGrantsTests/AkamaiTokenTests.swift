import PlaybackGrants
import Testing

@Suite("Akamai tokens")
struct AkamaiTokenTests {
    /// The key of the examples that Akamai's EdgeAuth-Token-Node publishes.
    private let key: GrantSecret
    private static let digits = "7a5c2be9f42a1f32cd889d1cf775f05d0cd162bd2871d00fe705ab28c9bba5a5"

    init() throws { key = try GrantSecret(hexadecimal: Self.digits) }

    /// One of the published examples: what it is made of, and what comes out.
    struct Example: Sendable {
        var end: Int64 = 1_492_405_000
        var scope = AkamaiToken.Scope.url("/target/url")
        var id: String?
        var ip: String?
        var data: String?
        var salt: String?
        var escapesEarly = false
        let token: String
    }

    private static let session = "MY_SESSION_ID_E1905##"
    private static let examples = [
        Example(
            end: 1_492_404_013, scope: .acl(["/*"]),
            token: "st=1492404013~exp=1492404013~acl=/*"
                + "~hmac=a77d3cd18e2a08adbc45f844203bb88a9d5057a4e465551b6861f98fb6fecbec"),
        Example(
            end: 1_493_008_813, scope: .acl(["/*"]),
            token: "st=1492404013~exp=1493008813~acl=/*"
                + "~hmac=57cef6aa3c30939b3f599ee7b1bda3bd63c58937ff713d605d5139e449e09a3c"),
        Example(
            end: 1_493_008_813, scope: .acl(["/path1", "/path2"]),
            token: "st=1492404013~exp=1493008813~acl=/path1!/path2"
                + "~hmac=17f163a7cb8d38e2bb97849375674758cc47a5937764c4b2e82678f23cee6380"),
        Example(
            scope: .acl(["/path1", "/path2"]),
            token: "st=1492404013~exp=1492405000~acl=/path1!/path2"
                + "~hmac=918aa0dbc9a471967c4996b66e9c7e32b75f9784e4cec520fb45c4c1a56f8253"),
        Example(
            token: "st=1492404013~exp=1492405000~hmac=637d42fd0739315be4129508f9d3cbeba15c7ab561d767844f1fd468c4fb0694"),
        Example(
            id: session,
            token: "st=1492404013~exp=1492405000~id=MY_SESSION_ID_E1905##"
                + "~hmac=e0db8fcd7b5f59adfe23dd3417c524ff31a6b6d0dd9a22d56bab675fb62608b7"),
        Example(
            id: session, ip: "192.168.0.1",
            token: "ip=192.168.0.1~st=1492404013~exp=1492405000~id=MY_SESSION_ID_E1905##"
                + "~hmac=03ff877afaf13c6dd58ee320d6f61da0772b9149072558f9dc5439f482ddcedd"),
        Example(
            id: session, ip: "192.168.0.1", data: "goodjoon",
            token: "ip=192.168.0.1~st=1492404013~exp=1492405000~id=MY_SESSION_ID_E1905##~data=goodjoon"
                + "~hmac=8dcd3d6b2c56ca712b04dfa31373d5a7d71bae2b8ed9c67fe7c9ad459c0ef7dc"),
        Example(
            id: session, ip: "192.168.0.1", data: "goodjoon", salt: "passwd",
            token: "ip=192.168.0.1~st=1492404013~exp=1492405000~id=MY_SESSION_ID_E1905##~data=goodjoon"
                + "~hmac=4852b47e438c4474c14971d54ac81ce677a58b8870cc6ad1e2f9ca0ecac991c3"),
    ]

    @Test("the published examples come out byte for byte", arguments: examples)
    func published(example: Example) throws {
        var maker = try AkamaiToken(key: key)
        (maker.id, maker.ip, maker.data) = (example.id, example.ip, example.data)
        maker.salt = try example.salt.map { try GrantSecret(Array($0.utf8)) }
        let grant = try maker.grant(example.scope, try GrantPeriod(from: 1_492_404_013, to: example.end))
        #expect(grant.query == "hdnts=" + example.token)
        #expect(grant.expires == Timestamp(milliseconds: example.end * 1000))
    }

    /// The HMAC is what this command prints: `printf '%s' "exp=…" | openssl dgst -mac HMAC -macopt hexkey:…`.
    @Test("each digest, and escapes in lower case, in what is sent and in what is signed")
    func digests() throws {
        for digest in AkamaiToken.Digest.allCases {
            var maker = try AkamaiToken(key: key, digest: digest)
            (maker.name, maker.escapesEarly, maker.data) = ("hdnea", true, "ä/~'*!")
            let grant = try maker.grant(.url("/a b?c=~"), try GrantPeriod(to: 1_492_405_000))
            let sent = "exp=1492405000~data=%c3%a4%2f%7e%27%2a!"
            let code = try Part.hmac(sent + "~url=%2fa%20b%3fc%3d%7e", hexadecimalKey: Self.digits, digest.rawValue)
            #expect(grant.query == "hdnea=\(sent)~hmac=\(code)")
        }
    }

    /// The HMAC is what Akamai's own library for Python gives (akamai-edgeauth 0.3.2).
    @Test("a comma, as in paths of several bit rates, is part of a token, and of no cookie")
    func comma() throws {
        let acl = "/i/film_,500,1000,.mp4.csmil/*"
        let grant = try AkamaiToken(key: key).grant(.acl([acl]), try GrantPeriod(to: 2_000_000_000))
        let code = try Part.hmac("exp=2000000000~acl=\(acl)", hexadecimalKey: Self.digits, "sha256")
        #expect(grant.query == "hdnts=exp=2000000000~acl=\(acl)~hmac=\(code)")
        let problem = Part.problem { _ = try grant.cookies(path: "/i", at: .now) }
        #expect(problem?.hasPrefix("delivery: is cookie, and the grant has a comma") == true, "\(problem ?? "")")
        let url = try AkamaiToken(key: key).grant(.url("/i/a,b"), try GrantPeriod(to: 2_000_000_000))
        #expect(try url.cookies(path: "/i", at: .now).count == 1, "the URL is not in the token")
    }

    @Test("what cannot be part of a token is refused by its field")
    func refusals() throws {
        func problem(_ scope: AkamaiToken.Scope = .url("/x"), _ change: (inout AkamaiToken) -> Void = { _ in })
            -> String?
        {
            Part.problem {
                var maker = try AkamaiToken(key: key)
                change(&maker)
                _ = try maker.grant(scope, try GrantPeriod(to: 1_492_405_000))
            }
        }
        #expect(problem() == nil)
        #expect(problem(.acl([])) == "acl: names no path; expected at least one")
        for path in ["", "x", "/a!b", "/a~b", "/a b", "/a;b", "/\u{e4}", "/a\nb"] {
            #expect(problem(.acl(["/ok", path]))?.hasPrefix("acl: is '") == true, "\(path)")
        }
        #expect(
            problem(.acl(["/a;b"])) == "acl: is '/a;b', with ';'; expected visible ASCII without ! ~ ; \\ or quotes")
        #expect(problem(.acl(["a"])) == "acl: is 'a'; expected a path from / on")
        #expect(
            Part.problem { _ = try AkamaiToken(key: key).grant(.acl(["/"]), GrantPeriod(to: 190_000_000_000)) }?
                .hasPrefix("expires: is 190000000000, after 2106-02-07 06:28:14 +0000, the latest expiry for Akamai")
                == true)
        #expect(problem(.url("")) == "url: is empty; expected a path or a URL")
        #expect(problem(.url("/a~exp=9"))?.hasPrefix("url: ") == true)
        #expect(problem(.url("/a#f"))?.hasPrefix("url: is '/a#f', with '#'") == true)
        #expect(problem { $0.id = "a~acl=/*" }?.hasPrefix("id: ") == true)
        #expect(problem { $0.data = "a;b" }?.hasPrefix("data: ") == true)
        #expect(problem { $0.ip = "1.2.3.4~" }?.hasPrefix("ip: ") == true)
    }

    @Test("a key is hexadecimal, two digits a byte")
    func keys() {
        func problem(_ digits: String) -> String? { Part.problem { _ = try GrantSecret(hexadecimal: digits) } }
        #expect(problem("abc") == "key: has 3 digits; expected hexadecimal digits, two a byte")
        #expect(problem("abcx") == "key: has something else at position 4; expected hexadecimal digits")
        #expect(problem("") == "key: has 0 bytes; expected at least 1")
        #expect(problem("aBcD") == nil)
    }
}
