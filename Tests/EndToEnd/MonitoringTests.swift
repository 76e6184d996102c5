import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What Prometheus and Grafana are given, against a Prometheus that asks real gates.
    @Suite("Alert rules and the dashboard")
    struct MonitoringTests {
        private let place = GateDestination()
        private var folder: String { place.directory.path }
        private static let monitoring = Fixtures.package.appending(path: ".packaging/monitoring")

        /// The number of gates whose answers become more.
        private static let rising = "count(sum by (instance) (rate(media_token_verdicts_total[1m])) > 0)"

        /// The metrics that the gate declares.
        private static func declared() throws -> Set<String> {
            let page = try Program.mediaToken.succeed(["serve", "--print=metrics"])
            return Set(page.matches(of: /^\| `([a-z_]+)`/.anchorsMatchLineEndings()).map { String($0.1) })
        }

        /// The metrics that an expression names, without what a histogram adds to its name.
        private static func names(in text: String) -> Set<String> {
            Set(
                text.matches(of: /\b((?:media_token|process)_[a-z_]+)\b/).map {
                    String($0.1).replacing(/_(bucket|sum|count)$/, with: "")
                })
        }

        /// The expressions of the dashboard by the title of their panel.
        private static func expressions() throws -> [(title: String, expression: String)] {
            struct Dashboard: Decodable {
                struct Panel: Decodable {
                    struct Target: Decodable { let expr: String }
                    let title: String
                    let targets: [Target]
                }
                let panels: [Panel]
            }
            let data = try Data(contentsOf: monitoring.appending(path: "dashboard.json"))
            return try JSONDecoder().decode(Dashboard.self, from: data).panels.flatMap { panel in
                panel.targets.map { (panel.title, $0.expr) }
            }
        }

        @Test("rules and dashboard name metrics that there are, and leave none out")
        func names() throws {
            let rules = try String(contentsOf: Self.monitoring.appending(path: "alerts.yaml"), encoding: .utf8)
            let named = Self.names(in: try Self.expressions().map(\.expression).joined(separator: "\n") + rules)
            #expect(named == (try Self.declared()))
        }

        @Test("each alert fires when it should, and not before")
        func alerts() throws {
            let rules = Self.monitoring.path
            try Program("promtool").succeed(["check", "rules", "\(rules)/alerts.yaml"])
            try Program("promtool").succeed(["test", "rules", "\(rules)/alerts-test.yaml"])
            // Each alert has a test in which it fires.
            let tests = try String(contentsOfFile: "\(rules)/alerts-test.yaml", encoding: .utf8)
            let fires = Set(tests.matches(of: /alertname: (\w+)\n +exp_alerts:/).map { String($0.1) })
            let text = try String(contentsOfFile: "\(rules)/alerts.yaml", encoding: .utf8)
            #expect(fires == Set(text.matches(of: /alert: (\w+)/).map { String($0.1) }))
        }

        @Test("a Prometheus that asks two gates answers each query of the dashboard, and evaluates each rule")
        func queries() throws {
            try GateDestination.makeCertificate(folder + "/gate", days: 90)
            let redis = try RedisQuorum()
            let gates = [
                try GateProcess(
                    in: place, replays: "lmdb:\(folder)/replays",
                    try place.exchange() + [
                        "--listen", "tls:127.0.0.1:\(try FreePort.take(1)[0])", "--tls-certificate",
                        "\(folder)/gate.pem", "--tls-key", "\(folder)/gate.key",
                    ]),
                try GateProcess(
                    in: place, replays: redis.url + "&durable=server", GateDestination.strict + ["--report-only"]),
            ]
            for gate in gates {
                let metrics = try Program("curl").succeed(["-s", "http://127.0.0.1:\(gate.adminPort)/metrics"])
                let checked = try Program("promtool").run(["check", "metrics"], input: Data(metrics.utf8))
                #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.output) \(checked.errors)")
            }
            let prometheus = try Prometheus(asking: gates.map(\.adminPort), rules: Self.monitoring.path, in: folder)
            try prometheus.wait { try prometheus.values("count(media_token_build_info)") == [2] }
            let segment =
                "GET /v1/authz/ext-authz/live/1.ts HTTP/1.1\r\nHost: gate\r\nCookie: "
                + "\(try place.grant())\r\n\r\n"
            // The first answers make the series; the next ones let them rise between two of its questions.
            for seen in ["count(sum by (instance) (media_token_verdicts_total)) == 2", "\(Self.rising) == 2"] {
                for gate in gates {
                    let connection = try RawConnection(port: gate.port)
                    #expect(connection.ask(segment) != nil)
                    for token in try place.tokens(3) + ["no token"] {
                        #expect(connection.ask(GateProcess.verification(token)) != nil)
                    }
                }
                try prometheus.wait { try !prometheus.values(seen).isEmpty }
            }
            for (title, expression) in try Self.expressions() {
                let query = expression.replacing("$__rate_interval", with: "1m").replacing("$instance", with: ".*")
                #expect(try prometheus.values(query).contains { !$0.isNaN }, "\(title): \(query)")
            }
            #expect(try prometheus.rulesAreEvaluated())
        }
    }
}

/// A Prometheus that asks gates every second.
private final class Prometheus {
    private let daemon: Daemon
    private let address: String

    init(asking ports: [Int], rules: String, in folder: String) throws {
        let targets = ports.map { "'127.0.0.1:\($0)'" }.joined(separator: ", ")
        let configuration = "\(folder)/prometheus.yaml"
        try """
        global: {scrape_interval: 1s, evaluation_interval: 1s}
        rule_files: ['\(rules)/alerts.yaml']
        scrape_configs:
          - job_name: media-token
            static_configs: [{targets: [\(targets)]}]
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        address = "127.0.0.1:\(try FreePort.take(1)[0])"
        daemon = try Daemon(
            "prometheus",
            [
                "--config.file=\(configuration)", "--storage.tsdb.path=\(folder)/samples",
                "--web.listen-address=\(address)",
            ], log: "\(folder)/prometheus.log")
        try daemon.wait { [address] in try GateProcess.fetch("http://\(address)/-/ready").code == "200" }
    }

    func wait(until isTrue: () throws -> Bool) throws { try daemon.wait(until: isTrue) }

    /// The values that a query gives; a query that it refuses is an error.
    func values(_ query: String) throws -> [Double] {
        let answer = try Program("curl").succeed([
            "-sfG", "http://\(address)/api/v1/query", "--data-urlencode", "query=\(query)",
        ])
        // Each is a time, and a number as text.
        return answer.matches(of: /"value":\[[0-9.]+,"([^"]+)"\]/).compactMap { Double(String($0.1)) }
    }

    /// Whether it has evaluated each rule without an error.
    func rulesAreEvaluated() throws -> Bool {
        let rules = try Program("curl").succeed(["-sf", "http://\(address)/api/v1/rules"])
        let health = rules.matches(of: /"health":"(\w+)"/).map { $0.1 }
        return !health.isEmpty && health.allSatisfy { $0 == "ok" }
    }
}
