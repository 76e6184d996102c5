import Foundation
import TestSupport
import Testing

/// A token of 2016, in the forms in which people have it.
struct Form: CustomTestStringConvertible {
    let name: String
    let capture: [UInt8]
    /// What the way to the token has in it.
    let layers: [String]
    /// The token that is found.
    var token: String { name == "CSV" ? Self.token.replacing("<authToken>", with: "<authToken a=\"1\">") : Self.token }
    var testDescription: String { name }

    init(_ name: String, _ layers: String..., capture: String) {
        (self.name, self.layers, self.capture) = (name, layers, Array(capture.utf8))
    }

    init(_ name: String, _ layers: String..., bytes: [UInt8]) {
        (self.name, self.layers, capture) = (name, layers, bytes)
    }

    static let token = (try? Fixtures.realToken())?.trimmingCharacters(in: .newlines) ?? ""
    static let base64 = Data(token.utf8).base64EncodedString()
    private static let percent = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    private static let percentTwice = percent.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    private static let html = escaped(["&": "&amp;", "<": "&lt;", ">": "&gt;"])
    private static let json = escaped(["<": "\\u003c", ">": "\\u003E", "/": "\\/"])
    private static let hex = token.utf8.map { String(format: "%02x", $0) }

    private static func escaped(_ escapes: [Character: String]) -> String {
        token.map { escapes[$0] ?? String($0) }.joined()
    }

    static func wrapped(_ text: String, at width: Int, _ separator: String = "\n") -> String {
        stride(from: 0, to: text.utf8.count, by: width).map { start in
            String(decoding: Array(text.utf8)[start..<min(start + width, text.utf8.count)], as: UTF8.self)
        }.joined(separator: separator)
    }

    static func har(_ entries: String...) -> String {
        #"{"log":{"version":"1.2","creator":{"name":"a browser"},"entries":["# + entries.joined(separator: ",") + "]}}"
    }

    static func entry(url: String = "https://a.example/x", request: String = "", content: String) -> String {
        #"{"startedDateTime":"2016-03-17T22:01:32.123Z","request":{"method":"POST","url":"\#(url)","headers":[]\#(request)},"#
            + #""response":{"status":200,"headers":[],"content":{"mimeType":"application/json",\#(content)}}}"#
    }

    private static let decision =
        #"{"decisions":[{"resource":"TNT","serviceProvider":"MML","mvpd":"TempPass","authorized":true,"token":{"notBefore":1,"serializedToken":"\#(base64)"}}]}"#

    /// The token as a form makes it whose plus signs were not escaped.
    private static let signatureWithBlanks =
        token.prefix { $0 != "=" }.replacing("+", with: " ")
        + token.drop { $0 != "=" }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Something that puts a layer around a text.
    struct Wrapper: CustomTestStringConvertible, Sendable {
        let name: String
        let wrap: @Sendable (String) -> String
        var testDescription: String { name }
    }

