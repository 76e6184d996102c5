import Foundation
import TestSupport
import Testing
import TokenCrypto

@testable import PlaybackGrants

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
        for path in ["/live/tnt/12.ts", "/live/1.ts", "/vod/ab", "/vod", "/LIVE/tnt/1.ts"] {
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
            "~" + token, token.replacing("~hmac", with: "~id~hmac"),
        ] {
            #expect(try failed(broken, question("/vod/a")) == [.format], "\(broken)")
        }
        #expect(try failed(token.replacing("/live/*/?.ts!/vod/a", with: "*"), question("/any/path")) == [.key])
        let room = 8192 - token.utf8.count
        for (excess, failure) in [(0, [.scope]), (1, [.format])] as [(Int, Set<GrantCheck.Subject>)] {
            maker.data = "x=1" + String(repeating: "y", count: room + excess)
            let long = try maker.grant(.acl(["/live/*/?.ts", "/vod/a"]), period).fields[0].value
            #expect(try long.utf8.count == 8192 + excess && failed(long, question("/")) == failure)
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
            #expect(try failed(canned.query, question(nil, at: Self.end)) == [.end])
            let other = try CloudFrontGrant(key: pem, keyPairID: "K2").check(canned.query, question(url))
            #expect(other.contains { $0.subject == .key && $0.isPassed == false && $0.detail.contains("expected K2") })
            #expect(try !maker.check(canned.query, question(url)).contains { $0.detail.contains("expected K") })
            for query in [custom.query, cookies] {
                #expect(try failed(query, question("https://d.example/live/1.ts")) == nil)
                #expect(try failed(query, question("https://d.example/vod")) == [.scope])
                #expect(try failed(query, question("https://d.example/live/1", at: Self.begin - 1)) == [.begin])
            }
            let last = question("https://d.example/live/1.ts", at: Self.end - 1)
            #expect(try failed(custom.query, last) == nil)
            #expect(try failed(custom.query, question("https://d.example/live/1.ts", at: Self.end)) == [.end])
            for (address, asked, isPassed) in [
                ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
                ("192.0.2.0/24", "192.0.2.2", true), ("192.0.2.0/24", "192.0.3.2", false),
                ("0.0.0.0/0", "1.2.3.4", true),
                // As in Amazon's own examples, the first address is not that of the network.
                ("192.168.0.1/24", "192.168.0.77", true), ("192.0.2.0/24", "::ffff:192.0.2.1", true),
                ("192.0.2.0/24", "2001:db8::1", false), ("192.0.2.0/24", "here", nil),
                ("192.0.2.0/24", "192.0.2.128/25", true), ("192.0.2.0/24", "192.0.0.0/16", false),
            ] as [(String, String, Bool?)] {
                maker.ip = address
                let bound = try maker.grant(url: url, try GrantPeriod(to: Self.end))
                maker.ip = nil
                #expect(bound.fields[0].parameter == "Policy", "a canned policy has no address")
                let check = try maker.check(bound.query, question(url, ip: asked)).first { $0.subject == .ip }
                #expect(check?.isPassed == .some(isPassed), "\(address)")
            }
            // What only others make.
            for address in ["2001:db8::1", "192.0.2.0/33"] {
                let policy = try CloudFrontGrant.policy(for: url, from: nil, to: Self.end, ip: address)
                let checks = CloudFrontGrant.conditions(of: policy, question(url, ip: "2001:db8::1"))
                #expect(checks.first { $0.subject == .ip }?.isPassed == false, "\(address)")
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
            let query = try Self.signed(#"{"Statement":[\#(policy)]}"#, pem)
            #expect(try maker.check(query + "SHA256", question("https://d/a")).opens == opens, "\(policy)")
            for digest in ["SHA1", "SHA512", ""] {
                #expect(try maker.check(query + digest, question("https://d/a")).opens == false, "\(digest)")
            }
        }
    }

    @Test(
        "of Akamai: an ACL is compared after its escapes are decoded; where the edge may read it in two ways, not at all",
        arguments: [
            ("%2f*", "/live/1.ts", true), ("%2flive%2f*", "/vod/1", false), ("%2F%2A", "/a", true),
            ("*%2fa%2f*", "/x/a/1", true), ("%2fa%21%2fb%2f%3f", "/b/1", true), ("%2fa%21%2fb", "/a!/b", false),
            ("/i/a,b/*", "/i/a,b/1", true), ("/live/*", "/live/a%20b", true), ("/vod/*", "/live/a%20b", false),
            ("/live/a%20b*", "/live/a%20b1", nil), ("%2fa+b*", "/a+b1", nil), ("/a+b*", "/a+b1", true),
            ("/100%/*", "/100%/1", nil), ("/live/?", "/live/%31", nil), ("/live/%2a", "/live/x", nil),
            ("/live/%3f", "/live/x", nil), ("/x%21/live/*", "/live/x", nil), ("%2fx%21/live/*", "/live/x", nil),
            ("/%2A", "/live/x", nil), ("/vod%2f*!/live/*", "/live/x", true), ("/\u{e9}*", "/\u{e9}1", nil),
        ] as [(String, String, Bool?)])
    func escapedACL(acl: String, path: String, isPassed: Bool?) throws {
        let fields = "exp=\(Self.end)~acl=\(acl)~data=hdntl"
        let token = "\(fields)~hmac=\(try Part.hmac(fields, hexadecimalKey: Self.digits, "sha256"))"
        let checks = try AkamaiToken(key: secret).check(token, question(path))
        let scope = try #require(checks.first { $0.subject == .scope })
        #expect(scope.isPassed == isPassed && checks.opens == (isPassed == true), "\(scope)")
        #expect(!scope.detail.contains("%2f") && !scope.detail.contains("%2F"))
    }

    /// What Akamai's own libraries sign for such a URL (akamai-edgeauth 0.3.2 for Python; URLEncoder of Java).
    @Test("of Akamai: a URL that its libraries escape in different ways has their key, and is not checked")
    func escapedURL() throws {
        var checker = try AkamaiToken(key: secret)
        checker.escapesEarly = true
        for (url, signed, isKnown) in [
            ("/a b~(c)*", "%2fa+b~%28c%29%2a", false), ("/a b~(c)*", "%2fa+b%7e%28c%29*", false),
            ("/a b~(c)*", "%2fa%20b%7e(c)%2a", false), ("/a/b?c=\u{e9}", "%2fa%2fb%3fc%3d%c3%a9", true),
        ] {
            let fields = "exp=\(Self.end)"
            let code = try Part.hmac("\(fields)~url=\(signed)", hexadecimalKey: Self.digits, "sha256")
            let checks = try checker.check("\(fields)~hmac=\(code)", question(url))
            #expect(checks.opens == isKnown && failures(checks) == nil, "\(checks)")
            #expect(checks.contains { $0.subject == .scope && $0.isPassed == nil } == !isKnown, "\(signed)")
            #expect(try failures(checker.check("\(fields)~hmac=\(code)", question(url + "x"))) == [.key])
        }
        checker.escapesEarly = false
        let code = try Part.hmac("exp=\(Self.end)~url=/a~b,c", hexadecimalKey: Self.digits, "sha256")
        #expect(try checker.check("exp=\(Self.end)~hmac=\(code)", question("/a~b,c")).opens)
        #expect(throws: GrantError.self) { try checker.check("exp=\(Self.end)~hmac=\(code)", question("/a b")) }
    }

    @Test("of Akamai: a token that a client escaped again is its owner's, and opens nothing")
    func escapedAgain() throws {
        let maker = try AkamaiToken(key: secret)
        let made = try maker.grant(.acl(["/live/*"]), period).fields[0].value
        for (written, escape) in [("=", "%3D"), ("~", "%7E"), ("*", "%2A"), ("/", "%2f")] {
            let checks = try maker.check(made.replacing(written, with: escape), question("/live/1"))
            #expect(failures(checks) == [.format] && checks.contains { $0.subject == .key && $0.isPassed == true })
        }
        let other = made.replacing("*", with: "%2A").replacing("live", with: "vod")
        #expect(try failures(maker.check(other, question("/vod/1"))) == [.key])
    }

    @Test("of Akamai: each fault of the form has a message of its own, and so has another digest")
    func akamaiFaults() throws {
        let maker = try AkamaiToken(key: secret)
        for (token, reason) in [
            ("exp=1~acl=/*", "has no hmac="), ("exp=1~foo=2~hmac=00", "has the field 'foo'"),
            ("exp=1~exp=2~hmac=00", "has exp twice"), ("acl=/*~hmac=00", "has no exp"),
            ("exp=01~hmac=00", "has exp=01;"),
            ("exp=1~" + String(repeating: "a", count: 9000) + "~hmac=00", "has 9014 bytes"),
        ] {
            let checks = try maker.check(token, question("/a"))
            #expect(checks.count == 1 && checks[0].detail.hasPrefix(reason), "\(checks)")
        }
        let made = try maker.grant(.acl(["/*"]), period).fields[0].value
        let checks = try AkamaiToken(key: secret, digest: .md5).check(made, question("/a"))
        #expect(checks[1].detail == "HMAC md5 of it has 32 digits, and the token's 64, as sha256 has")
        let stranger = try AkamaiToken(key: GrantSecret([1])).check(made, question("/a"))
        #expect(stranger[1].detail == "HMAC sha256 of it differs from the token's; compare the key with the property's")
        let beside = try maker.check(made + "&a=b", question("/a"))
        #expect(beside.count == 1 && beside[0].detail.hasPrefix("has '&' in its hmac;"), "\(beside)")
        for (allowed, asked, isPassed) in [
            ("2001%3adb8%3a%3a1", "2001:db8::1", true), ("2001:db8::1", "2001:db8:0::1", nil),
            ("192.0.2.0/24", "192.0.2.1", nil), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.%31", "192.0.2.1", nil),
        ] as [(String, String, Bool?)] {
            let fields = try #require(try? AkamaiFields("ip=\(allowed)~exp=1~hmac=00"))
            let check = AkamaiToken.checks(of: fields, question("/a", ip: asked)).first { $0.subject == .ip }
            #expect(check?.isPassed == .some(isPassed), "\(allowed)")
        }
    }

    @Test("an expiry that a CDN does not read opens nothing, and one in milliseconds is named")
    func lateExpiries() throws {
        let code = try Part.hmac("exp=1900000000348~acl=/*", hexadecimalKey: Self.digits, "sha256")
        let edge = try AkamaiToken(key: secret).check("exp=1900000000348~acl=/*~hmac=\(code)", question("/a"))
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let maker = try CloudFrontGrant(key: pem, keyPairID: "K1")
        func policy(_ end: Int64) throws -> [GrantCheck] {
            let query = try Self.signed(
                #"{"Statement":[{"Resource":"https://d/*","Condition":{"DateLessThan":{"AWS:EpochTime":\#(end)}}}]}"#,
                pem)
            return try maker.check(query + "SHA256", question("https://d/a"))
        }
        for checks in [edge, try policy(1_900_000_000_348)] {
            #expect(failures(checks) == [.end])
            #expect(checks.first { $0.subject == .end }?.detail.contains("is it in milliseconds?") == true, "\(checks)")
        }
        #expect(try policy(2_147_483_647).opens && !policy(2_147_483_648).opens)
        let canned = "Expires=2147483648&Signature=AA__&Key-Pair-Id=K1"
        #expect(try failures(maker.check(canned, question(nil))) == [.end])
        #expect((1_900_000_000_348 as Int64).secondsAsDate == "1900000000348 seconds since 1970")
        // nginx takes any number that fits into 64 bits.
        let link = try SecureLink(secret: secret)
        let digest = try link.digest(uri: "/a", end: 1_900_000_000_348)
        #expect(try link.check("md5=\(digest)&expires=1900000000348", question("/a")).opens)
    }

    @Test("of CloudFront: each fault of the form or of the policy has a message of its own")
    func cloudFrontFaults() throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let maker = try CloudFrontGrant(key: pem, keyPairID: "K1")
        for (query, reason) in [
            ("Key-Pair-Id=K1", "has no Signature"), ("Signature=a&Signature=b&Key-Pair-Id=K1", "has Signature twice"),
            ("Signature=a", "has no Key-Pair-Id"), ("Signature=a&Key-Pair-Id=K1", "has neither Expires nor Policy"),
            ("Signature=a&Key-Pair-Id=K1&Expires=x", "has Expires=x; expected seconds since 1970"),
            ("Signature=a&Key-Pair-Id=K1&Policy=x", "has a Policy that is no text"),
            ("Signature=a&Key-Pair-Id=K1&Expires=1&Hash-Algorithm=MD5", "has Hash-Algorithm=MD5; expected SHA256"),
        ] {
            let checks = try maker.check(query, question("https://d/a"))
            #expect(checks.count == 1 && checks[0].detail.hasPrefix(reason), "\(checks)")
        }
        for (condition, reason) in [
            (#"{"DateLessThan":{"AWS:EpochTime":"1"}}"#, #"its policy has the AWS:EpochTime "1" in DateLessThan"#),
            ("{}", "its policy has no DateLessThan"), ("1", "its policy has a Condition that is no object"),
            (#"{"Null":{}}"#, "its policy has 'Null' in Condition; expected DateLessThan, DateGreaterThan, IpAddress"),
        ] {
            let query = try Self.signed(#"{"Statement":[{"Resource":"https://d/*","Condition":\#(condition)}]}"#, pem)
            let scope = try maker.check(query + "SHA256", question("https://d/a")).last
            #expect(scope?.isPassed == false && scope?.detail.hasPrefix(reason) == true, "\(String(describing: scope))")
        }
        var sha1 = maker
        sha1.digest = .sha1
        let other = try sha1.grant(url: "https://d/a", period).query
        for (query, reason) in [
            (other + "&Hash-Algorithm=SHA256", "signed with sha1, and Hash-Algorithm is SHA256"),
            (other.replacing("Policy=ey", with: "Policy=fy"), "; its signature is not one of this key over "),
        ] {
            let key = try maker.check(query, question("https://d/a")).first { $0.subject == .key }
            #expect(key?.isPassed == false && key?.detail.contains(reason) == true, "\(String(describing: key))")
        }
        // Nobody knows whether CloudFront decodes the tilde of a signature.
        let grants = try (0..<20).map { try maker.grant(url: "https://d/*", GrantPeriod(to: Self.end + $0)).query }
        let grant = try #require(grants.first { $0.contains("~") })
        let checks = try maker.check(grant.replacing("~", with: "%7E"), question("https://d/a"))
        #expect(!checks.opens && checks.filter { $0.isPassed == nil }.map(\.subject) == [.format], "\(checks)")
    }

    @Test(
        "a path that programs read in different ways is not checked for any CDN, and opens nothing",
        arguments: [
            "/live/../vod/1", "/live/./1", "/live//1", "/live/%2e%2e/1", "/live/%2E./1", "/live/..%2f1", "/live\\..\\1",
            "/live/%5c..%5c1", "/live/%252e%252e/1", "/live/..;a/1", "/live/\u{2025}/1", "/live/%E2%80%A5/1",
            "/live/\u{FF0F}1",
            "/live/1%", "/live/%ff", "/live/\t../1",
        ])
    func unclearPath(path: String) throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let cloudFront = try CloudFrontGrant(key: pem, keyPairID: "K1")
        let akamai = try AkamaiToken(key: secret)
        let code = try Part.hmac("exp=\(Self.end)~url=\(path)", hexadecimalKey: Self.digits, "sha256")
        let link = try SecureLink(secret: secret)
        let linked = "md5=\(try link.digest(uri: path, end: Self.end))&expires=\(Self.end)"
        for checks in try [
            akamai.check(akamai.grant(.acl(["/*"]), period).fields[0].value, question("https://d" + path)),
            akamai.check("exp=\(Self.end)~hmac=\(code)", question(path)),
            cloudFront.check(cloudFront.grant(url: "https://d/*", period).query, question("https://d" + path)),
            link.check(linked, question(path)),
        ] {
            let unknown = checks.filter(\.isUndecided)
            #expect(failures(checks) == nil && !checks.opens && unknown.count == 1, "\(checks)")
            #expect(unknown.first?.detail.contains("asked for ") == true, "\(unknown)")
        }
        guard let canned = try? cloudFront.grant(url: "https://d" + path, GrantPeriod(to: Self.end)).query else {
            return
        }
        let checks = try cloudFront.check(canned, question("https://d" + path))
        #expect(failures(checks) == nil && !checks.opens && checks.contains { $0.subject == .key && $0.isUndecided })
    }

    @Test("a URL whose host is none has no path that is known")
    func unclearHost() throws {
        let maker = try AkamaiToken(key: secret)
        let token = try maker.grant(.acl(["/live/*"]), period).fields[0].value
        for host in ["a\\..\\b", "me@a", "", "a b"] {
            let checks = try maker.check(token, question("https://\(host)/live/1"))
            #expect(failures(checks) == nil && !checks.opens, "\(host)")
        }
        #expect(try maker.check(token, question("https://[2001:db8::1]:8443/live/1")).opens)
    }

    @Test(
        "a URL that clients send, or CDNs compare, in another spelling is not checked",
        arguments: [
            "https://d.example/a#frag", "https://D.example/a", "https://d.example:443/a", "https://d.example./a",
            "HTTPS://d.example/a", "http://d.example:80/a", "https://d.example", "https://d.example?a", "rtmp://d/a",
        ])
    func otherSpelling(url: String) throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let cloudFront = try CloudFrontGrant(key: pem, keyPairID: "K1")
        let resource =
            "{\"Statement\":[{\"Resource\":\"*\",\"Condition\":{\"DateLessThan\":{\"AWS:EpochTime\":\(Self.end)}}}]}"
        var grants = [try Self.signed(resource, pem) + "SHA256"]
        if let canned = try? cloudFront.grant(url: url, GrantPeriod(to: Self.end)) { grants.append(canned.query) }
        let code = try Part.hmac("exp=\(Self.end)~url=\(url)", hexadecimalKey: Self.digits, "sha256")
        let cat = try CommonAccessToken(key: secret, keyID: "k")
        var claims = CATClaims()
        (claims.expires, claims.scope.host) = (Self.end, RequestedURL(url).host)
        for checks in try grants.map({ try cloudFront.check($0, question(url)) }) + [
            AkamaiToken(key: secret).check("exp=\(Self.end)~hmac=\(code)", question(url)),
            cat.check(cat.grant(claims).query, question(url)),
        ] {
            #expect(failures(checks) == nil && !checks.opens && checks.contains(where: \.isUndecided), "\(checks)")
        }
    }

    @Test("a URL with a parameter of a grant, or with characters that a client escapes, is not checked for CloudFront")
    func ownParameters() throws {
        let pem = Array(try TestKeys.standard.pemText().utf8)
        let maker = try CloudFrontGrant(key: pem, keyPairID: "K1")
        for (url, opens) in [
            ("https://d/a?b=c", true), ("https://d/a?Expires=1", false), ("https://d/a?b;Policy=x", false),
            ("https://d/a?%53ignature=x", false), ("https://d/a?key-pair-id", false),
        ] {
            for signed in [url, "https://d/*"] {
                let checks = try maker.check(maker.grant(url: signed, GrantPeriod(to: Self.end)).query, question(url))
                #expect(checks.opens == opens && failures(checks) == nil, "\(checks)")
            }
        }
        let all = try maker.grant(url: "https://d/*", GrantPeriod(to: Self.end)).query
        #expect(try !maker.check(all, question("https://d/\u{e9}")).opens)
    }

    /// A query with this policy and the key's signature, up to the name of the digest.
    private static func signed(_ policy: String, _ pem: [UInt8]) throws -> String {
        let document = Array(policy.utf8)
        let signature = try RSASigningKey(pem: pem).sign(document, .sha256)
        let fields = [("Policy", document), ("Signature", signature)].map { name, bytes in
            let letters = Data(bytes).base64EncodedString()
            return name + "=" + letters.replacing("+", with: "-").replacing("=", with: "_").replacing("/", with: "~")
        }
        return fields.joined(separator: "&") + "&Key-Pair-Id=K1&Hash-Algorithm="
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
        // The path is that of a URL, as the gate reads it; nginx decodes it.
        #expect(failures(try maker.check(query, question("https://h/vod/a%20b?x=y"))) == nil)
        for unclear in ["/vod//a b", "/vod/../vod/a b", "/vod/a b%"] {
            let checks = try maker.check(query, question(unclear))
            #expect(failures(checks) == nil && !checks.opens, "\(unclear)")
        }
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
        (claims.scope.host, claims.scope.pathPrefix) = (nil, "/live/\u{e9}")
        for (path, isPassed) in [("/live/\u{e9}", nil), ("/live/%C3%A9", nil), ("/live/e", false)] as [(String, Bool?)]
        {
            let scope = try maker.check(try maker.grant(claims).query, question(path)).first { $0.subject == .scope }
            #expect(scope?.isPassed == .some(isPassed) && scope?.isUndecided == (isPassed == nil), "\(path)")
        }
        for (scheme, host) in [(nil, "cdn"), ("https", nil)] as [(String?, String?)] {
            (claims.scope.scheme, claims.scope.host, claims.scope.pathPrefix) = (scheme, host, nil)
            let byHost = try maker.grant(claims).query
            for (path, isCovered) in [("/x", true), ("/../x", false), ("/%2e%2e/x", false)] {
                let checks = try maker.check(byHost, question("https://cdn" + path))
                #expect((failures(checks) == nil) == isCovered, "\(path)")
            }
        }
        (claims.scope.scheme, claims.scope.host, claims.scope.pathPrefix) = (nil, "cdn", "/live/")
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
