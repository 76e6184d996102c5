import Basics
import HTTP
import Testing

@Suite("Connections without their sockets")
struct ConversationTests {
    private static let start = ContinuousClock.now
    private static let date = Array("Thu, 01 Jan 2026 00:00:00 GMT".utf8)

    private static func request(_ path: String, _ fields: String = "") -> String {
        "GET /\(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
    }

    private static func bytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes(body)
    }

    /// A table with one connection.
    private final class One {
        var table: HTTPConnectionTable
        let slot: Int
        var out = ByteWriter(capacity: 256)

        init(_ limits: HTTPLimits = HTTPLimits(), share: Int = 1 << 20) {
            table = HTTPConnectionTable(limits, share: share)
            slot = table.add(from: "a", isSecured: false, at: ConversationTests.start)
        }

        func receive(_ text: String, after seconds: Int = 0) -> HTTPConversation.Event {
            bytes(text) { table.receive(slot, $0, at: start + .seconds(seconds)) }
        }

        func answer(_ ticket: HTTPConnectionTable.Ticket, _ status: Int = 200) -> Bool {
            table.answer(ticket, HTTPAnswer(status), isLast: false, date: date, to: &out, at: start)
        }
    }

    /// What an event asks for: the path of a request to answer, or the status of a refusal.
    private static func shown(_ event: HTTPConversation.Event) -> String {
        switch event {
        case .nothing: "nothing"
        case .sendContinue: "continue"
        case .refuse(let refusal): "\(refusal.status)"
        case .leave: "leave"
        case .answer(let request): String(decoding: request.path, as: UTF8.self)
        }
    }

    @Test("pipelined requests are answered one after the other, and what has come is not lost meanwhile")
    func pipeline() {
        let one = One()
        #expect(Self.shown(one.receive(Self.request("1") + Self.request("2") + "GET /3")) == "/1")
        let first = one.table.ticket(one.slot)
        #expect(!one.table.reads(one.slot) && !one.table.isQuiet)
        #expect(Self.shown(one.receive(" HTTP/1.1\r\nHost: h\r\n\r\n")) == "nothing")
        #expect(one.answer(first) && !one.answer(first))
        #expect(Self.shown(one.table.hasSent(one.slot, at: Self.start)) == "/2")
        #expect(!one.answer(first))
        let second = one.table.ticket(one.slot)
        #expect(one.answer(second))
        #expect(Self.shown(one.table.hasSent(one.slot, at: Self.start)) == "/3")
        let third = one.table.ticket(one.slot)
        #expect(one.answer(third))
        #expect(Self.shown(one.table.hasSent(one.slot, at: Self.start)) == "nothing")
        #expect(one.table.reads(one.slot) && one.table.isQuiet)
        #expect(String(decoding: one.out.bytes, as: UTF8.self).matches(of: /HTTP\/1.1 200 OK/).count == 3)
    }

    @Test("an answer to a client that has gone does not reach the one that came in its place")
    func stale() {
        let one = One()
        #expect(Self.shown(one.receive(Self.request("1"))) == "/1")
        let ticket = one.table.ticket(one.slot)
        #expect(one.table.remove(one.slot) == "a" && one.table.remove(one.slot) == nil && one.table.isQuiet)
        #expect(one.table.add(from: "b", isSecured: false, at: Self.start) == one.slot)
        #expect(Self.shown(one.receive(Self.request("2"))) == "/2")
        #expect(!one.answer(ticket))
        let own = one.table.ticket(one.slot)
        #expect(!one.answer(ticket) && one.out.count == 0)
        #expect(one.answer(own) && one.out.count > 0)
    }

    @Test("after a refusal, after Connection: close and after chunks the connection is left")
    func last() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n", Self.request("", "Connection: close\r\n"), "GET / HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let one = One()
            _ = one.receive(text + Self.request("2"))
            let ticket = one.table.ticket(one.slot)
            #expect(one.answer(ticket))
            #expect(Self.shown(one.table.hasSent(one.slot, at: Self.start)) == "leave", "\(text)")
            #expect(String(decoding: one.out.bytes, as: UTF8.self).contains("\r\nConnection: close\r\n"))
            #expect(Self.shown(one.receive(Self.request("3"))) == "nothing", "\(text)")
            #expect(one.table.reads(one.slot) && one.table.isQuiet)
        }
    }

    @Test("an answer to HEAD has neither body nor length, one to HTTP/1.0 says that the connection stays")
    func forms() {
        for (text, has, lacks) in [
            ("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length"),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n\r\nbody", "close"),
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "Content-Length: 4\r\n\r\nbody", "Connection"),
        ] {
            let one = One()
            _ = one.receive(text)
            let ticket = one.table.ticket(one.slot)
            let answer = HTTPAnswer(200, body: Array("body".utf8))
            _ = one.table.answer(ticket, answer, isLast: false, date: Self.date, to: &one.out, at: Self.start)
            let sent = String(decoding: one.out.bytes, as: UTF8.self)
            #expect(sent.contains(has) && !sent.contains(lacks), "\(sent)")
        }
    }

    @Test("a value with a line break is no part of an answer")
    func lineBreaks() {
        var answer = HTTPAnswer(200)
        for value in ["a\r\nB: c", "a\nb", "a\rb", "a\u{0}", "\u{7F}"] { answer.add("X", value) }
        #expect(answer.headers.isEmpty)
    }

    @Test("what lasts too long is told apart: idle, arriving, sending, leaving, unanswered")
    func deadlines() {
        func overdue(_ one: One, _ seconds: Double) -> String {
            let now = Self.start + .milliseconds(Int(seconds * 1000))
            return one.table.overdue(at: now).map {
                switch $0 {
                case .close: "close"
                case .unanswered: "unanswered"
                }
            }.joined()
        }
        let one = One()
        #expect(overdue(one, 74.9) == "" && overdue(one, 75.1) == "close")
        _ = one.receive("GET", after: 5)
        #expect(overdue(one, 14.9) == "" && overdue(one, 15.1) == "close")
        // A byte now and then does not help.
        _ = one.receive(" /", after: 14)
        #expect(overdue(one, 15.1) == "close")
        _ = one.receive(" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", after: 14)
        #expect(overdue(one, 73.9) == "" && overdue(one, 74.1) == "unanswered")
        let ticket = one.table.ticket(one.slot)
        #expect(one.answer(ticket))
        #expect(overdue(one, 9.9) == "" && overdue(one, 10.1) == "close")
        _ = one.table.hasSent(one.slot, at: Self.start)
        #expect(overdue(one, 1.9) == "" && overdue(one, 2.1) == "close")
        let secured = HTTPConnectionTable(HTTPLimits(), share: 1)
        var table = secured
        _ = table.add(from: "", isSecured: true, at: Self.start)
        #expect(table.overdue(at: Self.start + .seconds(11)).count == 1, "a handshake is part of a request's way")
    }

    @Test("the largest unfinished requests give way, and nothing else does")
    func budget() {
        var table = HTTPConnectionTable(HTTPLimits(), share: 100_000)
        let body = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n"
        func add(_ text: String) -> Int {
            let slot = table.add(from: "", isSecured: false, at: Self.start)
            _ = Self.bytes(text) { table.receive(slot, $0, at: Self.start) }
            return slot
        }
        let small = (0..<10).map { _ in add(body) }
        let waiting = add(Self.request("1") + String(repeating: "x", count: 90_000))
        #expect(!table.isOverfull && table.largest().isEmpty)
        let large = (0..<3).map { _ in add(body + String(repeating: "x", count: 40_000)) }
        #expect(table.isOverfull)
        let chosen = table.largest()
        #expect(!chosen.isEmpty && chosen.allSatisfy(large.contains) && chosen.count < 3)
        for slot in chosen { _ = table.remove(slot) }
        #expect(!table.isOverfull && !table.reads(waiting) && small.allSatisfy { table.reads($0) })
    }

    @Test("what was sent before the answer to the request before it counts while that answer is being sent")
    func pipelinedCounts() {
        let one = One(share: 1000)
        _ = one.receive(Self.request("a"))
        _ = one.receive("GET /b HTTP/1.1\r\nA: " + String(repeating: "x", count: 4000))
        #expect(!one.table.isOverfull, "nothing is closed while a request is answered")
        #expect(one.answer(one.table.ticket(one.slot)))
        #expect(one.table.isOverfull && one.table.largest() == [one.slot])
    }

    @Test("while requests that wait for their answers take all memory that they may, others are refused")
    func waitingCounts() {
        var table = HTTPConnectionTable(HTTPLimits(), share: 30_000)
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: "
        let text = head + "12000\r\n\r\n" + String(repeating: "x", count: 12_000)
        let slots = (0..<4).map { _ in table.add(from: "", isSecured: false, at: Self.start) }
        let events = slots.map { slot in Self.bytes(text) { table.receive(slot, $0, at: Self.start) } }
        #expect(events.map(Self.shown) == ["/a", "/a", "503", "503"] && table.isCrowded)
        var out = ByteWriter(capacity: 256)
        for slot in slots {
            let isWanted = table.answer(
                table.ticket(slot), HTTPAnswer(200), isLast: false, date: [], to: &out, at: Self.start)
            #expect(isWanted)
            _ = table.hasSent(slot, at: Self.start)
        }
        #expect(out.text.ranges(of: "Connection: close").count == 2 && !table.isCrowded && table.isQuiet)
        #expect(Self.shown(Self.bytes(text) { table.receive(slots[0], $0, at: Self.start) }) == "/a")
        #expect(Self.shown(Self.bytes(text) { table.receive(slots[1], $0, at: Self.start) }) == "/a")
        // Also a request that had come before the answer to the one before it.
        let last = table.add(from: "", isSecured: false, at: Self.start)
        #expect(Self.shown(Self.bytes(Self.request("b")) { table.receive(last, $0, at: Self.start) }) == "/b")
        _ = Self.bytes(text) { table.receive(last, $0, at: Self.start) }
        let isWanted = table.answer(
            table.ticket(last), HTTPAnswer(200), isLast: false, date: [], to: &out, at: Self.start)
        #expect(isWanted)
        #expect(Self.shown(table.hasSent(last, at: Self.start)) == "503")
        #expect(table.remove(slots[0]) != nil && !table.isQuiet)
    }

    @Test("small requests are taken however many wait, large ones then are not")
    func smallRequests() {
        var table = HTTPConnectionTable(HTTPLimits(), share: 30_000)
        func receive(_ length: Int) -> HTTPConversation.Event {
            let slot = table.add(from: "", isSecured: false, at: Self.start)
            let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n"
            return Self.bytes(head + String(repeating: "x", count: length)) { table.receive(slot, $0, at: Self.start) }
        }
        for _ in 0..<10 { #expect(Self.shown(receive(7000)) == "/a") }
        #expect(Self.shown(receive(12_000)) == "503")
        #expect(Self.shown(receive(7000)) == "/a")
    }

    @Test("bytes behind an answer are told, and are no part of it")
    func surplus() throws {
        var reader = HTTPAnswerReader()
        let text = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP".utf8)
        text.withUnsafeBytes { reader.append(UnsafeRawBufferPointer(rebasing: $0[..<40])) }
        #expect(try reader.next()?.body == Array("ok".utf8) && reader.isEmpty)
        text.withUnsafeBytes { reader.append($0) }
        #expect(try reader.next()?.body == Array("ok".utf8) && !reader.isEmpty)
    }

    @Test("bytes, texts and numbers are written one after the other, however much there is")
    func writer() {
        var writer = ByteWriter(capacity: 0)
        var expected = ""
        for number in [0, 9, 10, 99, 1_000_000, Int64.max, -1, Int64.min] {
            writer.write(decimal: number)
            writer.write(", ")
            expected += "\(number), "
        }
        for length in [0, 1, 15, 16, 17, 1000] {
            let text = String(repeating: "é", count: length)
            writer.write(text: text)
            writer.write(UInt8(ascii: "/"))
            writer.write(Array(text.utf8))
            expected += text + "/" + text
        }
        #expect(writer.bytes == Array(expected.utf8) && writer.count == expected.utf8.count)
        writer.removeAll()
        writer.write("new")
        #expect(writer.bytes == Array("new".utf8))
    }

}
