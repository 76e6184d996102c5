internal import MediaToken
internal import PlaybackGrants
internal import TokenCrypto

/// No grant is taken for ours that is not, whatever is sent; and what is signed is either refused, or read as we write it.
struct GrantProperty: FuzzProperty {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let end: Int64 = 1_800_000_600
    private let secret: [UInt8]
    private let tokens: CommonAccessToken
    private let akamai: AkamaiToken
    private let link: SecureLink
    private let claims: CATClaims
    private let akamaiGrants: [String]
    private let digest: String
    private var question = GrantQuestion(at: now)

    init() throws {
        secret = Array(repeating: 0x0F, count: 32)
        let key = try GrantSecret(secret)
        let period = try GrantPeriod(to: Self.end)
        let edge = try AkamaiToken(key: key)
        (tokens, akamai) = (try CommonAccessToken(key: key, keyID: "fuzz"), edge)
        link = try SecureLink(secret: key)
        claims = Self.claims
        akamaiGrants = try [.acl(["/live/*", "/vod/?"]), .url("/live/1")].map { try edge.grant($0, period).query }
        digest = try link.grant(uri: "/live/1", period).fields[0].value
        (question.url, question.method, question.issuer) = ("/live/1", "GET", "gate")
    }

    private static var claims: CATClaims {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.issuedAt) = ("gate", end, now.milliseconds / 1000)
        claims.methods = ["GET", "HEAD"]
        claims.scope.pathPrefix = "/live/"
        claims.renewal = CATRenewal(kind: .cookie, seconds: 300, deadline: 60)
        return claims
    }

    /// - Parameter input: a letter for the kind, and the grant: `c` a Common Access Token, `s` claims that are then signed,
    ///   `a` for Akamai, `n` for nginx.
    func check(_ input: [UInt8]) throws {
        guard let kind = input.first, let text = String(validating: input.dropFirst(), as: UTF8.self) ?? signed(input)
        else { return }
        switch kind {
        case UInt8(ascii: "c"):
            try check(tokens.check(text, question)) {
                let name = "CTA-Common-Access-Token="
                let bare = text.utf8.starts(with: name.utf8) ? String(text.dropFirst(name.count)) : text
                return (try? tokens.authenticClaims(of: bare)) == claims
            }
        case UInt8(ascii: "s"): try checkSigned(Array(input.dropFirst()))
        case UInt8(ascii: "a"):
            try check(akamai.check(text, question)) {
                akamaiGrants.contains { $0.utf8.elementsEqual(text.utf8) || $0 == "hdnts=" + text }
            }
        case UInt8(ascii: "n"):
            try check(link.check(text, question)) {
                text.contains("md5=\(digest)") && text.contains("expires=\(Self.end)")
            }
        default: break
        }
    }

    /// Claims are bytes; what is no text may be some.
    private func signed(_ input: [UInt8]) -> String? { input.first == UInt8(ascii: "s") ? "" : nil }

    private func check(_ checks: [GrantCheck], isOurs: () -> Bool) throws {
        try demand(!checks.isEmpty, "nothing was looked at")
        for check in checks { try demandOneLine(check.detail) }
        let hasKey = checks.contains { $0.subject == .key && $0.isPassed == true }
        try demand(!hasKey || isOurs(), "its key is taken for ours")
        try demand(hasKey || !checks.opens, "it opens without a key")
    }

    private func checkSigned(_ payload: [UInt8]) throws {
        guard payload.count <= 2048 else { return }
        let protected: [UInt8] = [0xA1, 1, 5]
        // The MAC_structure and the message, put together by hand (RFC 9052, 6.2 and 6.3).
        let structure = [0x84, 0x64] + Array("MAC0".utf8) + [0x43] + protected + [0x40] + Self.head(payload) + payload
        let code = try HMACKey(.sha256, key: secret).code(of: structure)
        let header = [0xA1, 4, 0x44] + Array("fuzz".utf8)
        let head = [0xD8, 61, 0xD1, 0x84, 0x43] + protected + header
        let message = head + Self.head(payload) + payload + [0x58, 32] + code
        let text = Self.base64(message)
        let read: CATClaims
        do throws(CATRefusal) {
            read = try tokens.authenticClaims(of: text)
        } catch {
            try demand(error != .otherKey, "what is signed is taken for another's")
            return try demandOneLine("\(error)")
        }
        let request = CATRequest(method: "GET", path: "/live/1")
        if let refusal = read.refusal(of: request, issuer: "gate", at: Self.now) { try demandOneLine("\(refusal)") }
        guard let again = try? tokens.grant(read) else { return }
        let reread = try tokens.authenticClaims(of: again.fields[0].value)
        try demand(reread == read, "\(read) is written, and read as \(reread)")
    }

    /// The head of a byte string, as short as it can be (RFC 8949, 4.2.1).
    private static func head(_ bytes: [UInt8]) -> [UInt8] {
        switch bytes.count {
        case ..<24: [0x40 | UInt8(bytes.count)]
        case ..<256: [0x58, UInt8(bytes.count)]
        default: [0x59, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        while bits.count % 6 != 0 { bits.append(0) }
        let letters = stride(from: 0, to: bits.count, by: 6).map { begin in
            alphabet[bits[begin..<begin + 6].reduce(0) { $0 << 1 | Int($1) }]
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
