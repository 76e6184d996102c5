import Foundation
import TestSupport
import Testing

@Suite("media-token refusals")
struct RefusalsCommandTests {
    private func run(_ log: String, _ options: [String] = []) throws -> Program.Outcome {
        try Program.mediaToken.run(["refusals"] + options, input: Data(log.utf8))
    }

    private func summary(_ log: String) throws -> [String: Any] {
        let outcome = try run(log, ["--json"])
        return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    /// A line of a gate's log.
    private func line(
        _ code: String, wouldBe: String? = nil, action: String? = nil, app: String? = "App/1", second: Int = 0,
        _ further: String = ""
    ) -> String {
        let members = [("would_be", wouldBe), ("action", action), ("app", app)].compactMap { name, value in
            value.map { #""\#(name)":"\#($0)","# }
        }
        let time =
            "2026-11-29T20:\(second / 60 < 10 ? "0" : "")\(second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60).000Z"
        return #"{\#(members.joined())\#(further)"code":"\#(code)","requestor":"MML","time":"\#(time)"}"# + "\n"
    }

    private func causes(_ log: String) throws -> [String] {
        let causes = try #require(try summary(log)["causes"] as? [[String: Any]])
        return causes.map { "\($0["refused"] ?? ""): \($0["text"] ?? "")" }
    }

    @Test("a token that was seen before is cached, whether it was used or has expired; one that was not came late")
    func causes() throws {
        let (first, second) = (#""token":"0000000000000001","#, #""token":"0000000000000002","age":361,"#)
        let log =
            line("VALID_TOKEN", first)
            + line("REPORT_ONLY", wouldBe: "TOKEN_ALREADY_USED", action: "new-token", second: 90, first)
            + line("TOKEN_EXPIRED", action: "new-token", second: 600, first)
            + line("TOKEN_EXPIRED", action: "new-token", app: "Late/2", second: 600, second)
            + line("INVALID_MVPD_ID", action: "operator", #""mvpd":"New","#)
            + line("INVALID_SIGNATURE", action: "operator") + line("GRANT_VALID")
            + line("TOKEN_MISSING", action: "new-token")
        #expect(
            try causes(log) == [
                "2: App/1 caches tokens: it sends one again, 90 to 600 s after its first use",
                "1: INVALID_SIGNATURE: No loaded key verifies the signature",
                "1: Late/2 first sends tokens that have expired, 361 s after they were issued",
                "1: TOKEN_MISSING", "1: the MVPD New is not in the list of requestor MML",
            ])
        let summary = try summary(log)
        #expect(summary["requests"] as? Int == 7 && summary["refused"] as? Int == 6)
        #expect(summary["reportOnly"] as? Int == 1 && summary["withoutToken"] as? Int == 1)
    }

    @Test("lines of other programs are counted, lost ones are told, and a log without any of a gate is none")
    func others() throws {
        let outcome = try run("a message\n{\"dropped\":7}\n{\"code\":7}\n[1]\n\n" + line("VALID_TOKEN"))
        #expect(outcome.status == 0 && outcome.output.contains("skipped 3 lines"), "\(outcome.output)")
        #expect(outcome.output.contains("the gate lost 7 lines"))
        #expect(try run(line("TOKEN_EXPIRED", action: "new-token")).status == 1)
        for log in ["", "message\n", "{}\n"] {
            let outcome = try run(log)
            #expect(outcome.status == 2 && outcome.errors.contains("no line of a gate"), "\(outcome)")
        }
        #expect(try Program.mediaToken.run(["refusals", "/nowhere/log"]).status == 2)
        #expect(try run(line("VALID_TOKEN"), ["--report", "/nowhere/page"]).status == 2)
    }

    @Test("what a client calls itself is text, on a terminal and on the page")
    func hostile() throws {
        let app = #"<script>alert(1)</script>\u001b[31m"#
        let folder = try TemporaryDirectory()
        let page = folder.path + "/page.html"
        let outcome = try run(
            line("TOKEN_EXPIRED", action: "new-token", app: app, #""mvpd":"<i>","#), ["--report", page])
        #expect(!outcome.output.contains("\u{1b}"))
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(!html.contains("<script") && !html.contains("<i>") && html.contains("&lt;script&gt;"))
    }

    @Test("no line makes it fail: huge counts, endless lines, odd times and names of thousands of apps")
    func odd() throws {
        let lost = #"{"dropped":9223372036854774784}"# + "\n"
        let outcome = try run(lost + lost + line("VALID_TOKEN") + String(repeating: "x", count: 3_000_000))
        #expect(outcome.status == 0 && outcome.output.contains("skipped 1 line"))
        let escape = line(#"\u001b]0;x\u0007"#, action: "x") + line("VALID_TOKEN", app: nil)
        #expect(try !run(escape).output.contains("\u{1b}"))
        let token = #""token":"0000000000000001","#
        let backwards =
            line("TOKEN_ALREADY_USED", action: "new-token", second: 90, token) + line("VALID_TOKEN", token)
        #expect(try causes(backwards) == ["1: App/1 caches tokens: it sends one again"])
        let ages = ["-9223372036854774784", "9223372036854774784"].map {
            line("TOKEN_EXPIRED", action: "x", #""age":\#($0),"#)
        }
        #expect(try run(ages.joined()).status == 1)
        let zone = line("VALID_TOKEN").replacing("20:00:00.000Z", with: "20:00:00.000+05:00")
        #expect((try summary(zone)["hour"] as? [String: Any])?.keys.first == "2026-11-29 15:00")
        let many = (0..<3000).map { line("TOKEN_EXPIRED", action: "new-token", app: "App/\($0)") }.joined()
        let text = try run(many)
        #expect(text.output.contains("2,000 (66.7 %)  others first sends tokens") && text.output.count < 20_000)
    }

    @Test("several logs are one summary, and a table has at most fifty rows")
    func several() throws {
        let folder = try TemporaryDirectory()
        let names = try (0..<2).map { number in
            let lines = (0..<60).map { line("TOKEN_EXPIRED", action: "new-token", app: "App/\(number)-\($0)") }
            return try folder.write(lines.joined(), to: "\(number).log")
        }
        let outcome = try Program.mediaToken.run(["refusals", "--json"] + names)
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(summary["requests"] as? Int == 120)
        #expect((summary["app"] as? [String: Any])?.count == 50)
    }
}
