import Foundation
import TestSupport
import Testing

@Suite("media-token bench")
struct BenchCommandTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func bench(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(["bench", "verify", "--seconds", "1"] + arguments, input: Data(input.utf8))
    }

    private struct Figures: Decodable {
        let threads: Int
        let verifications: Int
        let verificationsPerSecond: Double
        let ratio: Double?
        let latencyNanoseconds: [String: UInt64]
        let stageNanoseconds: [String: Double]
        let codes: [String: Int]
        let liveTokens: Int
        let storeBytes: Int?
    }

    private func figures(_ arguments: [String], input: String = "") throws -> Figures {
        let outcome = try bench(["--json"] + arguments, input: input)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8))
    }

    @Test("signs tokens, verifies them, and says how that compares with the bare RSA operations")
    func verify() throws {
        let figures = try figures(["--count", "40", "--threads", "2"])
        #expect(figures.threads == 2)
        #expect(figures.codes == ["VALID_TOKEN": figures.verifications])
        #expect(figures.ratio ?? 0 > 0)
        #expect(figures.liveTokens == figures.verifications)
        #expect(figures.storeBytes ?? 0 > figures.liveTokens * 16)
        #expect(Set(figures.latencyNanoseconds.keys) == ["p50", "p90", "p99", "p99.9", "max"])
        #expect(
            Set(figures.stageNanoseconds.keys)
                == ["envelope", "signature", "claims", "policy", "replay"])
    }

    @Test("with a lasting store, and one that is full already", arguments: ["memory", "lmdb"])
    func stores(kind: String) throws {
        let url = kind == "lmdb" ? "lmdb:\(directory.path)/replays" : "memory"
        let figures = try figures(["--count", "20", "--replays", url, "--live", "1000"])
        #expect(figures.liveTokens == figures.verifications + 1000)
    }

    @Test("captured tokens are verified as of their time; a status that is not expected is exit 1")
    func captured() throws {
        let options = [
            "--tokens", Fixtures.realTokenFile, "--keys", Fixtures.keys, "--min-rsa-bits", "1024", "--at",
            "2016-03-17 15:02:00 -0700",
        ]
        #expect(try figures(options).codes.keys.sorted() == ["VALID_TOKEN"])
        #expect(try bench(options + ["--expect", "TOKEN_EXPIRED"]).status == 1)
        #expect(
            try figures(["--expect", "TOKEN_EXPIRED"] + options.dropLast(2)).codes.keys.sorted() == ["TOKEN_EXPIRED"]
        )
        let junk = [
            "--tokens", "-", "--key", Fixtures.keys, "--min-rsa-bits", "1024", "--expect", "INVALID_TOKEN_FORMAT",
        ]
        #expect(try figures(junk, input: "junk\n").ratio == nil)
    }

    @Test("tokens that are none, or too few for the threads, are not measured")
    func tooFew() throws {
        let empty = try bench(["--tokens", "-", "--key", Fixtures.keys, "--min-rsa-bits", "1024"])
        #expect(empty.status == 2)
        #expect(empty.errors.contains("no tokens"))
        let few = try bench(["--count", "3", "--threads", "4"])
        #expect(few.status == 2)
        #expect(few.errors.contains("at least 4"))
    }

    @Test("the report is one page that asks nobody for anything")
    func report() throws {
        let file = "\(directory.path)/report.html"
        for _ in 0..<2 {
            let outcome = try bench(["--count", "20", "--report", file])
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(page.components(separatedBy: "class=\"plot").count == 5)
        for fact in [
            "p50", "p99.9", "max ", "AVX-512 IFMA", "date", "processor", "OpenSSL 3", "bench verify --seconds 1",
        ] {
            #expect(page.contains(fact), "\(fact)")
        }
        #expect(!page.contains(">1 verifications<"))
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(!page.contains("http") && !page.contains("src=") && !page.contains("<script"))
        #expect(try bench(["--count", "20", "--report", "/nowhere/report.html"]).status == 2)
    }

    @Test("an earlier run is compared: lines, JSON and page show both and their ratio")
    func comparison() throws {
        let first = try bench(["--count", "20", "--json"])
        let file = try directory.write(first.output, to: "first.json")
        let page = "\(directory.path)/report.html"
        let options = ["--count", "20", "--compare", file]
        let lines = try bench(options + ["--report", page]).output
        #expect(
            lines.contains("Compared with \(file), 20") && lines.contains(/latency p99 .* \d+\.\d{3}\n/), "\(lines)")
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("<th>new</th>") && html.contains("<th>latency p99</th>"))
        #expect(html.components(separatedBy: "bench verify --seconds 1").count == 3)

        struct Compared: Decodable {
            struct Row: Decodable {
                let new: Double
                let old: Double
                let ratio: Double
            }
            let verificationsPerSecond: Double
            let run: [String: String]
            let compared: [String: Row]
        }
        let both = try JSONDecoder().decode(Compared.self, from: Data(bench(options + ["--json"]).output.utf8))
        let row = try #require(both.compared["verificationsPerSecond"])
        let old = try JSONDecoder().decode(Figures.self, from: Data(first.output.utf8)).verificationsPerSecond
        #expect(row.new == both.verificationsPerSecond && abs(row.old - old) < old / 1e9)
        #expect(abs(row.ratio - row.new / row.old) < 1e-9)
        #expect(both.compared.keys.contains("latencyNanoseconds.p99.9"))
        #expect(both.run["command"]?.contains("bench verify") ?? false)
        #expect(!lines.contains("the runs also differ in"))
        let grouped = try bench(options + ["--group", "4", "--report", page]).output
        #expect(grouped.contains("the runs also differ in: group 4 (earlier 1)"), "\(grouped)")
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("group 4 (earlier 1)"))

        let other = try directory.write("{\"answersPerSecond\": 3}", to: "other.json")
        let refused = try bench(["--compare", other])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("no verificationsPerSecond in it"))
        let unwritable = try bench(["--report", directory.path + "/none/page.html"])
        #expect(unwritable.status == 2 && unwritable.output.isEmpty, "known before the run")
    }

    @Test("a run that had to share its processor says that its figures are not the machine's: lines, JSON and page")
    func busy() throws {
        let other = try Daemon(
            "taskset", ["-c", "0", "sh", "-c", "while :; do :; done"], log: "\(directory.path)/busy.log")
        defer { other.end(SIGKILL) }
        let page = "\(directory.path)/report.html"
        let command = ["-c", "0", Program.mediaToken.executable, "bench", "verify", "--count", "20", "--seconds", "1"]
        let lines = try Program("taskset").succeed(command + ["--report", page])
        #expect(lines.contains("not this machine's figures: the load waited for "), "\(lines)")
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("notice warn"))
        struct Shared: Decodable { let processorShare, verificationsPerSecond, verificationsPerProcessorSecond: Double }
        let json = Data(try Program("taskset").succeed(command + ["--json"]).utf8)
        let figures = try JSONDecoder().decode(Shared.self, from: json)
        #expect((0.1...0.9).contains(figures.processorShare))
        #expect(figures.verificationsPerProcessorSecond > 1.1 * figures.verificationsPerSecond)
    }

    @Test("a password in a URL is not shown among the facts of the run")
    func secrets() throws {
        let outcome = try bench(["--count", "20", "--json", "--requestor", "redis://user:secret@host"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("redis://…") && !outcome.output.contains("secret"))
    }

    @Test("Ctrl-C prints what it has")
    func interrupted() throws {
        let command = [Program.mediaToken.executable, "bench", "verify", "--count", "20", "--seconds", "600", "--json"]
        let outcome = try Program("timeout").run(
            ["--preserve-status", "--foreground", "--signal", "INT", "10"] + command)
        #expect(outcome.status == 0)
        let figures = try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8))
        #expect(figures.verifications > 0)
    }

    @Test(
        "what makes no sense is usage",
        arguments: [
            ["verify", "--tokens", "x"], ["verify", "--threads", "0"], ["verify", "--expect", "GOOD"], ["verify", "x"],
            ["verify", "--tokens", "x", "--count", "3", "--key", "k"], ["gate"], ["gate", "http://127.0.0.1:1"],
            ["gate", "https://127.0.0.1", "--tokens", "x"], ["gate", "http://:80", "--tokens", "x"],
            ["gate", "http://h:99999", "--tokens", "x"], ["nonsense"],
            ["gate", "http://h", "--signing-key", "x", "--find-rate", "p98=10ms"],
            ["gate", "http://h", "--signing-key", "x", "--find-rate", "p99=10"],
            ["gate", "http://h", "--signing-key", "x", "--find-rate", "p99=10ms", "--rate", "5"],
            ["gate", "http://h", "--tokens", "x", "--find-rate", "p99=10ms"],
            ["gate", "http://h", "--tokens", "x", "--metrics", "8081"],
            ["gate", "http://h/v1/plays", "--tokens", "x"], ["gate", "http://h/v1/play", "--tokens", "x"],
            ["gate", "http://h", "--tokens", "x", "--stream", "/a"],
            ["gate", "http://h/v1/play", "--tokens", "x", "--stream", "/a b"],
            ["gate", "http://h/v1/play", "--tokens", "x", "--stream", "/a", "--by", "token"],
            ["gate", "http://h/v1/authz/ext-authz", "--tokens", "x", "--stream", "/a", "--by", "wish"],
            ["gate", "http://h/v1/authz/ext-authz", "--tokens", "x", "--stream", "/a", "--by", "nothing"],
            ["gate", "http://h/v1/authz/ext-authz", "--stream", "/a", "--by", "grant"],
            ["verify", "--expect", "GRANT_VALID"], ["verify", "--resource", "x", "--resource-file", "y"],
        ])
    func usage(arguments: [String]) throws {
        let outcome = try Program.mediaToken.run(["bench"] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--help"))
    }
}
