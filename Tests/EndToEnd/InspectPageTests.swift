import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The page of inspect")
    struct InspectPageTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        @Test(
            "in Chromium the page gives the command line's verdicts, keeps nothing, asks nobody else, and is accessible"
        )
        func page() throws {
            let outcome = try Program(".build/python/bin/python").run(
                ["Tests/Pages/inspect_page.py", Program.mediaToken.executable, directory.path])
            #expect(outcome.status == 0, "\(outcome.output.suffix(1000))\(outcome.errors.suffix(2000))")
        }

        @Test(
            "what Chromium records of plays against a gate is a table that names the faults",
            arguments: [(minutes: 0, plays: [0, 1]), (minutes: 0, plays: [0, 0]), (minutes: 7, plays: [0, 1, 1])])
        func recorded(minutes: Int, plays: [Int]) throws {
            let place = GateDestination()
            let gate = try GateProcess(in: place, GateDestination.strict)
            let tokens = try place.tokens(2)
            let har = try Program(".build/python/bin/python").run(
                ["Tests/Pages/har.py", "http://127.0.0.1:\(gate.port)", "\(minutes)"],
                input: Data(plays.map { tokens[$0] + "\n" }.joined().utf8))
            try #require(har.status == 0, "\(har.errors)")
            let file = try directory.write(har.output, to: "capture.har")
            let table = try Program.mediaToken.run(["inspect", "--key", place.key, "@" + file]).output
            let rows = table.split(separator: "\n").filter { $0.contains("  verify  ") }
            #expect(rows.count == plays.count && rows.allSatisfy { $0.hasSuffix("media VERIFIED") }, "\(table)")
            #expect(table.contains("used twice") == (Set(plays).count < plays.count), "\(table)")
            #expect(table.contains("TOKEN_ALREADY_USED") == (Set(plays).count < plays.count), "\(table)")
            #expect(table.contains("clocks apart: the client's clock is") == (minutes > 0), "\(table)")
        }

        @Test("JSON has the clear text on demand only, and the page's options are refused without it")
        func options() throws {
            let token = "@Tests/Vectors/media-token-2016-temppass.txt"
            #expect(
                try Program.mediaToken.run(["inspect", "--json", "--clear", token]).output.contains(#""clear":"<sig"#))
            #expect(try !Program.mediaToken.run(["inspect", "--json", token]).output.contains(#""clear":"#))
            for wrong in [
                ["--clear", token], ["--port", "1", token], ["--web", token], ["--web", "--json"],
                ["--web", "--requestor", "MML"],
            ] {
                #expect(try Program.mediaToken.run(["inspect"] + wrong).status == 64, "\(wrong)")
            }
            #expect(try Program.mediaToken.run(["inspect", "--web", "--keys", directory.path]).status == 2)
        }
    }
}
