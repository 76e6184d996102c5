import HTTP
import Testing

@Suite("The reader of requests")
struct RequestReaderTests {
    private static let limits = HTTPMessageLimits(headBytes: 1000, contentBytes: 100)

    /// What comes of a connection's bytes that arrive in pieces: each request as text, then the status of a refusal, or
    /// `…` for a request whose end has not come.
    private static func read(_ text: String, inPiecesOf size: Int) -> [String] {
        var (reader, found) = (HTTPRequestReader(limits), [String]())
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { reader.append($0) }
            reading: while true {
                switch reader.next(from: "") {
                case .request(let request): found.append(shown(request))
                case .refused(let refusal): return found + ["\(refusal.status)"]
                case .awaitsContinue: found.append("continue")
                case .unfinished: break reading
                }
            }
        }
        return found + (reader.isInsideRequest ? ["…"] : [])
    }

    private static func shown(_ request: HTTPRequest) -> String {
        let text = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self) }
        let headers = request.headers.filter { $0.name != "Host" }.map { "\($0.name)=\($0.value)" }
        let query = request.query.map { "?" + text($0) } ?? ""
        let parts = [text(request.method), text(request.path) + query] + headers + [text(request.body)]
        return parts.joined(separator: " ") + (request.answerForm.keepsConnection ? "" : "|")
    }

    private static let head = "GET /a HTTP/1.1\r\nHost: h\r\n"
    private static let post = "POST /a HTTP/1.1\r\nHost: h\r\n"

    static let good: [(String, [String])] = [
        ("", []), (head + "\r\n", ["GET /a "]), ("\r\n" + head + "\r\n", ["GET /a "]),
        (head + "\r\n\r\n" + head + "\r\n", ["GET /a ", "GET /a "]),
        ("GET /a?b?c HTTP/1.1\r\nHost:\r\n\r\n", ["GET /a?b?c "]),
        ("GET /? HTTP/1.1\r\nHost: h\r\n\r\n", ["GET /? "]), ("GET /!~ HTTP/1.1\r\nHost: h\r\n\r\n", ["GET /!~ "]),
        (head + "Content-Type: a/b \r\n\r\n", ["GET /a Content-Type=a/b "]),
        ("HEAD /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", ["HEAD /a Content-Length=0 "]),
        (head + "Connection: abcde\r\n\r\n", ["GET /a Connection=abcde "]),
        (head + "A:\t b c\t \r\nA: \r\nA:é\r\n\r\n", ["GET /a A=b c A= A=é "]),
        ("GET /a HTTP/1.0\r\n\r\n", ["GET /a |"]),
        ("GET /a HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n", ["GET /a Connection=x, Keep-Alive "]),
        (head + "Connection: CLOSE ,x\r\n\r\n", ["GET /a Connection=CLOSE ,x |"]),
        (post + "Content-Length: 5\r\n\r\nhello" + head + "\r\n", ["POST /a Content-Length=5 hello", "GET /a "]),
        (post + "content-length: 0\r\n\r\n", ["POST /a content-length=0 "]),
        (
            post + "Content-Length: 0000000000000000000000100\r\n\r\n" + String(repeating: "x", count: 100),
            ["POST /a Content-Length=0000000000000000000000100 " + String(repeating: "x", count: 100)]
        ),
        (
            post + "Transfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0A\r\n0123456789\r\n000\r\n\r\n",
            ["POST /a Transfer-Encoding=CHUNKED abc0123456789|"]
        ),
        (
            post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n00000001\r\nb\r\n00000000\r\n\r\n",
            ["POST /a Transfer-Encoding=chunked ab|"]
        ),
        (
            post + "Transfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n",
            ["POST /a Transfer-Encoding=chunked 0123456789abcdefg|"]
        ),
        (
            post + "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: x\r\nB: c\r\n\r\n",
            ["POST /a Transfer-Encoding=chunked |"]
        ),
        (post + "Content-Length: 5\r\n\r\nhell", ["…"]), (head, ["…"]), ("G", ["…"]), (head + "\r", ["…"]),
        (post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", ["…"]), ("\r\n", []),
        (post + "Expect: 100-Continue\r\n\r\n", ["POST /a Expect=100-Continue "]),
        (post + "Expect: 100-Continue\r\nContent-Length: 0\r\n\r\n", ["POST /a Expect=100-Continue Content-Length=0 "]),
    ]

    @Test("a connection's requests are the same however their bytes arrive", arguments: good)
    func requests(text: String, expected: [String]) {
        for size in [1, 2, 3, 7, 8, 1000] { #expect(Self.read(text, inPiecesOf: size) == expected, "\(size)") }
    }

    static let refused: [(String, Int)] = [
        ("\r\n\r\n", 400), (" GET /a HTTP/1.1\r\n", 400), ("GET  /a HTTP/1.1\r\n", 400), ("GET /a  HTTP/1.1\r\n", 400),
        ("GET /a HTTP/1.1 \r\n", 400), ("GET\t/a HTTP/1.1\r\n", 400), ("GET /a\r\n", 400), ("GET /a http/1.1\r\n", 400),
        ("GET /a HTTP/1.\r\n", 400), ("GE /a HTTP/1.1\r\n", 400), ("GET /a HTTP/1.2\r\n", 400),
        ("GET /a HTTP/2.0\r\n", 400), ("GET /a HTTP/1.1x\r\n", 400),
        ("GET /a HTTP/01.1\r\n", 400), ("GET /a b HTTP/1.1\r\n", 400), ("GET /é HTTP/1.1\r\n", 400),
        ("G(T /a HTTP/1.1\r\n", 400), ("GET /a HTTP/1.1\n", 400), ("GET /a HTTP/1.1\r\r\n", 400), ("\n", 400),
        ("GET /a\u{0} HTTP/1.1\r\n", 400), ("GET /a\u{7F} HTTP/1.1\r\n", 400), ("\u{16}\u{3}\u{1}\u{2}", 400),
        (head + "A b: c\r\n", 400), (head + "A : c\r\n", 400), (head + ": c\r\n", 400), (head + "A\r\n", 400),
        (head + " A: b\r\n", 400), (head + "A: b\r\n c\r\n", 400), (head + "A: b\n", 400), (head + "A: \u{0}\r\n", 400),
        (head + "A: \u{1F}\r\n", 400), (head + "A: \u{7F}\r\n", 400), (head + "A: 1234567\u{7F}\r\n", 400),
        (head + "A: b\rB: c\r\n", 400), (head + "é: c\r\n", 400), (head + "A: \u{B}\r\n", 400),
        ("GET /a HTTP/1.1\r\n\r\n", 400), (head + "Host: h\r\n\r\n", 400),
        ("GET /a HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: a@b\r\n\r\n", 400), ("GET /a HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
        (post + "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n", 400),
        (post + "Content-Length: 5\r\nContent-Length: 5\r\n", 400), (post + "Content-Length: 5, 5\r\n", 400),
        (post + "Content-Length: \r\n", 400), (post + "Content-Length: -1\r\n", 400),
        (post + "Content-Length: +1\r\n", 400),
        (post + "Content-Length: 1 1\r\n", 400), (post + "Content-Length: 0x1\r\n", 400),
        (post + "Content-Length: １\r\n", 400),
        (post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400),
        (post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        (post + "Transfer-Encoding: identity\r\n", 400), (post + "Transfer-Encoding: deflate\r\n", 400),
        (post + "Transfer-Encoding: gzip, chunked\r\n", 400),
        (post + "Transfer-Encoding: chunked;a=b\r\n", 400), (post + "Transfer-Encoding: \r\n", 400),
        ("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", 400),
        (post + "Content-Length: 101\r\n\r\n", 413), (post + "Content-Length: 99999999999999999999\r\n\r\n", 413),
        (post + "Content-Length: 18446744073709551616\r\n\r\n", 413),
        (post + "Content-Length: 9223372036854775809\r\n\r\n", 413),
        (head + "A: \(String(repeating: "x", count: 1000))", 431), ("GET /\(String(repeating: "x", count: 1000))", 431),
        (head + String(repeating: "a:\r\n", count: 513), 431),
        (post + "Expect: x\r\n", 417), (post + "Expect: 100-continue, x\r\n", 417),
        ("HEAD /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", 400),
        ("HEAD /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("get /a HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("TRACE /a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("PRI * HTTP/2.0\r\n\r\n", 400),
    ]

    @Test("what two programs could read in two ways is refused, however it arrives", arguments: refused)
    func refusals(text: String, status: Int) {
        for size in [1, 2, 3, 7, 8, 10_000] {
            #expect(Self.read(text, inPiecesOf: size) == ["\(status)"], "\(size)")
            let behind = Self.read(Self.head + "\r\n" + text, inPiecesOf: size)
            #expect(behind == ["GET /a ", "\(status)"], "\(size)")
        }
    }

    @Test(
        "chunks whose size is more than hexadecimal digits, or whose end is missing, are refused",
        arguments: [
            "0x1", "+1", "-1", "1 ", " 1", "1;a=b", "1;", "", "g", "1\t", "000000001", "ffffffffffffffff", "1_", "１",
        ])
    func chunks(size: String) {
        let text = Self.post + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\na\r\n0\r\n\r\n"
        for pieces in [1, 2, 1000] { #expect(Self.read(text, inPiecesOf: pieces) == ["400"]) }
    }

    @Test("chunks are counted together, and their ends are demanded")
    func chunkEnds() {
        let head = Self.post + "Transfer-Encoding: chunked\r\n\r\n"
        let ten = "a\r\n0123456789\r\n"
        for (text, status) in [
            ("\r\n\r\n", "400"), (String(repeating: ten, count: 10) + "1\r\na", "413"), ("65\r\n", "413"),
            ("80000000\r\n", "413"),
            ("1\r\nab\r\n", "400"), ("1\r\na\n", "400"), ("1\na\r\n", "400"), ("0\r\nA\r\n", "400"),
            ("0\r\n A: b\r\n", "400"),
            ("0\r\n\(String(repeating: "A: b\r\n", count: 200))", "431"),
        ] {
            for size in [1, 7, 10_000] {
                #expect(Self.read(head + text, inPiecesOf: size) == [status], "\(text.prefix(30))")
            }
        }
        let hundred = "POST /a Transfer-Encoding=chunked " + String(repeating: "0123456789", count: 10) + "|"
        #expect(Self.read(head + String(repeating: ten, count: 10) + "0\r\n\r\n", inPiecesOf: 5) == [hundred])
        // A trailer of as many bytes as a head may have, and of one more.
        for (length, outcome) in [(1000, "POST /a Transfer-Encoding=chunked |"), (1001, "431")] {
            let trailer = "A: b\r\nC: " + String(repeating: "d", count: length - 13) + "\r\n\r\n"
            #expect(Self.read(head + "0\r\n" + trailer, inPiecesOf: 7) == [outcome])
        }
    }

    @Test("control characters are found wherever they lie, and no other byte is taken for one")
    func controls() {
        for offset in 0..<20 {
            let begin = Self.head + "A: " + String(repeating: "x", count: offset)
            let end = String(repeating: "x", count: 20) + "\r\n\r\n"
            for control in ["\u{1}", "\u{1F}", "\u{7F}"] {
                #expect(Self.read(begin + control + end, inPiecesOf: 1000) == ["400"], "\(offset)")
            }
            let taken = Self.read(begin + "\u{C0} ~" + end, inPiecesOf: 1000)
            #expect(taken.count == 1 && taken[0].hasPrefix("GET /a A="), "\(offset)")
        }
    }

    @Test(
        "a refusal says what was there",
        arguments: [
            ("GET /a HTTP/1.1\r\n\r\n", "no Host"), (head + "Host: h\r\n\r\n", "several Hosts"),
            (head + "A: b\rB", "a CR without LF"), (head + "A: b\n", "LF alone"), (head + "A: \u{1F}", "character 1f"),
            (post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "Content-Length after Transfer-Encoding"),
            (post + "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length after Content-Length"),
        ])
    func reasons(text: String, reason: String) {
        var reader = HTTPRequestReader(Self.limits)
        Array(text.utf8).withUnsafeBytes { reader.append($0) }
        guard case .refused(let refusal) = reader.next(from: "") else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason.contains(reason))
    }

    @Test("the memory of an unfinished request is counted: its bytes, its fields and its content")
    func memory() {
        var reader = HTTPRequestReader(HTTPMessageLimits(headBytes: 10_000, contentBytes: 10_000))
        func add(_ text: String) {
            Array(text.utf8).withUnsafeBytes { reader.append($0) }
            guard case .unfinished = reader.next(from: "") else {
                Issue.record("expected no end")
                return
            }
        }
        let fields = String(repeating: "a:\r\n", count: 100)
        add(Self.post + fields)
        #expect(reader.heldBytes >= fields.utf8.count + 100 * 16)
        let before = reader.heldBytes
        add("Transfer-Encoding: chunked\r\n\r\n2000\r\n" + String(repeating: "x", count: 5000))
        #expect(reader.heldBytes >= before + 5000)
    }

    @Test("a request has 512 fields at most")
    func fields() {
        for (count, isTaken) in [(512, true), (513, false)] {
            var reader = HTTPRequestReader(HTTPMessageLimits(headBytes: 10_000, contentBytes: 0))
            let text = "GET /a HTTP/1.0\r\n" + String(repeating: "a:\r\n", count: count) + "\r\n"
            Array(text.utf8).withUnsafeBytes { reader.append($0) }
            switch reader.next(from: "") {
            case .request(let request): #expect(isTaken && request.headers.count == count)
            case .refused(let refusal): #expect(!isTaken && refusal.status == 431)
            default: Issue.record("expected an end")
            }
        }
    }

    @Test("a client that waits for 100 Continue gets it once, before its content")
    func awaited() {
        var reader = HTTPRequestReader(Self.limits)
        func add(_ text: String) { Array(text.utf8).withUnsafeBytes { reader.append($0) } }
        add(Self.post + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        guard case .awaitsContinue = reader.next(from: ""), case .unfinished = reader.next(from: "") else {
            Issue.record("expected one wait")
            return
        }
        add("a")
        guard case .request(let request) = reader.next(from: "1.2.3.4") else {
            Issue.record("expected a request")
            return
        }
        #expect(request.body.elementsEqual("a".utf8) && request.peer == "1.2.3.4")
        add(Self.post + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        guard case .awaitsContinue = reader.next(from: "") else {
            Issue.record("expected a wait for chunks too")
            return
        }
    }

    @Test("a header is found whatever its case, and only under its whole name")
    func names() {
        let request = HTTPRequest(
            method: "GET", path: "/",
            headers: [("X-Ab", "1"), ("x-aB", "2"), ("X-A", "3"), ("X-Abc", "4"), ("X@Ab", "5")])
        #expect(request.values(of: "X-AB").map { Array($0) } == [Array("1".utf8), Array("2".utf8)])
        #expect(request.onlyValue(of: "x-ab") == nil && request.onlyValue(of: "x-a") == Array("3".utf8)[...])
    }
}
