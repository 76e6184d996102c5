internal import Basics
internal import MediaToken

/// An input that is no token, and is recognised to be another thing that people have at hand.
///
/// Its texts hold no byte of the input, which may be a secret.
struct UnrecognizedInput {
    /// What the input is.
    let detail: String
    /// What to give in its place.
    let advice: String

    private init(_ detail: String, _ advice: String) { (self.detail, self.advice) = (detail, advice) }

    /// Recognises an input; `nil` for what may hold a token, and for what is not known.
    ///
    /// - Parameter asArgument: whether it is an argument of the command, which is the name of no file.
    init?(_ bytes: ArraySlice<UInt8>, asArgument: Bool) {
        let bytes = bytes.drop(while: \.isASCIIWhiteSpace)
        let text = bytes[..<(bytes.lastIndex { !$0.isASCIIWhiteSpace }.map { $0 + 1 } ?? bytes.startIndex)]
        let head = String(decoding: text.prefix(1024), as: UTF8.self)
        let mayBeToken = ["signatureInfo", "serializedToken", TokenBeginning.base64].contains(where: head.contains)
        let isWord = text.count < 1024 && !text.contains { $0 <= 0x20 || $0 > 0x7E || "<>'%&?={}".utf8.contains($0) }
        if let known = Self.dump(head) ?? Self.unknownForm(text) {
            self = known
            return
        }
        let isLowered = !mayBeToken && head.lowercased().contains(TokenBeginning.base64.lowercased())
        let known =
            (isLowered ? Self.lowered : nil) ?? Self.beginning(text, head) ?? Self.json(text) ?? Self.document(
                head[...])
            ?? (isWord ? Self.word(head, asArgument: asArgument) : nil) ?? Self.stripped(text) ?? Self.lines(text)
        guard !mayBeToken, let known else { return nil }
        self = known
    }

