import Foundation
import TestSupport
import Testing
import TokenCrypto

extension EndToEnd {
    @Suite("media-token bench gate")
    struct BenchGateTests {
        private let place: GatePlace
        private let signingKey: String

        init() throws {
            place = try GatePlace()
            signingKey = try place.directory.write(try TestKeys.standard.pemText(), to: "signing.key")
        }

        private struct Figures: Decodable {
            let answers: Int
            let unanswered: Int
            let unsent: Int
            let seconds: Double
            let statuses: [String: Int]
            let latencyNanoseconds: [String: UInt64]
        }

        private func bench(_ gate: GateProcess, _ options: [String]) throws -> (status: Int32, figures: Figures) {
            let outcome = try Program.mediaToken.run(
                ["bench", "gate", "http://127.0.0.1:\(gate.port)", "--json"] + options)
            return (outcome.status, try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8)))
        }

        @Test("every token is accepted once, flat out; a second time none is, and that is exit 1 unless expected")
        func flatOut() throws {
            let gate = try GateProcess(in: place, GatePlace.strict)
            let tokens = try place.directory.write(try place.tokens(200).joined(separator: "\n"), to: "tokens")
            let first = try bench(gate, ["--tokens", tokens, "--connections", "8"])
            #expect(first.status == 0)
            #expect(first.figures.statuses == ["VALID_TOKEN": 200])
            let second = try bench(gate, ["--tokens", tokens])
            #expect(second.status == 1)
            #expect(second.figures.statuses == ["TOKEN_ALREADY_USED": 200])
            #expect(try bench(gate, ["--tokens", tokens, "--expect", "TOKEN_ALREADY_USED"]).status == 0)
            gate.end()
        }

        @Test("at a set rate, requests are sent when they are due, and a stall shows in the latency")
        func stall() throws {
            let gate = try GateProcess(in: place, GatePlace.strict)
            let tokens = try place.directory.write(try place.tokens(400).joined(separator: "\n"), to: "tokens")
            // For a second in the midst of four.
            gate.signal(SIGSTOP, afterMilliseconds: 2000)
            gate.signal(SIGCONT, afterMilliseconds: 3000)
            let options = ["--tokens", tokens, "--rate", "100", "--seconds", "10"]
            let (status, figures) = try bench(gate, options + ["--connections", "4"])
            #expect(status == 0)
            #expect(figures.answers == 400)
            #expect((3.9...6).contains(figures.seconds))
            // The hundred that were due meanwhile waited, not just the four that were on their way.
            #expect(figures.latencyNanoseconds["p90", default: 0] > 300_000_000)
            gate.end()
        }

        @Test("a stall at the end shows in what was due and not sent")
        func stallAtTheEnd() throws {
            let gate = try GateProcess(in: place, GatePlace.strict)
            let tokens = try place.directory.write(try place.tokens(400).joined(separator: "\n"), to: "tokens")
            gate.signal(SIGSTOP, afterMilliseconds: 1500)
            gate.signal(SIGCONT, afterMilliseconds: 4000)
            let options = ["--tokens", tokens, "--rate", "100", "--seconds", "3", "--connections", "4"]
            let (status, figures) = try bench(gate, options)
            #expect(status == 1)
            #expect(figures.unsent > 50)
            #expect(figures.unanswered == 0)
            gate.end()
        }

        @Test("where nobody answers it says so, and what is half answered is exit 1")
        func unreachable() throws {
            let port = try FreePort.take(1)[0]
            let options = ["--signing-key", signingKey, "--count", "50"]
            let outcome = try Program.mediaToken.run(["bench", "gate", "http://127.0.0.1:\(port)"] + options)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("no answer"))
            let unknown = try Program.mediaToken.run(["bench", "gate", "http://256.1.1.1"] + options)
            #expect(unknown.status == 2)
            #expect(unknown.errors.contains("256.1.1.1: "))
            let gate = try GateProcess(in: place, GatePlace.strict)
            gate.signal(SIGKILL, afterMilliseconds: 2500)
            let (status, figures) = try bench(gate, options.dropLast(2) + ["--count", "400", "--rate", "100"])
            #expect(status == 1)
            #expect(figures.unanswered > 0)
            gate.end()
        }
    }
}
