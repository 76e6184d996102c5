import PlaybackGrants
import TestSupport
import Testing

@Suite("Common Access Tokens of several keys")
struct CATKeysTests {
    private static func secret(_ byte: UInt8) throws -> GrantSecret {
        try GrantSecret(Array(repeating: byte, count: 32))
    }

    /// A checker for keys whose IDs are these letters, and whose bytes are the letters' numbers.
    private static func tokens(_ names: String...) throws -> CommonAccessToken {
        try CommonAccessToken(keys: names.map { (key: try secret($0.utf8.first ?? 0), keyID: $0) })
    }

    private static func token(_ tokens: CommonAccessToken) throws -> String {
        var claims = CATClaims()
        claims.expires = 1_800_000_600
        return try tokens.grant(claims).fields[0].value
    }

    @Test("the first key makes, each checks what names it, and a key that is gone checks nothing")
    func rotation() throws {
        let (old, both, late) = (try Self.tokens("a"), try Self.tokens("b", "a"), try Self.tokens("c", "b"))
        let (first, second) = (try Self.token(old), try Self.token(both))
        #expect(try both.authenticClaims(of: first) == old.authenticClaims(of: first))
        #expect(try late.authenticClaims(of: second) == both.authenticClaims(of: second))
        #expect(try second == Self.token(Self.tokens("b")))
        #expect(throws: CATError.unknownKey("a")) { try late.authenticClaims(of: first) }
        #expect(throws: CATError.unknownKey("b")) { try old.authenticClaims(of: second) }
        let checks = try late.check(first, GrantQuestion(at: Timestamp(milliseconds: 1_800_000_000_000)))
        #expect(checks.map(\.subject) == [.key] && !checks.opens)
        #expect(checks.first?.detail == "names the key 'a'; no configured key has this ID")
    }

    @Test("a token is checked with the key that it names, whatever other key has made it")
    func otherKey() throws {
        let both = try Self.tokens("b", "a")
        // The MAC is of b's key, and the name is a's.
        let mixed = try CommonAccessToken(key: Self.secret(UInt8(ascii: "b")), keyID: "a")
        #expect(throws: CATError.otherKey) { try both.authenticClaims(of: Self.token(mixed)) }
    }

    @Test("a token that names no key is refused, however many keys there are")
    func unnamed() throws {
        for tokens in [try Self.tokens("a"), try Self.tokens("b", "a")] {
            for header: [UInt8] in [[0xA0], [0xA1, 4, 0x61, 0x61], [0xA1, 4, 0x40]] {
                let bytes = [0xD8, 61, 0xD1, 0x84, 0x43, 0xA1, 1, 5] + header + [0x40, 0x58, 32]
                let message = (bytes + [UInt8](repeating: 0, count: 32)).letters
                #expect {
                    try tokens.authenticClaims(of: message)
                } throws: { error in
                    "\(error)".contains(
                        header == [0xA1, 4, 0x40] ? "names the key ''; no configured" : "expected the ID of a key")
                }
            }
        }
    }

    @Test("each key needs an ID of its own, and each ID a key of its own")
    func distinct() throws {
        let (one, two) = (try Self.secret(1), try Self.secret(2))
        func problem(_ keys: [(key: GrantSecret, keyID: String)]) -> String? {
            Part.problem { _ = try CommonAccessToken(keys: keys) }
        }
        #expect(problem([(one, "a"), (two, "b")]) == nil)
        #expect(problem([]) == "key: is missing; expected at least one")
        #expect(problem([(one, "a"), (two, "b"), (two, "c")])?.hasPrefix("key: hold one key under two IDs") == true)
        #expect(problem([(one, "a"), (two, "a")])?.hasPrefix("key-id: has 'a' twice") == true)
        #expect(problem([(one, "\u{e9}"), (two, "e\u{301}")]) == nil, "the same characters, and other bytes")
        #expect(problem([(one, "a"), (two, "")])?.hasPrefix("key-id: has 0 bytes") == true)
        #expect(problem([(one, "a"), (try GrantSecret([1]), "b")])?.hasPrefix("key: has 1 bytes") == true)
    }
}