    private static func beginning(_ text: ArraySlice<UInt8>, _ head: String) -> Self? {
        if text.isEmpty {
            return Self("the input is empty; expected a media token", "give the token, or @ and the name of its file")
        }
        let isASCII = text.prefix(2).contains(0) && text.prefix(2).contains { (0x20...0x7E).contains($0) }
        if isASCII || text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            return Self("it is a text in UTF-16", "give it in UTF-8: iconv -f UTF-16 -t UTF-8 FILE")
        }
        if ["http://", "https://"].contains(where: head.lowercased().hasPrefix) {
            return Self("it is a URL and no token", "give what the app got from there: nothing is fetched")
        }
        guard head.hasPrefix("-----BEGIN ") else { return nil }
        if head.prefix(40).contains("PRIVATE KEY") {
            return Self("it is a private key", "keep it secret, and give a media token")
        }
        let what = head.prefix(40).contains("PUBLIC KEY") ? "a public key" : "a certificate"
        return Self("it is \(what)", "give it with --key, and a media token here")
    }

    private static func json(_ text: ArraySlice<UInt8>) -> Self? {
        guard let members = (try? StrictJSON.readObject(text))?.members else { return nil }
        func has(_ name: String) -> Bool { members[JSONName(name)] != nil }
        if has("serializedToken") || has("decisions") { return nil }
        if has("code"), has("action") { return error }
        return Self(
            "it is JSON with neither 'serializedToken' (REST v1) nor 'decisions' (REST v2)", Rejection.mediaTokenAdvice)
    }

    /// A dump of bytes, such as `xxd`, `hexdump` and `od` print, or a list of them.
    private static func dump(_ head: String) -> Self? {
        let words = head.prefix { $0 != "\n" }.split { " ,:[]<>\t".contains($0) }.map {
            $0.hasPrefix("0x") ? $0.dropFirst(2) : $0
        }
        func areNumbers(_ words: ArraySlice<Substring>, _ counts: [Int]) -> Bool {
            words.count >= 8
                && words.prefix(8).allSatisfy { counts.contains($0.utf8.count) && $0.allSatisfy(\.isHexDigit) }
        }
        if let offset = words.first, (4...16).contains(offset.utf8.count), offset.allSatisfy(\.isHexDigit),
            areNumbers(words.dropFirst(), [2, 4])
        {
            return Self(
                "it is a dump of bytes",
                "turn it into text first: xxd -r FILE; for hexdump -C: cut -c 11-58 FILE | xxd -r -p")
        }
        guard areNumbers(words[...], [2]) || areNumbers(words[...], [1, 2, 3]) else { return nil }
        return Self("it is a list of bytes", "turn it into text first; in hexadecimal: xxd -r -p FILE")
    }

    /// A decision whose token has a form that no document describes.
    private static func unknownForm(_ text: ArraySlice<UInt8>) -> Self? {
        guard case .list(let items)? = (try? StrictJSON.readObject(text))?.members["decisions"],
            case .object(let first)? = items.first,
            first["authorized"] == .boolean(true), case .object(let token)? = first["token"],
            case .text(let form)? = token["serializedToken"], form.utf8.count > 40
        else { return nil }
        let resource = if case .text(let name)? = first["resource"] { " '\(printable(name, limit: 100))'" } else { "" }
        return Self(
            "it is a decision of Adobe Pass that authorizes\(resource); its token is in a form that is not known",
            "ask Adobe for a media token in the form of the media token verifier")
    }

    /// A token from which a page or a ticket system has dropped all tags: it begins with a signature, and the digits of
    /// a session follow.
    private static func stripped(_ text: ArraySlice<UInt8>) -> Self? {
        let signature = text.prefix { $0.isLetterOrDigit || "+/".utf8.contains($0) }
        let rest = text[signature.endIndex...].drop { $0 == UInt8(ascii: "=") }
        let session = rest.prefix(32).prefix { Hexadecimal.value(of: $0) != nil }
        guard signature.count >= 170, rest.startIndex > signature.endIndex, session.count == 32 else { return nil }
        return Self(
            "it is a token without its tags, which a page or a ticket system dropped",
            "attach it as a file, or paste it as a code block")
    }

    /// Text of several words, which is not meant to be a token.
    private static func lines(_ text: ArraySlice<UInt8>) -> Self? {
        guard text.contains(where: \.isASCIIWhiteSpace), text.first != UInt8(ascii: "<"),
            text.allSatisfy({ $0 >= 0x20 || $0.isASCIIWhiteSpace })
        else { return nil }
        let count = text.count { $0 == 0x0A } + 1
        return Self(
            "it is \(count == 1 ? "a line" : "\(count) lines") of text without a token",
            "give what holds one: a log, a request, an answer, a HAR file")
    }

    private static let lowered = Self(
        "it is a token in Base64 whose letters were all changed to lower case, so that it cannot be decoded",
        "get the token as it was sent: something between changed the case of its letters")
    private static let error = Self("it is an error and no token", "media-token inspect says what to do about it")

    private static func document(_ head: Substring) -> Self? {
        guard head.hasPrefix("<") else { return nil }
        if head.hasPrefix("<?") || head.hasPrefix("<!--"), let end = head.firstIndex(of: ">") {
            return document(head[end...].dropFirst().drop(while: \.isWhitespace))
        }
        switch head.dropFirst().prefix(while: { $0.isLetter || $0 == "!" }).lowercased() {
        case "", "play": return nil
        case "error": return error
        case "html", "!doctype": return Self("it is an HTML page", "read it: it came in place of Adobe's answer")
        case "rss": return Self("it is an MRSS resource", "give it with --resource-file, and a media token here")
        case let name where TokenKind.allCases.flatMap(\.roots).contains { $0.lowercased() == name }:
            return Self("it is a token without its signature", "give the whole of it, from <signatureInfo> on")
        default: return Self("it is an XML document and no token", Rejection.mediaTokenAdvice)
        }
    }

    private static func word(_ word: String, asArgument: Bool) -> Self? {
        if word.hasPrefix("eyJ"), word.utf8.allSatisfy({ $0.isLetterOrDigit || "-_.".utf8.contains($0) }) {
            return Self("it is a JSON Web Token (JWT), as access tokens are", Rejection.mediaTokenAdvice)
        }
        let isUUID = word.split(separator: "-").map(\.utf8.count) == [8, 4, 4, 4, 12]
        if isUUID, word.allSatisfy({ $0 == "-" || $0.isHexDigit }) {
            return Self("it is a UUID, as sessions and devices have", Rejection.mediaTokenAdvice)
        }
        let ending = word.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        let isNamed = (2...5).contains(ending.utf8.count) && ending.utf8.allSatisfy(\.isLetterOrDigit)
        guard isNamed || ["/", "./", "../", "~/"].contains(where: word.hasPrefix) else { return nil }
        let missing = asArgument ? ", and there is no file of that name" : ""
        return Self("it looks like the name of a file\(missing)", "give @ and the name of a file, or the token itself")
    }
}

extension Examination {
    /// The examination of an input that is no token, in words that say what it is, if that is recognised.
    func naming(_ input: ArraySlice<UInt8>, asArgument: Bool) -> Examination {
        guard id == nil, firstFailure?.code == .invalidTokenFormat,
            let known = UnrecognizedInput(input, asArgument: asArgument)
        else { return self }
        return saying(known.detail, advice: known.advice)
    }
}
