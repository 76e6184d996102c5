import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The demo")
    struct DemoTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        /// Folders that demos have made and not removed.
        private func leftOver() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
                $0.hasPrefix("media-token-demo")
            }
        }

        @Test("the tour gets the right answers, and leaves nothing behind")
        func tour() throws {
            let outcome = try Program.mediaToken.run(["demo", "--once"], environment: ["TMPDIR": directory.path])
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.output.contains("✓ VALID_TOKEN, MVPD TempPass"))
            #expect(outcome.output.contains("✓ 403 TOKEN_ALREADY_USED"))
            #expect(outcome.output.contains("Every answer was the right one."))
            #expect(try leftOver().isEmpty)
        }

        @Test("nothing is left behind either where its output cannot be written, or its terminal is closed")
        func interrupted() throws {
            let demo = Program.mediaToken.executable
            let full = try Program("TMPDIR=\(directory.path)").run(["sh", "-c", "\(demo) demo --once >/dev/full"])
            #expect(full.status == 2)
            #expect(try leftOver().isEmpty)
            let log = directory.path + "/closed.log"
            let closed = try Daemon("TMPDIR=\(directory.path)", [demo, "demo"], log: log)
            try closed.wait { try closed.printed().contains("/metrics") }
            #expect(try leftOver().count == 1)
            closed.end(SIGHUP)
            #expect(try leftOver().isEmpty)
        }

        @Test("each line that it shows can be pasted into a shell, and says the same there; Ctrl-C removes all")
        func pasted() throws {
            let log = directory.path + "/demo.log"
            let demo = try Daemon(
                "TMPDIR=\(directory.path)", [Program.mediaToken.executable, "demo"], log: log)
            try demo.wait { try demo.printed().contains("/metrics") }
            let run = { (line: String) in try Program("bash").run(["-c", line]).output }
            let lines = try demo.printed().split(separator: "\n").map { $0.drop { $0 == " " } }
            var pasted = 0
            for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("curl -i") && next.hasPrefix("✓") {
                // What was fresh has been used by the tour.
                let expected = next.dropFirst(2).replacing("200 VALID_TOKEN", with: "403 TOKEN_ALREADY_USED")
                let answer = try run(String(line)).split(separator: "\r\n")
                let status = answer.first { $0.hasPrefix("X-Media-Token-Code: ") }?.dropFirst(20) ?? ""
                #expect("\(answer.first?.split(separator: " ")[1] ?? "") \(status)" == expected, "\(line)")
                pasted += 1
            }
            #expect(pasted == 8)
            let unused = try #require(lines.first { $0.contains("unused.token") })
            #expect(try run(String(unused)).hasPrefix("HTTP/1.1 200"))
            #expect(try run(String(unused)).hasPrefix("HTTP/1.1 403"))
            let verify = try #require(lines.first { $0.contains(" verify --key") })
            #expect(try run(String(verify)).hasPrefix("VALID_TOKEN"))
            let issue = try #require(lines.first { $0.contains(" issue --signing-key") })
            #expect(
                try run("\(issue) | \(unused.replacing(try Regex("\\$\\(cat [^)]*\\)"), with: "$(cat)"))").hasPrefix(
                    "HTTP/1.1 200"))
            let metrics = try #require(lines.last { $0.hasPrefix("curl http") })
            let accepted = try run(String(metrics)).split(separator: "\n")
                .filter { $0.contains("code=\"VALID_TOKEN\",requestor=\"MML\"") }
                .compactMap { line in line.split(separator: " ").last.flatMap { Int($0) } }
            #expect(accepted.reduce(0, +) == 3)
            demo.end(SIGINT)
            #expect(try leftOver().isEmpty)
        }

        @Test("the real token that it brings is the one of the vectors, and so is its key")
        func realToken() throws {
            let source = try String(
                contentsOf: Fixtures.package.appending(path: "Sources/media-token/Demo/RealToken.swift"),
                encoding: .utf8)
            let plain = source.replacing(try Regex("\\\\?\n +"), with: "")
            for path in ["Tests/Vectors/media-token-2016-temppass.txt", "Keys/adobe-pass-2015-2021.pem"] {
                let bytes = try String(contentsOf: Fixtures.package.appending(path: path), encoding: .utf8)
                #expect(plain.contains(bytes.replacing("\n", with: "")), "\(path)")
            }
        }
    }
}
