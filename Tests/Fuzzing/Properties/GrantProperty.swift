internal import Basics
internal import Foundation
internal import PlaybackGrants
internal import TokenCrypto

/// No grant is taken for ours that is not, whatever is sent; and what is signed is either refused, or read as we write
/// it.
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
    private let cloudFront: CloudFrontGrant
    private let cloudFrontKey: RSASigningKey
    private let canned: Grant
    private let questions: [GrantQuestion]

    init() throws {
        secret = Array(repeating: 0x0F, count: 32)
        let key = try GrantSecret(secret)
        let period = try GrantPeriod(to: Self.end)
        let edge = try AkamaiToken(key: key)
        let former = try GrantSecret(Array(repeating: 0x1F, count: 32))
        tokens = try CommonAccessToken(keys: [(key: key, keyID: "fuzz"), (key: former, keyID: "former")])
        akamai = edge
        link = try SecureLink(secret: key)
        claims = Self.claims
        akamaiGrants = try [.acl(["/live/*", "/vod/?"]), .url("/live/1")].map { try edge.grant($0, period).query }
        digest = try link.grant(uri: "/live/1", period).fields[0].value
        cloudFrontKey = try RSASigningKey.generate(bits: 1024)
        cloudFront = try CloudFrontGrant(key: Array(cloudFrontKey.pemText().utf8), keyPairID: "FUZZ")
        canned = try cloudFront.grant(url: Self.url, period)
        questions = Self.questions
    }

    private static let url = "https://cdn.example/live/1"

    /// The usual one, nothing but the time, one for a URL, and one for a path that two programs read in two ways.
    private static var questions: [GrantQuestion] {
        var questions = [GrantQuestion](repeating: GrantQuestion(at: now), count: 4)
        (questions[0].url, questions[0].method, questions[0].issuer) = ("/live/1", "GET", "gate")
        (questions[2].url, questions[2].ip, questions[2].issuer) = (url, "192.0.2.1", "other")
        (questions[3].url, questions[3].method) = ("/live/%2e%2e/1", "POST")
        return questions
    }

    private static var claims: CATClaims {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.issuedAt) = ("gate", end, now.milliseconds / 1000)
        claims.methods = ["GET", "HEAD"]
        claims.scope.pathPrefix = "/live/"
        claims.renewal = CATRenewal(kind: .cookie, seconds: 300, deadline: 60)
        return claims
    }

    /// - Parameter input: a letter for the kind, and the grant: `c` a Common Access Token, `a` for Akamai, `f` for
    ///   CloudFront with `@` for the signature of a grant of ours, `n` for nginx; or what is then signed: `s` claims,
    ///   `A` fields, `F` a policy.
    func check(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        if kind == UInt8(ascii: "s") { return try checkSigned(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        if let grant = UnverifiedGrant(recognizing: text) {
            for question in questions { try check(grant.checks(question)) { false } }
        }
        for question in questions {
            switch kind {
            case UInt8(ascii: "c"):
                try check(try tokens.check(text, question)) {
                    let name = "CTA-Common-Access-Token="
                    let bare = text.utf8.starts(with: name.utf8) ? String(text.dropFirst(name.count)) : text
                    return (try? tokens.authenticClaims(of: bare)) == claims
                }
            case UInt8(ascii: "a"):
                let checks = try akamai.check(text, question)
                try check(checks) { Self.spellings(of: text).contains(where: isAkamaiGrant) }
                try demand(!checks.opens || isAkamaiGrant(text), "a token that was escaped again opens")
            case UInt8(ascii: "A"): try checkSigned(fields: text, question)
            case UInt8(ascii: "f"):
                let query = text.replacing("@", with: canned.fields[1].value)
                // CloudFront is asked for whole URLs.
                if let checks = try? cloudFront.check(query, question) { try check(checks) { isCanned(query) } }
            case UInt8(ascii: "F"): try checkSigned(policy: text, question)
            case UInt8(ascii: "n"):
                try check(link.check(text, question)) {
                    text.contains("md5=\(digest)") && text.contains("expires=\(Self.end)")
                }
            default: break
            }
        }
    }

    private func isAkamaiGrant(_ text: String) -> Bool {
        akamaiGrants.contains { $0.utf8.elementsEqual(text.utf8) || $0.utf8.elementsEqual("hdnts=\(text)".utf8) }
    }

    /// The text, and what it is after its escapes are decoded, with and without a name in front.
    private static func spellings(of text: String) -> [String] {
        let decoded = text.removingPercentEncoding ?? text
        return [
            text, decoded,
            decoded.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(decoded[$0...].dropFirst()) } ?? "",
        ]
    }

    /// Whether all that the signature is about is there as it was signed.
    private func isCanned(_ query: String) -> Bool {
        // Bytes are compared: to `String`, a separator and the accent behind it are one character.
        let parts = query.utf8.split { "&; ".utf8.contains($0) }.map {
            // A client may have escaped a value again.
            let part = String(Substring($0)).replacing("CloudFront-", with: "")
            return part.removingPercentEncoding ?? part
        }
        return canned.fields.allSatisfy { parts.contains("\($0.parameter)=\($0.value)") }
    }

    private func check(_ checks: [GrantCheck], isOurs: () -> Bool) throws {
        try demand(!checks.isEmpty, "nothing was looked at")
        for check in checks { try demandOneLine(check.detail) }
        let hasKey = checks.contains { $0.subject == .key && $0.isPassed == true }
        try demand(!hasKey || isOurs(), "its key is taken for ours")
        try demand(hasKey || !checks.opens, "it opens without a key")
    }

    private func checkSigned(fields: String, _ question: GrantQuestion) throws {
        let message = fields + (fields.contains("acl=") ? "" : question.url.map { "~url=" + $0 } ?? "")
        let code = try HMACKey(.sha256, key: secret).code(of: Array(message.utf8)).hexadecimal
        // One without an ACL cannot be of an odd URL.
        guard let checks = try? akamai.check("\(fields)~hmac=\(code)", question) else { return }
        try check(checks) { true }
        guard checks.opens else { return }
        func number(_ name: String) -> Int64? {
            let field = fields.utf8.split(separator: UInt8(ascii: "~")).first { $0.starts(with: name.utf8) }
            return field.flatMap { Int64(Substring($0.dropFirst(name.utf8.count))) }
        }
        let now = Self.now.milliseconds / 1000
        try demand(number("exp=").map { now <= $0 } ?? false, "opens after its end")
        try demand(number("st=").map { $0 <= now } ?? true, "opens before its start")
    }

    private func checkSigned(policy: String, _ question: GrantQuestion) throws {
        let signature = try cloudFrontKey.sign(Array(policy.utf8))
        let (letters, code) = (Self.cloudFrontBase64(Array(policy.utf8)), Self.cloudFrontBase64(signature))
        let query = "Policy=\(letters)&Signature=\(code)&Key-Pair-Id=FUZZ&Hash-Algorithm=SHA256"
        let checks = try cloudFront.check(query, question)
        try check(checks) { true }
        guard checks.opens else { return }
        // Read once more by Foundation.
        let document = try JSONSerialization.jsonObject(with: Data(policy.utf8)) as? [String: [[String: Any]]]
        let conditions = document?["Statement"]?.first?["Condition"] as? [String: [String: Any]]
        let (now, time) = (Double(Self.now.milliseconds / 1000), "AWS:EpochTime")
        let (begin, end) = (conditions?["DateGreaterThan"]?[time], conditions?["DateLessThan"]?[time])
        try demand(((end as? Double) ?? 0) > now, "opens after its end")
        try demand(begin == nil || ((begin as? Double) ?? .infinity) <= now, "opens before its start")
    }

    private static func cloudFrontBase64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("=", with: "_").replacing("/", with: "~")
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
        for question in questions { try check(try tokens.check(text, question)) { true } }
        let read: CATClaims
        do throws(CATError) {
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
