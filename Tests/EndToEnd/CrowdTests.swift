import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Many connections that bring nothing")
    struct CrowdTests {
        private let place = GateDestination()

        /// Milliseconds that the slowest of a hundred verifications takes, of a thousand by one client, one after the
        /// other.
        private func latency(of gate: GateProcess) throws -> Double {
            let connection = try RawConnection(port: gate.port)
            let request = GateProcess.verification(try place.tokens(1)[0])
            var times: [Duration] = []
            for _ in 0..<1000 {
                let start = ContinuousClock.now
                let status = try #require(connection.ask(request)?.status)
                times.append(ContinuousClock.now - start)
                #expect(status == 200 || status == 403)
            }
            return times.sorted()[989] / .milliseconds(1)
        }

        @Test(
            "slow headers and slow bodies of a thousand connections keep nobody else waiting", arguments: ["-H", "-B"])
        func slow(kind: String) throws {
            let gate = try GateProcess(in: place, GateDestination.strict + ["--arrival-timeout", "300"])
            let alone = try latency(of: gate)
            let url = "http://127.0.0.1:\(gate.port)/v1/verify"
            let attacker = try Daemon(
                "slowhttptest",
                ["-c", "1000", kind, "-i", "1", "-r", "1000", "-s", "8192", "-t", "POST", "-l", "300", "-u", url],
                log: place.directory.path + "/slow.log")
            try gate.wait { try gate.connections() > 900 }
            let latency = try latency(of: gate)
            let connections = try gate.connections()
            print("\(kind): p99 \(latency) ms, alone \(alone) ms, beside \(connections) connections")
            #expect(connections > 900, "the attack was over before the measurement")
            #expect(latency < 10 + 10 * alone)
            attacker.end(SIGKILL)
        }

        @Test("ten thousand idle connections cost little, and are closed in the end")
        func idle() throws {
            let gate = try GateProcess(in: place, GateDestination.strict + ["--idle-timeout", "20"])
            let alone = try latency(of: gate)
            let before = try gate.residentMegabytes()
            let idle = try Daemon(
                "python3", ["-c", Self.idleConnections, "\(gate.port)", "10000"],
                log: place.directory.path + "/idle.log")
            try gate.wait { try gate.connections() >= 10_000 }
            let (latency, after) = (try latency(of: gate), try gate.residentMegabytes())
            print(
                "p99 \(latency) ms, alone \(alone) ms, beside 10,000 idle connections, which take \(after - before) MB"
            )
            #expect(latency < 10 + 10 * alone)
            #expect(after - before < 100)
            try gate.wait { try gate.connections() == 0 }
            idle.end(SIGKILL)
        }

        /// Opens connections and keeps them. Not the tests' own process: Foundation's `Process.run()` copies from
        /// beyond its memory where a process has thousands of descriptors.
        private static let idleConnections = """
            import resource, signal, socket, sys
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            address = ("127.0.0.1", int(sys.argv[1]))
            idle = [socket.create_connection(address) for _ in range(int(sys.argv[2]))]
            signal.pause()
            """
    }
}