    static let wrappers = [
        Wrapper(name: "Base64") { Data($0.utf8).base64EncodedString() },
        Wrapper(name: "percent") { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" },
        Wrapper(name: "HTML") { text in
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        },
        Wrapper(name: "JSON") { text in
            "\""
                + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("<", with: "\\u003c")
                .replacing("&", with: "\\u0026") + "\""
        },
    ]

    static let all: [Form] = [
        Form("clear", capture: token),
        Form("quoted", capture: "\"\(token)\""),
        Form("in apostrophes", capture: "'\(token)'"),
        Form("a line of CRLF", capture: token + "\r\n"),
        Form("Base64", "Base64", capture: base64),
        Form(
            "Base64url without padding", "Base64",
            capture: base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")),
        Form("Base64 wrapped at 76", "Base64", capture: wrapped(base64, at: 76)),
        Form("Base64 wrapped at 64 by CRLF", "Base64", capture: wrapped(base64, at: 64, "\r\n")),
        Form("Base64 wrapped and indented", "Base64", capture: "  " + wrapped(base64, at: 70, "\n  ") + "\n"),
        Form("Base64 wrapped in apostrophes", "Base64", capture: "token='\(wrapped(base64, at: 76))'"),
        Form(
            "Base64 wrapped inside <play>", "serializedToken", "Base64",
            capture: "<play>\n <serializedToken>\n\(wrapped(base64, at: 76))\n </serializedToken>\n</play>"),
        Form(
            "Base64 before a line of another kind", "Base64",
            capture: base64 + "\nafterwards=abcdefghijklmnopqrstuvwxyz"),
        Form("Base64 of Base64", "Base64", capture: Data(base64.utf8).base64EncodedString()),
        Form("clear, wrapped at 80", "line wraps", capture: wrapped(token, at: 80)),
        Form("clear, wrapped at 7, which cuts the marker", "line wraps", capture: wrapped(token, at: 7)),
        Form("quoted in a mail", "line prefixes", capture: "> " + wrapped(token, at: 72, "\n> ")),
        Form(
            "quoted-printable", "quoted-printable",
            capture: wrapped(token.replacing("=", with: "=3D"), at: 70, "=\n")),
        Form("percent", "percent-encoding", capture: percent),
        Form("percent, twice", "percent-encoding", capture: percentTwice),
        Form(
            "percent, each character", "percent-encoding",
            capture: token.utf8.map { String(format: "%%%02X", $0) }.joined()),
        Form(
            "Base64 in percent", "Base64",
            capture: base64.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""),
        Form(
            "a form's plus signs", "percent-encoding", capture: "token=" + percent.replacing("%20", with: "+") + "&a=b"),
        Form("HTML escapes", "HTML escapes", capture: html),
        Form("HTML escapes, twice", "HTML escapes", capture: html.replacing("&", with: "&amp;")),
        Form("numeric HTML escapes", "HTML escapes", capture: escaped(["<": "&#0060;", ">": "&#x3E;"])),
        Form(
            "adobe-services XML", "authnToken", "HTML escapes",
            capture: "<session><authnToken>\(html)</authnToken></session>"),
        Form("a JSON string", capture: quoted(token)),
        Form("JSON escapes", "backslash escapes", capture: "\"\(json)\""),
        Form(
            "JSON escapes in a string of a log", "backslash escapes",
            capture: #"2026-01-01 INFO body="{\"token\":\""# + json.replacing("\\", with: "\\\\") + #"\"}""#),
        Form("hex escapes of Python", "backslash escapes", capture: "b'" + escaped(["<": "\\x3c"]) + "'"),
        Form("octal escapes", "backslash escapes", capture: escaped(["<": "\\074"])),
        Form("BOM", bytes: [0xEF, 0xBB, 0xBF] + Array(token.utf8)),
        Form("UTF-16, little-endian, BOM", "UTF-16", bytes: [0xFF, 0xFE] + token.utf8.flatMap { [$0, 0] }),
        Form("UTF-16, big-endian", "UTF-16", bytes: token.utf8.flatMap { [0, $0] }),
        Form("hex", "hex", capture: hex.joined()),
        Form("xxd -p", "line wraps", "hex", capture: wrapped(hex.joined(), at: 60)),
        Form("a URL", "token", "percent-encoding", capture: "https://play.example/x?a=b&token=\(percent)&z=1"),
        Form("a segment of a path", "Base64", capture: "GET https://h.example/play/\(base64)/master.m3u8"),
        Form(
            "a segment of a path, without padding", "Base64",
            capture: "https://h.example/a_b-c/\(base64.replacing("=", with: ""))"),
        Form("a query", "media_token", "percent-encoding", capture: "?media_token=\(percent)"),
        Form(
            "a header", "request.headers[0].value", "Base64",
            capture: "GET / HTTP/1.1\r\nX-Media-Token: \(base64)\r\n\r\n"),
        Form("a bearer", "Authorization", "Base64", capture: "Authorization: Bearer \(base64)"),
        Form("a cookie", "mt", "Base64", capture: "Cookie: a=b; mt=\(base64); c=d"),
        Form(
            "curl", "X-Media-Token", "Base64",
            capture: "curl 'https://play.example/x' \\\n  -H 'X-Media-Token: \(base64)' \\\n  --compressed"),
        Form(
            "an access log", "percent-encoding",
            capture:
                #"127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /m.m3u8?media_token=\#(percent) HTTP/1.1" 200 12"#),
        Form("a line of a JSON log", "token", capture: #"{"level":"info","token":\#(quoted(token))}"#),
        Form("JSON that is cut", "a.b[1].token", "Base64", capture: #"{"a":{"b":[0,{"token":"\#(base64)"#),
        Form("v1 JSON", "serializedToken", "Base64", capture: #"{"mvpdId":"x","serializedToken":"\#(base64)"}"#),
        Form("v2 JSON", "decisions[0].token.serializedToken", "Base64", capture: decision),
        Form(
            "HTTP answer with headers", "decisions[0].token.serializedToken", "Base64",
            capture: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\(decision)"),
        Form(
            "HAR", "HAR", "entry 1", "response.content.text", "decisions[0].token.serializedToken", "Base64",
            capture: har(entry(content: #""text":"# + quoted(decision)))),
        Form(
            "HAR with a body in Base64", "HAR", "entry 2", "Base64", "decisions[0].token.serializedToken",
            capture: har(
                entry(content: #""text":"{}""#),
                entry(content: #""encoding":"base64","text":"\#(Data(decision.utf8).base64EncodedString())""#))),
        Form("JavaScript", "token", "Base64", capture: "{ token: '\(base64)' }"),
        Form(
            "CSV", "doubled quotes", capture: "1,\"\(token.replacing("<authToken>", with: "<authToken a=\"\"1\"\">"))\""
        ),
        Form("behind a bracket", "Base64", capture: "[\(base64)]"),
        Form(
            "a text of Word over several runs", "tags", "HTML escapes",
            capture: "<w:p><w:r><w:t>"
                + token.replacing("<", with: "&lt;").replacing("Pass", with: "Pa</w:t></w:r><w:r w:x=\"1\"><w:t>ss")
                + "</w:t></w:r></w:p>"),
        Form(
            "digits between which a page may break", "tags", "Base64",
            capture: "<p>\(base64.prefix(90))<wbr>\(base64.dropFirst(90))</p>"),
        Form(
            "HAProxy's log of a header", "number sign escapes",
            capture: "{\(token.replacing("<", with: "#3C"))} \"GET /"),
        Form(
            "Base64 in columns of psql", "lines that psql continues", "Base64",
            capture: " encode \n----\n " + wrapped(base64, at: 76, "+\n ") + "\n(1 row)\n"),
        Form(
            "a blank within the signature", "blanks between digits",
            capture: token.prefix(75) + " " + token.dropFirst(75)),
        Form(
            "a folded value of YAML", "token",
            capture: "token: >\n  " + wrapped(token, at: 70, "\n  ") + "\n"),
        Form("dashes of a word processor", "formatting", capture: token.replacing("-", with: "\u{2013}")),
        Form(
            "a link behind a gateway for mail", "link protection", "percent-encoding",
            capture: "https://urldefense.proofpoint.com/v2/url?u=https-3A__a.example_x-3Ft-3D"
                + percentTwice.replacing("%", with: "-") + "&d=DwMFaQ"),
        Form(
            "a link behind that gateway's third version", "link protection", "percent-encoding",
            capture: "https://urldefense.com/v3/__https://a.example/x?t=" + percentTwice.replacing("%", with: "*")
                + "__;"
                + Data(percentTwice.filter { $0 == "%" }.utf8).base64EncodedString() + "!!Kq!x$"),
        Form(
            "a claim of a JSON Web Token", "JWT", "amt",
            capture: "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9."
                + Data("{\"amt\":\(quoted(token))}".utf8).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "") + ".AAAA"),
        Form("blanks for the plus signs of a signature", "blanks for plus signs", capture: "t=" + signatureWithBlanks),
    ]
}
