import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

/// The tokens of these tests were issued at 2023-11-14 22:13:20 UTC, and live for seven minutes.
@Suite("The lines of logs have a time, and several tokens a table")
struct LogTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], _ text: String) throws -> Program.Outcome {
        try Program.mediaToken.run(arguments + ["--key", keys.open], input: Data(text.utf8))
    }

    private func token(_ session: String = "a") throws -> String {
        Fixtures.base64(try Mint.token { $0.sessionGUID = session })
    }

    @Test(
        "a token is checked as of the time of its line, if that has a zone",
        arguments: [
            "2023-11-14T22:30:00Z gate denied", "2023-11-14 22:30:00 +0000 x", "2023-11-14T23:30:00.123+01:00 x",
            "203.0.113.7 - - [14/Nov/2023:22:30:00 +0000] \"GET /live?token=", "Tue, 14 Nov 2023 22:30:00 GMT",
            "< Date: Tue, 14 Nov 2023 22:30:00 GMT\n<\n", "level=info ts=2023-11-14T22:30:00Z token=",
            "2023/11/14 22:30:00 UTC", "2023-11-14T22:30:00,5Z token ", "2023-11-14 22:30:00.1+00 | token |",
            #"{"level":"info","ts":1700001000.5,"request":{"uri":""#,
            #"{"@timestamp":"2023-11-14T22:30:00Z","a":{"b":""#,
        ])
    func zoned(_ line: String) throws {
        let text = line.hasPrefix("{") ? "\(line)/live?token=\(try token())\"}}\n" : "\(line) \(try token())\n"
        let outcome = try run(["inspect"], text)
        #expect(outcome.status == 1 && outcome.output.contains("\nTOKEN_EXPIRED\n"), "\(outcome)")
        #expect(outcome.output.contains("checked 2023-11-14 22:30:0"), "\(outcome.output)")
        let verified = try run(
            [
                "verify", "--find", "--at", "line", "--requestor", "MML", "--any-resource", "--status", "--replays",
                "memory",
            ],
            text.replacing("22:30", with: "22:15").replacing("23:30", with: "23:15").replacing(
                "1700001000", with: "1700000100"))
        #expect(verified.output == "VALID_TOKEN\n", "\(verified)")
    }

    @Test(
        "a time without a zone is that of the check if it is asked for, in UTC",
        arguments: [
            "2023-11-14 22:30:00,123 INFO ", "14/Nov/2023:22:30:00.123 fe ", "2023/11/14 22:30:00 [error] ",
            "2023-11-14 22:30:00 INFO request\n  with the header\n  ",
        ])
    func withoutZone(_ line: String) throws {
        let unasked = try run(["inspect"], line + (try token()))
        #expect(unasked.status == 0 && unasked.output.contains("without a zone; --at line"), "\(unasked)")
        let asked = try run(["inspect", "--at", "line"], line + (try token()))
        #expect(asked.status == 1 && asked.output.contains("\nTOKEN_EXPIRED\n"), "\(asked)")
    }

    @Test(
        "what is no time of a line is not taken for one",
        arguments: [
            "2023-11-14T22:15:00Z up\nNov 15 22:14:00 host app: token=",
            "2023-11-14T22:15:00Z up\n[Wed Nov 15 22:14:00 2023] token=",
            "2023-11-15 10:14:00 PM token=", "2023-11-14 22:14:00 PST token=", "GET /x?from=2023-11-14T22:15:00Z&t=",
            "Retry-After: Tue, 14 Nov 2023 22:15:00 GMT\ntoken=", "birthday: 2023-11-14T22:15:00Z\n ",
            "start=2023-11-14T22:15:00Z token=",
            "no time ", "03-15 16:40:46.112 D OkHttp ", "expires: Tue, 14 Nov 2023 22:30:00 GMT\n", "[::1]:12:30 ",
            "Last-Modified: Tue, 14 Nov 2023 22:30:00 GMT ", "2023-11-14 ", "99:99 2023-11-14-22:30 ",
            String(repeating: "x", count: 200) + " 2023-11-14T22:30:00Z ",
        ])
    func none(_ line: String) throws {
        let text = line + (try token())
        #expect(try run(["inspect"], text).status == 0)
        let asked = try run(["inspect", "--at", "line"], text)
        #expect(
            asked.status == 2 && asked.errors.contains(" has no time, so its token was not checked as of it"),
            "\(asked)")
        let verified = try run(["verify", "--find", "--at", "line", "--requestor", "MML", "--any-resource"], text)
        #expect(verified.status == 2 && verified.errors.contains("has no time") && verified.output == "", "\(verified)")
    }

    @Test("a token that stands again where it has expired fails a verification as of its lines")
    func lateMention() throws {
        let late = "2023-11-14T22:14:00Z got \(try token())\n2023-11-14T23:14:00Z sent \(try token())\n"
        let answer = "HTTP/1.1 200 OK\nDate: Tue, 14 Nov 2023 22:14:00 GMT\n\nok\n"
        let after =
            "> GET /x HTTP/1.1\n> Host: a\n>\n"
            + answer.split(separator: "\n", maxSplits: 2).prefix(2).map { "< \($0)\n" }.joined()
            + "<\nok\n* Connection #0 to host left intact\n2023-11-14T23:14:00Z play token=\(try token())\n"
        let bare = "GET /x HTTP/1.1\nHost: a\n\n\(answer)2023-11-14T23:14:00Z play token=\(try token())\n"
        for text in [late, after, bare] {
            let outcome = try run(["verify", "--find", "--at", "line", "--requestor", "MML", "--any-resource"], text)
            #expect(outcome.status == 1 && outcome.output.contains("TOKEN_EXPIRED"), "\(text): \(outcome)")
        }
    }

    @Test("several findings are a table, in which a token has one row; a row is shown in full with --only")
    func table() throws {
        let forged = Fixtures.base64(try Mint.token().replacing("TNT", with: "TBS"))
        let lines = [
            "2023-11-14T22:14:00Z play \(try token("a"))", "2023-11-14T22:15:00Z play \(try token("b"))",
            "2023-11-14T22:16:00Z play \(forged)", "2023-11-14T22:17:00Z again \(try token("a"))",
            "2023-11-14T22:30:00Z again \(try token("a"))",
        ]
        let outcome = try run(["inspect"], lines.joined(separator: "\n"))
        let rows = outcome.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func words(_ row: Int) -> [Substring] { rows[row].split(separator: " ") }
        #expect(outcome.status == 1)
        #expect(words(0) == ["#", "time", "(UTC)", "line", "found", "requestor", "resource", "MVPD", "verdict"])
        #expect(
            words(1) == ["1", "2023-11-14", "22:14:00", "1", "media", "MML", "TNT", "TempPass", "VERIFIED"], "\(rows)")
        #expect(
            words(3).last == "INVALID_SIGNATURE"
                && rows[4].hasPrefix("      signature: signed by key.pem, but the text"))
        #expect(rows[6] == "token 1 is also on lines 4, 5 (TOKEN_EXPIRED there)", "\(rows)")
        #expect(rows[8] == "found 3 media tokens; 1 failed; --only N shows all of row N", "\(rows)")
        let only = try run(["inspect", "--only", "2"], lines.joined(separator: "\n"))
        #expect(only.output.contains("\n    sessionGUID  b\n") && !only.output.contains("INVALID"), "\(only.output)")
        #expect(try run(["inspect", "--only", "9"], lines[0]).status == 2)
        let json = try run(["inspect", "--json"], lines[0])
        #expect(json.output.contains(#""time":"2023-11-14 22:14:00 +0000""#), "\(json.output)")
    }
}
