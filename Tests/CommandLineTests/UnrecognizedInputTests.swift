import Foundation
import TestSupport
import Testing

@Suite("an input that is no token")
struct UnrecognizedInputTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], _ input: Data = Data()) throws -> Program.Outcome {
        let options = arguments[0] == "inspect" ? [] : ["--key", keys.open, "--requestor", "MML", "--any-resource"]
        return try Program.mediaToken.run([arguments[0]] + options + arguments.dropFirst(), input: input)
    }

    private static let media = "take the media token from decisions/authorize (REST v2)"
    private static let uuid = "613E99bf-2db4-476f-8080-21f8462819aa"

    private static let digits = String(repeating: "4lcDFqe6DMC7Y+xtH", count: 20)

    @Test(
        "is called what it is, with what to give in its place, and without a byte of it",
        arguments: [
            ("https://tv.example/live/1.m3u8?x=1", "a URL and no token", "nothing is fetched"),
            ("HTTP://tv.example", "a URL and no token", "nothing is fetched"),
            ("<!DOCTYPE html> <html><body>", "an HTML page", "in place of Adobe's answer"),
            ("<?xml version='1.0'?><!-- a --> <HTML>", "an HTML page", "in place of Adobe's answer"),
            (#"{"profiles":{}}"#, "JSON with neither 'serializedToken' (REST v1) nor 'decisions'", media),
            ("-----BEGIN RSA PRIVATE KEY-----", "a private key", "keep it secret"),
            ("-----BEGIN CERTIFICATE-----", "it is a certificate", "give it with --key"),
            ("-----BEGIN PUBLIC KEY-----", "it is a public key", "give it with --key"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJl.AA.BB.CC", "a JSON Web Token (JWT)", media), (uuid, "a UUID", media),
            ("<rss version='2.0'><channel/></rss>", "an MRSS resource", "give it with --resource-file"),
            ("<?xml version='1.0'?><result/>", "an XML document and no token", media),
            ("<authToken><ttl>1</ttl></authToken>", "a token without its signature", "give the whole of it"),
            ("00000000: 3c73 6967 6e61 7475 7265 496e 666f 3e57  <signatureInfo>W", "a dump of bytes", "xxd -r FILE"),
            ("00000000  3c 73 69 67 6e 61 74 75  72 65 49 6e  |<signatureIn|", "a dump of bytes", "cut -c 11-58"),
            ("3c 73 69 67 6e 61 74 75 72 65 49 6e 66 6f 3e", "a list of bytes", "xxd -r -p"),
            ("[60, 115, 105, 103, 110, 97, 116, 117, 114]", "a list of bytes", "turn it into text"),
            ("phnpz25hdhvyzuluzm8+vzj", "whose letters were all changed to lower case", "get the token as it was sent"),
            ("tokens.txt", "the name of a file\n", "give @ and the name of a file"),
            ("~/tokens", "the name of a file\n", "give @ and the name of a file"),
            ("GET /play?a=1", "it is a line of text without a token", "give what holds one"),
            ("play of truTV failed", "it is a line of text without a token", "give what holds one"),
            (
                #"{"decisions":[{"authorized":true,"resource":"TNT","token":{"serializedToken":"TYGj\#(digits)"}}]}"#,
                "a decision of Adobe Pass that authorizes 'TNT'; its token is in a form that is not known", "ask Adobe"
            ),
            (
                "\(digits)==613e99bf2db476308f802091f8462819MMLTNT420000", "a token without its tags",
                "attach it as a file"
            ),
        ])
    func named(input: String, detail: String, advice: String) throws {
        for arguments in [["inspect"], ["verify"], ["verify", "--find"]] {
            let outcome = try run(arguments, Data(" \(input)\n".utf8))
            #expect(outcome.status == 1 && outcome.output.contains("INVALID_TOKEN_FORMAT\n"))
            #expect(outcome.output.contains(detail), "\(outcome.output)")
            #expect(outcome.output.contains("→ ") && outcome.output.contains(advice), "\(outcome.output)")
            #expect(
                !outcome.output.contains(input.prefix(6)) && !outcome.output.contains("it begins"), "\(outcome.output)")
            let json = try run(arguments + ["--json"], Data(input.utf8)).output
            #expect(json.contains(detail.replacing("\n", with: "\"")) && json.contains(advice), "\(json)")
        }
        let status = try run(["verify", "--status", "--replays", "memory"], Data(input.utf8))
        #expect(status.output == "INVALID_TOKEN_FORMAT\n" && status.errors.contains(": it"), "\(status.errors)")
        #expect(status.errors.contains(detail) && !status.errors.contains(input.prefix(6)), "\(status.errors)")
    }

    @Test("UTF-16 is called that, with a byte order mark or without", arguments: [[0xFF, 0xFE], [0xFE, 0xFF], []])
    func utf16(mark: [UInt8]) throws {
        let order: String.Encoding = mark == [0xFE, 0xFF] ? .utf16BigEndian : .utf16LittleEndian
        let input = Data(mark) + (try #require("token".data(using: order)))
        for command in ["inspect", "verify"] {
            #expect(try run([command], input).output.contains("it is a text in UTF-16\n"))
        }
    }

    @Test("an error of Adobe Pass leads to inspect, and no input at all to what is expected")
    func others() throws {
        for error in [#"{"code":"a","action":"none"}"#, "<error><message>m</message></error>"] {
            let outcome = try run(["verify"], Data(error.utf8))
            #expect(outcome.output.contains("it is an error and no token\n"), "\(outcome.output)")
            #expect(outcome.output.contains("→ media-token inspect says what to do"), "\(outcome.output)")
        }
        for arguments in [["inspect"], ["verify"], ["verify", ""]] {
            let outcome = try run(arguments)
            #expect(outcome.output.contains("the input is empty; expected a media token\n"), "\(outcome.output)")
            #expect(outcome.output.contains("→ give the token, or @ and the name of its file\n"), "\(outcome.output)")
        }
    }

    @Test("an argument that is the name of no file is called that, and a folder is no file")
    func files() throws {
        for (arguments, name) in [
            (["inspect"], "none/a.har"), (["verify"], "token.txt"), (["verify", "--find"], "./token"),
        ] {
            let outcome = try run(arguments + [name])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("a file, and there is no file of that name\n"), "\(outcome.output)")
        }
        for command in ["inspect", "verify"] {
            let outcome = try run([command, "."])
            #expect(outcome.status == 64 && outcome.errors.contains("'.' is a folder and not a file; expected @ and"))
        }
    }

    @Test(
        "what may be a token, or is not known, keeps its reason",
        arguments: [
            ("TNT", "it begins with 'TNT'; expected <signatureInfo>"),
            ("\u{EF}\u{E9}", "it begins with the bytes c3 af c3 a9; "), (" \u{7F}abc", "the bytes 7f 61 62 63; "),
            (#"{"serializedToken":"secret.txt"}"#, "it begins with 'secr'; "), (#"{"a":"#, "JSON that cannot be read"),
            ("<play><serializedToken/></play>", "serializedToken"), ("PHNpZ25hdHVyZUluZm8.txt", "the Base64 around"),
            ("<play><a/></play>", "<serializedToken> is missing"),
            ("<signatureInfo>AAAA<signatureInfo>", "nothing that is signed"), ("1.5", "it begins with '1.5'; "),
            (uuid.replacing("E", with: "G"), "it begins with '613G'; "),
        ])
    func kept(unknown: String, reason: String) throws {
        let outcome = try run(["verify"], Data(unknown.utf8))
        #expect(outcome.output.contains(reason), "\(outcome.output)")
    }
}
