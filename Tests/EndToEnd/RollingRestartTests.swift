import Basics
import Foundation
import MediaToken
import MediaTokenTesting
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Gates that are restarted one after the other")
    struct RollingRestartTests {
        private let place: GateDestination
        /// HAProxy's port, and each gate's, with its admin port.
        private let ports: [Int]

        init() throws {
            (place, ports) = (GateDestination(), try FreePort.take(5))
        }

        /// Starts a gate from a new copy of the program.
        private func start(_ gate: Int, release: Int) throws -> GateProcess {
            let program = place.directory.path + "/media-token-\(gate)-\(release)"
            // Another process writes the copy: a program that this one starts meanwhile would keep it open, and so
            // busy.
            try Program("cp").succeed([Program.mediaToken.executable, program])
            return try GateProcess(
                in: place, replays: "lmdb:\(place.directory.path)/replays", ["--skew", "1", "--log-every", "1"],
                program: program, ports: (ports[1 + gate * 2], ports[2 + gate * 2]))
        }

        /// HAProxy with the documentation's snippet.
        private func startProxy() throws -> Daemon {
            let numbers = ["80", "8080", "8081", "8082", "8083"]
            let settings = try Deploying.snippet("haproxy", under: "Rolling restarts")
                .replacing(/(127\.0\.0\.1:|port )([0-9]+)/) { found in
                    found.1 + (numbers.firstIndex(of: String(found.2)).map { String(ports[$0]) } ?? "unknown")
                }
            let file = try place.directory.write(settings + "\n", to: "haproxy.cfg")
            return try Daemon("haproxy", ["-f", file], log: place.directory.path + "/haproxy.log")
        }

        /// Whether HAProxy's last word about a gate is that it is down.
        private func isDown(_ gate: Int) throws -> Bool {
            let log = try String(contentsOfFile: place.directory.path + "/haproxy.log", encoding: .utf8)
            let server = "Server plays/\(["a", "b"][gate]) is "
            return log.split(separator: "\n").last { $0.contains(server) }?.contains(server + "DOWN") == true
        }

        @Test("no play is lost and no token accepted twice while both gates are stopped and started, twice")
        func restarts() throws {
            var gates = [try start(0, release: 0)]
            try gates[0].wait { try gates[0].admin("/readyz") == "ready\n200" }
            gates.append(try start(1, release: 0))
            #expect(try gates[1].admin("/readyz") == "ready\n200")
            let proxy = try startProxy()
            try proxy.wait { (try? RawConnection(port: ports[0])) != nil }
            let load = PlayLoad(port: ports[0], clients: 8)
            var accepted = 0
            for release in 1...2 {
                for gate in gates.indices {
                    gates[gate].end()
                    accepted += try gates[gate].accepted()
                    // The first time, the proxy may not have noticed when the gate is back.
                    if release == 2 {
                        try proxy.wait { try isDown(gate) }
                        try proxy.wait(until: load.grows(by: 50))
                    }
                    gates[gate] = try start(gate, release: release)
                    #expect(try gates[gate].admin("/readyz") == "ready\n200")
                    try proxy.wait { try gates[gate].accepted() >= 20 }
                }
            }
            let outcome = load.finish()
            gates.forEach { $0.end() }
            accepted += try gates.reduce(0) { try $0 + $1.accepted() }
            #expect(outcome.faults.isEmpty, "\(outcome.faults.count): \(outcome.faults.prefix(10))")
            #expect(accepted == outcome.plays)
        }
    }
}

extension GateProcess {
    /// How many tokens it has accepted, by its log.
    fileprivate func accepted() throws -> Int { try logged().matches(of: /"code":"VALID_TOKEN"/).count }
}

/// Clients that play as long as they may, each with a connection that it keeps.
private final class PlayLoad: Sendable {
    private let port: Int
    private let isOver = Atomic<Bool>(false)
    private let plays = Atomic<Int>(0)
    private let faults = Guarded([String]())
    private let running: Atomic<Int>

    init(port: Int, clients: Int) {
        self.port = port
        running = Atomic(clients)
        for client in 0..<clients {
            Thread.detachNewThread {
                do { try self.play(client) } catch { self.faults.withLock { $0.append("\(error)") } }
                self.running.subtract(1, ordering: .relaxed)
            }
        }
    }

    /// Whether `count` more plays are over than when this is called.
    func grows(by count: Int) -> () -> Bool {
        let goal = plays.load(ordering: .relaxed) + count
        return { self.plays.load(ordering: .relaxed) >= goal }
    }

    /// Ends the load.
    func finish() -> (plays: Int, faults: [String]) {
        isOver.store(true, ordering: .relaxed)
        while running.load(ordering: .relaxed) > 0 { usleep(10_000) }
        return (plays.load(ordering: .relaxed), faults.withLock { $0 })
    }

    /// Plays a token after the other, each once; every fourth is tried again.
    private func play(_ client: Int) throws {
        var (connection, number) = (try RawConnection(port: port), 0)
        while !isOver.load(ordering: .relaxed) {
            number += 1
            let token = try Mint.token {
                $0 = TokenRecipe(issued: TokenDate(.now))
                $0.sessionGUID = "viewer-\(client)-\(number)"
            }
            for expected in number % 4 == 0 ? ["200 VALID_TOKEN", "403 TOKEN_ALREADY_USED"] : ["200 VALID_TOKEN"] {
                let answer = connection.ask(GateProcess.verification(token))
                let code = answer?.headers.firstMatch(of: /(?i)\r\nX-Media-Token-Code: (\w+)/).map { String($0.1) }
                let outcome = answer.map { "\($0.status) \(code ?? "-")" } ?? "closed"
                if outcome != expected { faults.withLock { $0.append("\(client)-\(number): \(outcome)") } }
                if answer == nil { connection = try RawConnection(port: port) }
            }
            plays.add(1, ordering: .relaxed)
            usleep(2000)
        }
    }
}
