import Basics
import HTTP
import TestSupport
import Testing

@Suite("Connections without their sockets, by schedules that chance makes")
struct ConversationScheduleTests {
    private static let start = ContinuousClock.now

    /// A request of a client whose server must not mix anything up.
    private enum Sent: CaseIterable {
        case plain, content, expecting, chunks, broken

        func text(_ path: String) -> String {
            switch self {
            case .plain: "GET /\(path) HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n"
            case .content: "POST /\(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
            case .expecting:
                "POST /\(path) HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"
            case .chunks: "POST /\(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            case .broken: "GET /\(path) HTTP/1.1\nHost: h\r\n\r\n"
            }
        }

        /// Whether the connection ends with the answer.
        var isLast: Bool { self == .chunks || self == .broken }
    }

    /// Clients that send requests piece by piece, and what the table makes of them.
    private struct Schedule {
        struct Client {
            var unsent: [UInt8] = []
            var sent: [Sent] = []
            var answered = 0
            var waiting: HTTPConnectionTable.Ticket?
            var hasLeft = false
        }

        var table = HTTPConnectionTable(HTTPLimits(), share: .max)
        var clients: [Int: Client] = [:]

        mutating func add(isSecured: Bool) {
            clients[table.add(from: "", isSecured: isSecured, at: start)] = Client()
        }

        mutating func remove(_ slot: Int) {
            #expect(table.remove(slot) != nil)
            clients[slot] = nil
        }

        mutating func write(_ slot: Int, _ request: Sent) {
            guard var client = clients[slot] else { return }
            client.unsent += request.text("\(client.sent.count)").utf8
            client.sent.append(request)
            clients[slot] = client
        }

        /// Has the next bytes arrive, if the server reads.
        mutating func deliver(_ slot: Int, atMost count: Int) {
            guard table.reads(slot), let piece = clients[slot]?.unsent.prefix(count), !piece.isEmpty else { return }
            clients[slot]?.unsent.removeFirst(piece.count)
            take(piece.withUnsafeBytes { table.receive(slot, $0, at: start) }, slot)
        }

        /// Answers the request that waits; false if none does.
        mutating func answer(_ slot: Int) -> Bool {
            guard let ticket = clients[slot]?.waiting else { return false }
            var out = ByteWriter(capacity: 256)
            clients[slot]?.waiting = nil
            clients[slot]?.answered += 1
            let isWanted = table.answer(ticket, HTTPAnswer(200), isLast: false, date: [], to: &out, at: start)
            #expect(isWanted)
            take(table.hasSent(slot, at: start), slot)
            return true
        }

        private mutating func take(_ event: HTTPConversation.Event, _ slot: Int) {
            guard let client = clients[slot] else { return }
            let next = client.answered < client.sent.count ? client.sent[client.answered] : nil
            if client.hasLeft {
                guard case .nothing = event else {
                    Issue.record("\(event) on a connection that was left")
                    return
                }
            }
            switch event {
            case .nothing: return
            case .sendContinue: #expect(next == .expecting)
            case .refuse:
                #expect(next == .broken)
                clients[slot]?.waiting = table.ticket(slot)
            case .leave:
                #expect(client.sent[client.answered - 1].isLast)
                clients[slot]?.hasLeft = true
            case .answer(let request):
                #expect(next != nil && next != .broken)
                #expect(String(decoding: request.path, as: UTF8.self) == "/\(client.answered)")
                #expect(request.body.elementsEqual((next == .plain ? "" : "abc").utf8))
                clients[slot]?.waiting = table.ticket(slot)
            }
        }
    }

    @Test(
        "whatever clients send and whenever they are answered, each request is answered once and in its order",
        arguments: 0..<50)
    func schedules(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var schedule = Schedule()
        for _ in 0..<400 {
            let slot = schedule.clients.keys.sorted().randomElement(using: &random)
            switch (Int.random(in: 0..<10, using: &random), slot) {
            case (0, _), (_, nil): schedule.add(isSecured: .random(using: &random))
            case (1, let slot?) where Bool.random(using: &random): schedule.remove(slot)
            case (1...3, let slot?):
                // Few end the connection, so that most have long conversations.
                let isOther = Int.random(in: 0..<8, using: &random) == 0
                let kinds = isOther ? Sent.allCases : [.plain, .content, .expecting]
                schedule.write(slot, kinds.randomElement(using: &random) ?? .plain)
            case (4...6, let slot?): schedule.deliver(slot, atMost: .random(in: 1...200, using: &random))
            case (_, let slot?): _ = schedule.answer(slot)
            }
            #expect(schedule.table.isQuiet == schedule.clients.values.allSatisfy { $0.waiting == nil })
            #expect(schedule.table.isEmpty == schedule.clients.isEmpty)
        }
        for slot in schedule.clients.keys {
            // Each request is one delivery and one answer at most.
            for _ in 0..<(2 * (schedule.clients[slot]?.sent.count ?? 0) + 2) {
                if !schedule.answer(slot) { schedule.deliver(slot, atMost: .max) }
            }
        }
        for client in schedule.clients.values {
            let last = client.sent.firstIndex(where: \.isLast)
            #expect(client.answered == last.map { $0 + 1 } ?? client.sent.count)
            #expect(client.hasLeft == (last != nil))
        }
    }
}
