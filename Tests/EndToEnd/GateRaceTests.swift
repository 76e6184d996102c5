import Foundation
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Gates that share a store")
    struct GateRaceTests {
        private let place = GateDestination()

        private func store(_ kind: String) throws -> (url: String, server: RedisServer?) {
            guard kind == "redis" else { return ("lmdb:\(place.directory.path)/replays", nil) }
            let server = try RedisServer()
            return (server.url + "?timeout=10000", server)
        }

        @Test("64 clients, 200 tokens, two gates: exactly 200 times yes", arguments: ["lmdb", "redis"])
        func race(kind: String) throws {
            let store = try store(kind)
            let gates = try (0..<2).map { _ in
                try GateProcess(in: place, replays: store.url, GateDestination.strict + ["--log-every", "0"])
            }
            let requests = try place.tokens(200).map(GateProcess.verification)
            let ports = gates.map(\.port)
            let yes = Atomic<Int>(0)
            let no = Atomic<Int>(0)
            let clients = (0..<64).map { client in
                Thread {
                    guard let connection = try? RawConnection(port: ports[client % 2]) else { return }
                    for position in requests.indices {
                        switch connection.ask(requests[(position + client * 31) % requests.count])?.status {
                        case 200: yes.add(1, ordering: .relaxed)
                        case 403: no.add(1, ordering: .relaxed)
                        default: break
                        }
                    }
                }
            }
            clients.forEach { $0.start() }
            while clients.contains(where: { !$0.isFinished }) { usleep(10_000) }
            #expect(yes.load(ordering: .relaxed) == 200)
            #expect(no.load(ordering: .relaxed) == 63 * 200)
        }

        @Test("a lost answer is given again by the other gate", arguments: ["lmdb", "redis"])
        func again(kind: String) throws {
            let store = try store(kind)
            let options = try place.exchange(grant: #""retry-window": 30"#)
            let gates = try (0..<2).map { _ in try GateProcess(in: place, replays: store.url, options) }
            let token = try place.tokens(1)[0]
            func play(_ gate: Int, _ attempt: String?) throws -> (status: Int, cookie: Substring) {
                let connection = try RawConnection(port: gates[gate].port)
                let header = attempt.map { "Idempotency-Key: \($0)\r\n" } ?? ""
                let request =
                    "POST /v1/play?path=/live/1 HTTP/1.1\r\nHost: gate\r\nContent-Type: text/plain\r\n" + header
                    + "Content-Length: \(token.utf8.count)\r\n\r\n\(token)"
                let answer = try #require(connection.ask(request))
                let cookie = answer.headers.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }
                return (answer.status, cookie?.prefix { $0 != ";" } ?? "")
            }
            let (mine, other) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
            let first = try play(0, mine)
            #expect(first.status == 200 && !first.cookie.isEmpty)
            for gate in [1, 0, 1] {
                #expect(try play(gate, mine) == first)
                #expect(try play(gate, other).status == 403)
                #expect(try play(gate, nil).status == 403)
            }
            gates.forEach { $0.end() }
            let lines = try gates.flatMap { try $0.logged().split(separator: "\n") }.filter {
                $0.contains("VALID_TOKEN")
            }
            #expect(lines.count == 4 && lines.count { $0.contains("\"firstUse\":") } == 3, "\(lines)")
        }

        @Test("killed under load and started again, it accepts no token twice", arguments: ["lmdb", "redis"])
        func killed(kind: String) throws {
            let store = try store(kind)
            // The store begins with the first gate.
            try GateProcess(in: place, replays: store.url, GateDestination.strict).end()
            let requests = try place.tokens(600).map(GateProcess.verification)
            var accepted: Set<Int> = []
            for round in 0..<6 {
                let gate = try GateProcess(in: place, replays: store.url, GateDestination.strict)
                let connection = try RawConnection(port: gate.port)
                // Each round begins with what the rounds before have asked.
                for (number, request) in requests.enumerated() {
                    connection.send(request)
                    if number == 50 * (round + 1) { gate.signal(SIGKILL) }
                    guard let answer = connection.answer() else { break }
                    if answer.status == 200 {
                        #expect(accepted.insert(number).inserted, "token \(number) was accepted twice")
                    }
                }
                gate.end(SIGKILL)
            }
            #expect(accepted.count > 20, "hardly anything came to be asked")
        }
    }
}
