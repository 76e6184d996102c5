import Foundation
import PlaybackGrants
import TestSupport
import Testing
import TokenCrypto

@Suite("Common Access Tokens")
struct CommonAccessTokenTests {
    private let tokens: CommonAccessToken
    private static let digits = "403697de87af64611c1d32a05dab0fe1fcb715a86ab435f1ec99192d79569388"
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    init() throws { tokens = try CommonAccessToken(key: GrantSecret(hexadecimal: Self.digits), keyID: "gate-1") }

    private static var full: CATClaims {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.notBefore) = ("mvpd-gate", 1_800_000_600, 1_799_999_990)
        (claims.issuedAt, claims.identifier, claims.methods) = (1_800_000_000, [1, 2, 255], ["GET", "HEAD"])
        (claims.scope.scheme, claims.scope.host, claims.scope.pathPrefix) = ("https", "cdn.example", "/live/tnt/")
        claims.renewal = CATRenewal(kind: .cookie, seconds: 300, deadline: 60)
        return claims
    }

    /// The tagged tokens in the tests of node-cat, which others have made with this key.
    @Test(
        "tokens of another implementation are authentic",
        arguments: [
            (
                "2D3RhEOhAQWhBFBha2FtYWlfa2V5X2hzMjU2WCijAXgYY29hcDovL2pvbmFzLmV4YW1wbGUuY29tBhpn1JipBRpn1JipWCCX4nQb8SYQoa0SFLxE2Rh35DdTjoA9TzOSy1IP9O1BGQ",
                "coap://jonas.example.com", 1_741_985_961, nil
            ),
            (
                "2D3RhEOhAQWhBFBha2FtYWlfa2V5X2hzMjU2VKMBZWpvbmFzBhpn12U-BRpn12U-WCDf1xHvhcnvyXUxd-DP4RAbayc8nC2PLJPPPbF3S00ruw",
                "jonas", 1_742_169_406, nil
            ),
            (
                "2D3RhEOhAQWhBFBha2FtYWlfa2V5X2hzMjU2U6MEGnUCOrsGGmfXRKwFGmfXRKxYIOM6yRx830uqAamWFv1amFYRa5vaV2z5lIQTqFEvFh8z",
                nil, 1_742_161_068, 1_963_080_379
            ),
            (
                "2D3RhEOhAQWhBFBha2FtYWlfa2V5X2hzMjU2U6MEGmfXP_YGGmfXQAsFGmfXQAtYINTT_KlOyhaV6NaSxFXkqJWfBagSkPkem10dysoA-C0w",
                nil, 1_742_159_883, 1_742_159_862
            ),
        ] as [(String, String?, Int64, Int64?)])
    func foreign(token: String, issuer: String?, notBefore: Int64, expires: Int64?) throws {
        // Their key's own name.
        let tokens = try CommonAccessToken(key: GrantSecret(hexadecimal: Self.digits), keyID: "akamai_key_hs256")
        let claims = try tokens.authenticClaims(of: token)
        #expect(claims.issuer == issuer && claims.notBefore == notBefore && claims.expires == expires)
        let request = CATRequest(method: "GET", path: "/")
        let refusal = claims.refusal(of: request, issuer: nil, at: Timestamp(milliseconds: 1_750_000_000_000))
        let checks = try tokens.check(token, GrantQuestion(at: Timestamp(milliseconds: 1_750_000_000_000)))
        #expect(checks.opens == (refusal == nil), "\(checks)")
        switch expires {
        case nil: #expect(refusal == .noEnd)
        case 1_963_080_379?: #expect(refusal == nil)
        case let end?: #expect(refusal == .expired(at: end, now: 1_750_000_000))
        }
    }

    /// With an audience, which nobody here could check.
    @Test("a claim that is not understood is a refusal")
    func audience() throws {
        let tokens = try CommonAccessToken(key: GrantSecret(hexadecimal: Self.digits), keyID: "akamai_key_hs256")
        let token =
            "2D3RhEOhAQWhBFBha2FtYWlfa2V5X2hzMjU2V6MDgmNvbmVjdHdvBhpn12R8BRpn12R8WCAdnSbUN4KbIvaHLn-q4f4YRpfq6ERYotByjbIyZ-EkfQ"
        #expect(throws: CATError.unknownClaim(3)) { try tokens.authenticClaims(of: token) }
    }

    /// Python's cbor2 and hmac.
    @Test("ours are read and verified by parts that know nothing of ours")
    func independent() throws {
        let token = try tokens.grant(Self.full).fields[0].value
        let script = """
            import base64, cbor2, hashlib, hmac, json, sys
            token, key = sys.argv[1], bytes.fromhex(sys.argv[2])
            outer = cbor2.loads(base64.urlsafe_b64decode(token + '=' * (-len(token) % 4)))
            assert outer.tag == 61 and outer.value.tag == 17
            protected, unprotected, payload, mac = outer.value.value
            assert cbor2.loads(protected) == {1: 5} and unprotected == {4: b'gate-1'}
            structure = cbor2.dumps(['MAC0', protected, b'', payload])
            assert hmac.compare_digest(hmac.new(key, structure, hashlib.sha256).digest(), mac)
            claims = cbor2.loads(payload)
            assert claims == {1: 'mvpd-gate', 4: 1800000600, 5: 1799999990, 6: 1800000000, 7: bytes([1, 2, 255]), 310: 1,
                312: {0: {0: 'https'}, 1: {0: 'cdn.example'}, 3: {1: '/live/tnt/'}}, 313: ['GET', 'HEAD'],
                323: {0: 1, 1: 300, 2: 60}}, claims
            """
        let outcome = try Program("/usr/bin/python3").run(["-c", script, token, Self.digits])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try tokens.authenticClaims(of: token) == Self.full)
    }

    @Test("a token that was changed anywhere, cut, or written in another way is refused")
    func changed() throws {
        let token = try tokens.grant(Self.full).fields[0].value
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \u{e4}")
        for position in token.indices {
            for letter in letters where letter != token[position] {
                let other = token.replacingCharacters(in: position...position, with: String(letter))
                #expect(throws: CATError.self, "\(position)") { try tokens.authenticClaims(of: other) }
            }
            #expect(throws: CATError.self) { try tokens.authenticClaims(of: String(token[..<position])) }
        }
        for other in [token + "=", token + "A", " " + token, token + "\n"] {
            #expect(throws: CATError.self) { try tokens.authenticClaims(of: other) }
        }
        let stranger = try CommonAccessToken(key: GrantSecret(Array(repeating: 7, count: 32)), keyID: "gate-1")
        #expect(throws: CATError.otherKey) { try stranger.authenticClaims(of: token) }
    }

    /// Put together by hand (RFC 9052, 6.2 and 6.3), so that the MAC is right in all of them.
    @Test("what the MAC does not cover must be as ours, to the byte")
    func uncovered() throws {
        let message = try #require(Data(base64Encoded: try Self.base64(tokens.grant(Self.full).fields[0].value)))
        let (head, rest) = (Array(message.prefix(17)), Array(message.dropFirst(17)))
        #expect(head == [0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 5, 0xA1, 4, 0x46] + Array("gate-1".utf8))
        func isTaken(_ header: [UInt8], _ rest: [UInt8]) -> Bool {
            (try? tokens.authenticClaims(of: (Array(head.prefix(8)) + header + rest).letters)) != nil
        }
        let own = Array(head.dropFirst(8))
        #expect(isTaken(own, rest))
        let others: [[UInt8]] = [
            [0xA0], [0xA1, 4, 0x46] + Array("gate-2".utf8), [0xA1, 4, 0x58, 6] + Array("gate-1".utf8),
            [0xA1, 5] + own.dropFirst(2), [0xA2] + own.dropFirst() + [5, 0x40], [0xB8, 1] + own.dropFirst(),
            [0xA1, 0x18] + own.dropFirst(),
        ]
        for header in others { #expect(!isTaken(header, rest), "\(header)") }
        // Equal claims and an equal MAC, their lengths in more bytes than they need.
        let claims = Array(rest.dropFirst(2).dropLast(34))
        #expect(rest.prefix(2) == [0x58, UInt8(claims.count)] && rest.suffix(34).prefix(2) == [0x58, 32])
        let (longClaims, longMAC): ([UInt8], [UInt8]) = ([0x59, 0, UInt8(claims.count)], [0x59, 0, 32])
        #expect(!isTaken(own, longClaims + claims + rest.suffix(34)))
        #expect(!isTaken(own, rest.dropLast(34) + longMAC + rest.suffix(32)))
        // A MAC that is cut.
        #expect(!isTaken(own, rest.dropLast(34) + [0x40]))
        #expect(!isTaken(own, rest.dropLast(34) + [0x58, 31] + rest.suffix(32).dropLast()))
    }

    /// Put together by hand, with a MAC that is right.
    @Test("an authentic claim of another form or meaning is refused by its label")
    func otherForms() throws {
        func string(_ bytes: [UInt8]) -> [UInt8] {
            (bytes.count < 24 ? [0x40 | UInt8(bytes.count)] : [0x58, UInt8(bytes.count)]) + bytes
        }
        func claims(_ payload: [UInt8]) throws -> CATClaims {
            let structure = [0x84, 0x64] + Array("MAC0".utf8) + [0x43, 0xA1, 1, 5, 0x40] + string(payload)
            let key = try HMACKey(.sha256, key: GrantSecret.bytes(hexadecimal: Self.digits))
            let head = [0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 5, 0xA1, 4, 0x46] + Array("gate-1".utf8)
            return try tokens.authenticClaims(
                of: (head + string(payload) + string(try key.code(of: structure))).letters)
        }
        /// A map of one label of two bytes, and a value.
        func one(_ label: UInt16, _ value: [UInt8]) -> [UInt8] {
            [0xA1, 0x19, UInt8(label >> 8), UInt8(label & 0xFF)] + value
        }
        var exact = CATClaims()
        exact.scope.path = "/a"
        // {312: {3: {0: "/a"}}}, and what a path may be besides.
        let path: [UInt8] = [0x62, 0x2F, 0x61]
        #expect(try claims(one(312, [0xA1, 3, 0xA1, 0] + path)) == exact)
        for (label, value) in [
            (310, [2]), (310, [0x61, 0x31]), (312, [5]), (312, [0xA1, 3, 0xA0]), (312, [0xA1, 3, 0xA1, 2] + path),
            (312, [0xA1, 3, 0xA1, 0, 1]), (312, [0xA1, 0, 0xA1, 1] + path), (312, [0xA1, 2, 0xA1, 0] + path),
            (313, [0x82, 0x63, 0x47, 0x45, 0x54, 1]), (313, [0x63, 0x47, 0x45, 0x54]), (314, [1]),
        ] as [(UInt16, [UInt8])] {
            #expect(throws: CATError.unknownClaim(Int64(label)), "\(label): \(value)") {
                try claims(one(label, value))
            }
        }
        #expect(try claims(one(310, [1])) == CATClaims())
        // Nearly all of it is valid CBOR: what is not read is named, with its place.
        for (payload, found) in [
            (one(310, [1]) + [0], "something after the end of the value at byte 5"),
            ([0xA2, 1, 0x61, 0x61, 1, 0x61, 0x61], "the key 1 twice in a map at byte 4"),
            (one(311, [0xD8, 52, 0x44, 1, 2, 3, 4]), "the tag 52 at byte 4"),
            (one(311, [0xD9, 1, 0, 1]), "the tag 256 at byte 4"), (one(311, [0xC1, 1]), "the tag 1 at byte 4"),
            ([0xBF, 1, 0x61, 0x61, 0xFF], "an indefinite length at byte 0"),
            (one(311, [0x9F, 0xFF]), "an indefinite length at byte 4"),
            (one(311, [0x5F, 0x41, 1, 0xFF]), "an indefinite length at byte 4"),
            (one(311, [0xFF]), "a break at byte 4"), (one(311, [0xF7]), "the simple value 23 at byte 4"),
            (one(311, [0xF8, 99]), "the simple value 99 at byte 4"),
            (one(311, [0x61, 0xFF]), "a text that is not UTF-8 at byte 4"),
            (one(311, [0x1C]), "a head that RFC 8949 reserves at byte 4"),
            (one(311, [0x62, 0x61]), "an end in the middle of a value at byte 4"),
            (one(311, [UInt8](repeating: 0x81, count: 9) + [0]), "more than 8 values in each other at byte 11"),
            ([0x99, 1, 1], "an array or map of more than 256 items at byte 0"),
        ] {
            #expect(throws: CATError.malformed("its claims have \(found), which is not read here"), "\(payload)") {
                try claims(payload)
            }
        }
        #expect(
            "\(CATError.unknownClaim(312))" == "claim 312 (catu) is not understood in this form; it may restrict more")
        #expect("\(CATError.unknownClaim(3))" == "claim 3 is not understood here; it may restrict more")
        var request = CATRequest(method: nil, path: "/a")
        exact.expires = 1_800_000_600
        #expect(exact.refusal(of: request, issuer: nil, at: Self.now) == nil)
        request.path = "/a/b"
        #expect(exact.refusal(of: request, issuer: nil, at: Self.now) != nil)
    }

    private static func base64(_ letters: String) -> String {
        let usual = letters.replacing("-", with: "+").replacing("_", with: "/")
        return usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
    }

    @Test("it opens what it says, when it says")
    func opens() {
        let request = CATRequest(method: "GET", scheme: "https", host: "cdn.example", path: "/live/tnt/1.ts")
        func refusal(
            _ now: Int64 = 1_800_000_000, issuer: String? = "mvpd-gate", _ change: (inout CATRequest) -> Void = { _ in }
        ) -> CATError? {
            var request = request
            change(&request)
            return Self.full.refusal(of: request, issuer: issuer, at: Timestamp(milliseconds: now * 1000))
        }
        #expect(refusal() == nil && refusal(issuer: nil) == nil)
        #expect(refusal(1_799_999_990) == nil && refusal(1_800_000_599) == nil)
        #expect(refusal(1_799_999_989) == .notYetValid(from: 1_799_999_990, now: 1_799_999_989))
        #expect(refusal(1_800_000_600) == .expired(at: 1_800_000_600, now: 1_800_000_600))
        #expect(refusal(issuer: "other") == .otherIssuer("mvpd-gate"))
        #expect(refusal { $0.method = "POST" } == .outOfScope("for the methods GET, HEAD, not 'POST'"))
        for (path, opens) in [("/live/tnt", false), ("/live/tntx", false), ("/", false), ("/live/tnt/", true)] {
            #expect((refusal { $0.path = path } == nil) == opens, "\(path)")
        }
        #expect(
            refusal { $0.host = nil }
                == .outOfScope("for the host 'cdn.example', and that of the request is not known"))
        #expect(refusal { $0.scheme = "http" } == .outOfScope("for the scheme 'https', not 'http'"))
    }

    @Test("what is hostile in it is refused before anything is made of it")
    func hostile() throws {
        func refusal(_ bytes: [UInt8]) -> CATError? {
            do throws(CATError) {
                _ = try tokens.authenticClaims(of: bytes.letters)
                return nil
            } catch {
                return error
            }
        }
        let gigabytes: [UInt8] = [0xD8, 61, 0xD1, 0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0]
        let nested = [0xD8, 61, 0xD1] + [UInt8](repeating: 0x81, count: 2000) + [0]
        let endless: [UInt8] = [0xD8, 61, 0xD1, 0x9F, 0xFF]
        // More items, pairs, letters or bytes than an Int counts.
        let countless = [0x9B, 0xBB, 0x7B, 0x5B].flatMap { head in
            [0xFF, 0x80, 0x7F].map { [0xD8, 61, 0xD1, head, $0] + [UInt8](repeating: 0xFF, count: 7) + [0] }
        }
        let time = Program.processorTime {
            for bytes in [
                gigabytes, nested, endless, [0xD8, 61, 0xD1], [0xD8, 61, 0xD1, 0xFF],
                [0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 5],
            ] + countless {
                let why = refusal(bytes).map { "\($0)" } ?? ""
                #expect(why.contains(": its CBOR has ") && why.contains(" at byte "), "\(bytes.prefix(16)): \(why)")
            }
        }
        #expect(time < .milliseconds(100 * Program.slowness))
        // COSE_Mac0 without the tag of a CWT; another algorithm; two keys of one name in a map.
        for (bytes, part) in [
            ([], "begins with h''"), ([0xD8, 61], "begins with h'd83d'"),
            ([0xD1, 0x84, 0x43, 0xA1, 1, 5, 0xA0, 0x40, 0x40], "tags"),
            ([0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 4, 0xA0, 0x40, 0x40], "protected"),
            ([0xD8, 61, 0xD1, 0x84, 0x40, 0xA0, 0x40, 0x40], "protected"),
            (
                [0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 5, 0xA2, 4, 0x40, 4, 0x40, 0x40, 0x40],
                "the key 4 twice in a map at byte 8"
            ),
            ([0xD8, 61, 0xD1, 0x83, 0x43, 0xA1, 1, 5, 0xA0, 0x40], "parts"),
        ] as [([UInt8], String)] {
            #expect(
                refusal(bytes).map { "\($0)".contains(part) } == true, "\(part): \(String(describing: refusal(bytes)))")
        }
        #expect(throws: CATError.malformed("it is longer than 4096 bytes")) {
            try tokens.authenticClaims(of: String(repeating: "A", count: 4097))
        }
    }

    @Test("what no token can be made of is refused by its field")
    func refusals() throws {
        #expect(
            Part.problem { _ = try CommonAccessToken(key: GrantSecret([1, 2]), keyID: "x") }
                == "key: has 2 bytes; expected at least 32")
        let key = try GrantSecret(hexadecimal: Self.digits)
        #expect(Part.problem { _ = try CommonAccessToken(key: key, keyID: "") }?.hasPrefix("key-id: ") == true)
        #expect(Part.problem { _ = try tokens.grant(CATClaims()) } == "expires: is missing; expected an end")
        var long = Self.full
        long.scope.path = String(repeating: "a", count: 4000)
        #expect(Part.problem { _ = try tokens.grant(long) }?.hasPrefix("claims: ") == true)
    }

    @Test("a secret shows itself to nobody")
    func secrets() throws {
        let secret = try GrantSecret(Array("top-secret".utf8))
        var shown = ""
        dump(secret, to: &shown)
        for text in ["\(secret)", String(reflecting: secret), shown, "\(tokens)"] {
            #expect(
                !text.contains("top") && !text.contains("116, 111, 112") && !text.contains("403697")
                    && !text.contains("0x"))
        }
    }
}
