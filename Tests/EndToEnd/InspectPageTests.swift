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
                ["Tests/InspectPage/page.py", Program.mediaToken.executable, directory.path])
            #expect(outcome.status == 0, "\(outcome.output.suffix(1000))\(outcome.errors.suffix(2000))")
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
