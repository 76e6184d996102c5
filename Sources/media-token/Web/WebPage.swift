internal import Basics
internal import CommandShell
internal import HTTP
internal import TokenCrypto

/// The page that is embedded in the program, and the header fields that keep it from doing anything but asking its
/// server.
struct WebPage: Sendable {
    let bytes: [UInt8]
    private let policy: String

    /// - Parameter shortestKey: the bits of the shortest RSA key that is taken if the page names no other.
    init(shortestKey: Int) throws(CommandError) {
        bytes = Array(
            String(decoding: PackageResources.page_html, as: UTF8.self)
                .replacing("{style}", with: PageStyle.text, maxReplacements: 1)
                .replacing("{version}", with: ProgramVersion.text, maxReplacements: 1)
                .replacing("{bits}", with: "\(shortestKey)", maxReplacements: 1).utf8)
        policy =
            "default-src 'none'; script-src \(try Self.source("script", in: bytes)); "
            + "style-src \(try Self.source("style", in: bytes)); connect-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    }

    /// An answer that browsers neither keep, nor show in another page, nor take for another type.
    func answer(_ status: Int, type: String, _ body: [UInt8]) -> HTTPAnswer {
        var answer = HTTPAnswer(status, type: type, body: body)
        answer.add("Content-Security-Policy", policy)
        answer.add("Referrer-Policy", "no-referrer")
        answer.add("X-Content-Type-Options", "nosniff")
        answer.add("Cache-Control", "no-store")
        answer.add("Cross-Origin-Opener-Policy", "same-origin")
        answer.add("Cross-Origin-Embedder-Policy", "require-corp")
        answer.add("Cross-Origin-Resource-Policy", "same-origin")
        return answer
    }

    /// The hash source of the page's only element of a name (Content Security Policy Level 3, 2.3.1).
    private static func source(_ element: String, in page: [UInt8]) throws(CommandError) -> String {
        let text = String(decoding: page, as: UTF8.self)
        guard let begin = text.firstRange(of: "<\(element)>"), let end = text.firstRange(of: "</\(element)>"),
            let digest = try? SHA256Hasher.digest(Array(text[begin.upperBound..<end.lowerBound].utf8))
        else { throw CommandError("the page has no <\(element)>") }
        return "'sha256-\(Base64.encode(digest.bytes))'"
    }
}
