import Basics
import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Tokens that were damaged on the way")
struct DamageTests {
    private let keys = KeyPair()

    private struct Line: Decodable {
        let code: String
        let way: [String]?
        let damaged: String?
        let repairs: [String]?
    }

    private func inspect(_ text: String, _ options: String...) throws -> (lines: [Line], status: Int32) {
        let arguments = ["inspect", "--json", "--key", keys.open] + options + ["-"]
        let outcome = try Program.mediaToken.run(arguments, input: Data(text.utf8))
        let lines = try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        return (lines, outcome.status)
    }

    /// What people and programs do to a value on its way.
    private static let damages: [@Sendable (String, Int) -> String] = [
        { text, _ in text }, { text, _ in Fixtures.base64(text) }, { text, _ in Fixtures.percentEncoded(text) },
        { text, _ in text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;") },
        { text, _ in "\"\(text)\"" }, { text, _ in "'\(text)'" }, { text, _ in " \(text) " },
        { text, _ in text + "\n" },
        { text, place in String(text.prefix(place)) + "\n" + text.dropFirst(place) },
        { text, place in String(text.prefix(place)) + " " + text.dropFirst(place) },
        { text, place in String(text.prefix(max(60, place))) },
        { text, place in String(text.prefix(place)) + text.dropFirst(place + 1) },
        { text, _ in text.replacing("+", with: " ") }, { text, _ in text.replacing("-", with: "\u{2013}") },
        { text, _ in text.replacing(" ", with: "\u{A0}") }, { text, _ in text.replacing("><", with: ">\n  <") },
        { text, _ in text.lowercased() }, { text, _ in text.replacing("=", with: "") },
        { text, _ in text.utf8.map { String(format: "%02x", $0) }.joined() },
        { text, _ in text.replacing("+", with: "-").replacing("/", with: "_") },
    ]

    @Test(
        "in a HAR file, a value that a request sent has the verdict of a gate that is sent the value", arguments: 0..<10
    )
    func verdicts(_ seed: Int) throws {
        var entries: [Entry] = []
        var values: [String] = []
        for number in 0..<20 {
            var value = try Mint.token()
            // One or two damages, the second of which is chosen by the seed.
            for step in [number, seed % 3 == 0 ? 0 : number * 7 + seed * 3] {
                value = Self.damages[step % Self.damages.count](value, 40 + (step * 37) % 300)
            }
            values.append(value)
            var entry = Entry("https://play.example/v1/play", at: 2)
            let json = try JSONSerialization.data(withJSONObject: ["token": value])
            entry.sent = String(decoding: json, as: UTF8.self)
            entries.append(entry)
        }
        let har = try Entry.har(entries)
        let lines = try inspect(har).lines.filter { $0.way?.contains { $0.hasPrefix("request") } == true }
        for (number, value) in values.enumerated() {
            let outcome = try Mint.verifier().verify(RawToken(value), for: Mint.expectation, at: Mint.now)
            let found = lines.filter { $0.way?.contains("entry \(number + 1)") == true }.map(\.code)
            let code = outcome.code == .validToken ? "VERIFIED" : outcome.code.rawValue
            #expect(found == [code], "\(number): \(value.prefix(300))")
        }
    }

    @Test("a request's damaged value is said to be damaged, with what a gate answers and what is in it")
    func told() throws {
        var entry = Entry("https://play.example/v1/play", at: 2, status: 401)
        entry.sent = #"{"token": "\#(Fixtures.base64(Fixtures.base64(try Mint.token())))"}"#
        let file = try keys.directory.write(try Entry.har([entry]), to: "capture.har")
        let outcome = try Program.mediaToken.run(["inspect", "--key", keys.open, "@" + file])
        #expect(outcome.status == 1 && outcome.output.contains("media INVALID_TOKEN_FORMAT"), "\(outcome)")
        #expect(
            outcome.output.contains("damaged: sent in Base64, in Base64; a gate answers INVALID_TOKEN_FORMAT: ")
                && outcome.output.contains("the token in it is good"), "\(outcome.output)")
        let found = [
            "verify", "--find", "--key", keys.open, "--requestor", "MML", "--resource", "TNT", "--at", "1700000010",
        ]
        let verified = try Program.mediaToken.run(found + ["--status", "--replays", "memory", "@" + file])
        #expect(verified.output == "INVALID_TOKEN_FORMAT\n" && verified.status == 1, "\(verified)")
    }

    @Test("a request that has a token twice is told of the copy that is damaged, whichever comes first")
    func copies() throws {
        let token = try Mint.token()
        for values in [[token, "\"\(token)\""], ["\"\(token)\"", token]] {
            var entry = Entry("https://play.example/v1/play", at: 2, status: 401)
            let json = try JSONSerialization.data(withJSONObject: ["list": values])
            entry.sent = String(decoding: json, as: UTF8.self)
            let (lines, status) = try inspect(try Entry.har([entry]))
            #expect(Set(lines.map(\.code)) == ["CALL", "VERIFIED", "INVALID_TOKEN_FORMAT"] && status == 1)
        }
    }

    @Test("an escape within a token that stands in clear text is damage")
    func escapes() throws {
        for escaped in ["T&#78;T", "T%4ET"] {
            let lines = try inspect("t=" + (try Mint.token()).replacing("TNT", with: escaped)).lines
            #expect(lines.map(\.code) == ["VERIFIED"] && lines.first?.repairs?.isEmpty == false, "\(escaped) \(lines)")
        }
    }

    @Test("outside of calls, what was undone is said where it was damage, and not where it was a wrapping")
    func repairs() throws {
        let token = try Mint.token()
        let folded = Fixtures.base64(token).replacing("+", with: " ")
        let (repaired, status) = try inspect("X=" + folded)
        #expect(repaired.map(\.repairs) == [["blanks read as '+'"]] && status == 0)
        // A gate reads Base64 with line breaks, but not with blanks after them.
        let wrapped = Data(token.utf8).base64EncodedString(options: .lineLength76Characters)
        for text in [Fixtures.base64(token), Fixtures.percentEncoded(token), "\"\(token)\"", wrapped] {
            #expect(try inspect(text).lines.map(\.repairs) == [nil])
        }
        let indented = wrapped.replacing("\r\n", with: "\r\n  ")
        #expect(try inspect(indented).lines.first?.repairs?.isEmpty == false)
        let shown = try Program.mediaToken.run(["inspect", "--key", keys.open, "-"], input: Data(("X=" + folded).utf8))
        #expect(
            shown.output.contains("read with repairs") && !shown.output.contains("strictly read"), "\(shown.output)")
    }

    @Test("in a log, a token that is mentioned again is the same token, and is told of once")
    func mentions() throws {
        let (one, other) = (Fixtures.base64(try Mint.token()), Fixtures.base64(try Mint.token { $0.mvpd = "Cox" }))
        let log = [one, other, one, one].map { "token=\($0)\n" }.joined()
        let outcome = try Program.mediaToken.run(["inspect", "--key", keys.open, "-"], input: Data(log.utf8))
        #expect(
            outcome.output.contains("token 1 is also on lines 3, 4\n")
                && outcome.output.contains("found 2 media tokens"),
            "\(outcome.output)")
    }
}
