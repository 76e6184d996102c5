import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

/// The tokens of these tests were issued at 2023-11-14 22:13:20 UTC, and live for seven minutes.
@Suite("Calls that are no HAR file's")
struct TranscriptTests {
    private let keys = KeyPair()

    private struct Line: Decodable {
        struct Note: Decodable { let kind: String }
        let code: String
        let call: String?
        let status: Int?
        let notes: [Note]?
        let way: [String]?
        let line: Int?
    }

    private func inspect(_ capture: Data) throws -> [Line] {
        let outcome = try Program.mediaToken.run(["inspect", "--json", "--key", keys.open, "-"], input: capture)
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    /// Two plays with one token, the first of which is denied.
    private func exchange(_ token: String) -> [(request: String, answer: String)] {
        [("TOKEN_EXPIRED", "403 Forbidden", "22:30:00"), ("VALID_TOKEN", "200 OK", "22:15:00")].map {
            code, status, time in
            let (sent, came) = ("{\"token\":\"\(token)\"}", "{\"code\":\"\(code)\"}\n")
            return (
                "POST /v1/play HTTP/1.1\r\nHost: play.example\r\nContent-Type: application/json\r\nContent-Length: "
                    + "\(sent.utf8.count)\r\n\r\n\(sent)",
                "HTTP/1.1 \(status)\r\nDate: Tue, 14 Nov 2023 \(time) GMT\r\nContent-Length: \(came.utf8.count)\r\n\r\n\(came)"
            )
        }
    }

    private func headers(_ message: String) -> [(name: String, value: String)] {
        message.components(separatedBy: "\r\n").dropFirst().prefix { !$0.isEmpty }.map { line in
            let parts = line.components(separatedBy: ": ")
            return (parts[0], parts[1])
        }
    }

    private func body(_ message: String) -> String { message.components(separatedBy: "\r\n\r\n")[1] }

    private func expectTwoPlays(_ lines: [Line], _ form: String, in archive: String = "HTTP") {
        let calls = lines.filter { $0.code == "CALL" }
        #expect(calls.map(\.call) == ["play", "play"] && calls.map(\.status) == [403, 200], "\(form): \(lines)")
        #expect(calls.first?.notes?.map(\.kind) == ["failed"], "\(form): \(lines)")
        #expect(calls.last?.notes?.map(\.kind) == ["used twice"], "\(form): \(lines)")
        let tokens = lines.filter { $0.code != "CALL" }
        #expect(tokens.map(\.code) == ["TOKEN_EXPIRED", "VERIFIED"], "\(form): \(lines)")
        #expect(tokens.allSatisfy { $0.way?.contains(archive) == true }, "\(form): \(lines)")
    }

    @Test("bytes of a connection, what a proxy prints and what an app logs are calls")
    func forms() throws {
        let token = Fixtures.base64(try Mint.token())
        let calls = exchange(token)
        let raw = calls.map { $0.request + "\n" + $0.answer }.joined()
        expectTwoPlays(try inspect(Data(raw.utf8)), "raw")
        func lines(_ text: String) -> [String] {
            text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        let mitmdump = calls.map { call in
            func block(_ text: String, _ head: (String) -> String) -> String {
                let all = lines(text)
                return ([head(all[0])] + all.dropFirst().map { $0.isEmpty ? "" : "    " + $0 }).joined(separator: "\n")
            }
            return block(call.request) { "127.0.0.1:52345: " + $0.replacing("/v1", with: "http://play.example/v1") }
                + "\n\n"
                + block(call.answer) { " << " + $0 } + "\n"
        }.joined(separator: "\n")
        expectTwoPlays(try inspect(Data(mitmdump.utf8)), "mitmdump")
        let log = calls.enumerated().flatMap { index, call -> [String] in
            let (sent, came) = (lines(call.request), lines(call.answer))
            let status = came[0].split(separator: " ")[1]
            return ["--> POST https://play.example/v1/play"] + sent.dropFirst() + ["--> END POST (9-byte body)"]
                + ["<-- \(status) https://play.example/v1/play (41ms)"] + came.dropFirst() + ["<-- END HTTP"]
        }
        let okhttp = log.enumerated().map { "11-14 22:13:2\($0 % 10).112  8123  8160 D OkHttp  : \($1)\n" }.joined()
        expectTwoPlays(try inspect(Data(okhttp.utf8)), "OkHttp")
        let other = "11-14 22:13:20.113  8123  8170 I chatty  : the same again\n"
        let interleaved = okhttp.split(separator: "\n").map { $0 + "\n" + other }.joined()
        expectTwoPlays(try inspect(Data(interleaved.utf8)), "OkHttp among others")
        // What is not a call's stays a finding of its line.
        let after = okhttp + "11-14 22:13:29.112  8123  8160 D App     : setToken \(token)\n"
        let last = try #require(try inspect(Data(after.utf8)).last)
        #expect(last.way == ["Base64", "clear"] && last.line == log.count + 1, "\(last)")
    }

    @Test("sessions that Charles or mitmproxy saved are calls")
    func saved() throws {
        let token = Fixtures.base64(try Mint.token())
        let calls = zip(exchange(token), ["22:30:00.1", "22:15:00.1"]).map { call, time -> [String: Any] in
            func part(_ text: String) -> [String: Any] {
                let all = headers(text).map { ["name": $0.name, "value": $0.value] }
                return ["header": ["headers": all], "body": ["text": body(text)]]
            }
            let status = Int(call.answer.split(separator: " ")[1]) ?? 0
            return [
                "method": "POST", "protocolVersion": "HTTP/1.1", "scheme": "https", "host": "play.example",
                "port": NSNull(),
                "actualPort": 443, "path": "/v1/play", "query": NSNull(),
                "times": ["start": "2023-11-14T\(time)Z"], "request": part(call.request),
                "response": part(call.answer).merging(["status": status]) { $1 },
            ]
        }
        expectTwoPlays(try inspect(JSONSerialization.data(withJSONObject: calls)), "Charles", in: "Charles")
        func netstring(_ text: String, _ type: Character = ",") -> String { "\(text.utf8.count):\(text)\(type)" }
        func object(_ members: KeyValuePairs<String, String>) -> String {
            netstring(members.map { netstring($0) + $1 }.joined(), "}")
        }
        let flows = zip(exchange(token), ["1700001000.1", "1700000100.1"]).map { call, time in
            func headers(_ text: String) -> String {
                netstring(self.headers(text).map { netstring(netstring($0) + netstring($1), "]") }.joined(), "]")
            }
            let response = object([
                "content": netstring(body(call.answer)), "headers": headers(call.answer),
                "status_code": netstring(String(call.answer.split(separator: " ")[1]), "#"),
            ])
            let request = object([
                "content": netstring(body(call.request)), "headers": headers(call.request),
                "path": netstring("/v1/play"),
                "scheme": netstring("https"), "method": netstring("POST"), "host": netstring("play.example"),
                "timestamp_start": netstring(time, "^"),
            ])
            return object(["version": netstring("21", "#"), "response": response, "request": request])
        }
        // mitmproxy writes a flow when it ends; the one that began first is the use.
        for flows in [flows, flows.reversed()] {
            let lines = try inspect(Data(flows.joined().utf8))
            let calls = lines.filter { $0.code == "CALL" }
            #expect(calls.map(\.status) == [200, 403], "\(lines)")
            #expect(calls.map { $0.notes?.map(\.kind) } == [[], ["used twice", "failed"]], "\(lines)")
            #expect(lines.filter { $0.code != "CALL" }.map(\.code) == ["VERIFIED", "TOKEN_EXPIRED"], "\(lines)")
            #expect(lines.allSatisfy { $0.code == "CALL" || $0.way?.contains("mitmproxy") == true }, "\(lines)")
        }
        // The second one was not written to its end.
        let cut = try inspect(Data(flows.joined().utf8.dropLast(100)))
        #expect(cut.map(\.code) == ["CALL", "TOKEN_EXPIRED", "VERIFIED"], "\(cut)")
    }

    @Test("a text that only resembles a saved session is searched as what it is")
    func resembling() throws {
        let token = Fixtures.base64(try Mint.token())
        for (text, way) in [
            ("2001:470:b0c5:1::7 - - GET /play?t=\(token)\n", "t"), ("12:5:POST t=\(token)\n", "t"),
            (
                #"[{"_index": 1, "_source": {"protocolVersion": 1, "actualPort": 2, "token": "\#(token)"}}]"#,
                "[0]._source.token"
            ),
        ] {
            let lines = try inspect(Data(text.utf8))
            #expect(lines.map(\.code) == ["VERIFIED"] && lines[0].way?.first == way, "\(text.prefix(40)): \(lines)")
        }
    }

    @Test("a link of a mail gateway is restored only where it is one, and says what each * stands for")
    func links() throws {
        let token = Fixtures.base64(try Mint.token())
        let damaged = token.prefix(100) + "*" + token.dropFirst(100)
        let gateway = "https://urldefense.com/v3/__https://a.example/x?n=Caf*&t="
        #expect(try inspect(Data("\(gateway)\(token)__;w6k!!A!b$".utf8)).map(\.code) == ["VERIFIED"])
        for text in ["\(gateway)\(damaged)__;w6k!!A!b$", "https://a.example/v3/__/x?t=\(damaged)__;"] {
            #expect(try inspect(Data(text.utf8)).map(\.code) != ["VERIFIED"], "\(text.prefix(60))")
        }
    }

    @Test("what curl -v prints is a call, with a token in its query or its header")
    func curl() throws {
        let token = Fixtures.base64(try Mint.token())
        let text = """
            *   Trying 127.0.0.1:8099...
            > GET /live/1.m3u8?media_token=\(token) HTTP/1.1
            > Host: play.example
            > Accept: */*
            >\u{20}
            * Mark bundle as not supporting multiuse
            < HTTP/1.1 403 Forbidden
            < Date: Tue, 14 Nov 2023 22:30:00 GMT
            <\u{20}
            { [14 bytes data]
            {"code":"TOKEN_EXPIRED"}
            * Connection #0 to host left intact
            """
        let lines = try inspect(Data(text.utf8))
        #expect(lines.map(\.code) == ["CALL", "TOKEN_EXPIRED"] && lines[0].status == 403, "\(lines)")
        #expect(lines[1].way?.contains("request.url") == true, "\(lines)")
    }

    @Test("lines that only mention a request are no calls")
    func mentions() throws {
        let token = Fixtures.base64(try Mint.token())
        for text in [
            "203.0.113.7 - - [14/Nov/2023:22:15:00 +0000] \"GET /live?media_token=\(token) HTTP/1.1\" 200 5 \"-\"",
            "127.0.0.1:52345: GET http://play.example/live?media_token=\(token) HTTP/1.1\n",
            "GET /live?media_token=\(token) HTTP/1.1 was refused: see below\nReason: expired\n\n",
        ] {
            let lines = try inspect(Data(text.utf8))
            #expect(lines.count == 1 && lines[0].way?.contains("HTTP") == false, "\(text): \(lines)")
        }
    }

    @Test("packets are put together by their numbers, whatever their order, in both formats of files")
    func packets() throws {
        let calls = exchange(Fixtures.base64(try Mint.token()))
        var frames: [[UInt8]] = []
        var (sent, came) = (UInt32.max - 100, UInt32(7))
        for call in calls {
            for (isRequest, text) in [(true, call.request), (false, call.answer)] {
                var parts: [[UInt8]] = []
                let bytes = Array(text.utf8)
                for begin in stride(from: 0, to: bytes.count, by: 200) {
                    let part = Array(bytes[begin..<min(begin + 200, bytes.count)])
                    parts.append(Self.frame(part, isRequest ? sent : came, fromClient: isRequest))
                    if isRequest { sent &+= UInt32(part.count) } else { came &+= UInt32(part.count) }
                }
                // The first one must be known by its place; the others come in any order, one twice, and one with a
                // part that is known.
                frames += [parts[0]] + parts.dropFirst().reversed() + [parts[0]]
                let place = (isRequest ? sent : came) &- UInt32(bytes.count)
                frames.append(Self.frame(Array(bytes.prefix(250)), place, fromClient: isRequest))
            }
        }
        let pcap =
            [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 12) + [1, 0, 0, 0]
            + frames.flatMap { [UInt8](repeating: 0, count: 8) + Self.little($0.count) + Self.little($0.count) + $0 }
        expectTwoPlays(try inspect(Data(pcap)), "pcap")
        let blocks = frames.map { frame in
            let padded = frame + [UInt8](repeating: 0, count: (4 - frame.count % 4) % 4)
            return Self.block(
                6, [UInt8](repeating: 0, count: 12) + Self.little(frame.count) + Self.little(frame.count) + padded)
        }
        let section: [UInt8] = [0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
        let pcapng =
            Self.block(0x0A0D_0D0A, section) + Self.block(1, [1, 0, 0, 0, 0, 0, 0, 0]) + blocks.flatMap(\.self)
        expectTwoPlays(try inspect(Data(pcapng)), "pcapng")
    }

    private static func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func block(_ kind: Int, _ content: [UInt8]) -> [UInt8] {
        little(kind) + little(content.count + 12) + content + little(content.count + 12)
    }

    /// A frame of Ethernet with a packet of IPv4 and a segment of TCP.
    private static func frame(_ content: [UInt8], _ sequence: UInt32, fromClient: Bool) -> [UInt8] {
        let ends: [[UInt8]] = [[10, 0, 0, 1], [10, 0, 0, 2]], ports: [[UInt8]] = [[0xC8, 0x15], [0, 80]]
        let (from, to) = fromClient ? (0, 1) : (1, 0)
        let length = 40 + content.count
        let numbers = (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (24 - $0 * 8)) }
        let packet: [UInt8] =
            [0x45, 0, UInt8(length >> 8), UInt8(length & 255), 0, 1, 0, 0, 64, 6, 0, 0] + ends[from] + ends[to]
        let segment: [UInt8] = ports[from] + ports[to] + numbers + [0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]
        return [UInt8](repeating: 2, count: 12) + [8, 0] + packet + segment + content
    }

    @Test("Fiddler's two files of a call are one")
    func fiddler() throws {
        let directory = try TemporaryDirectory()
        let calls = exchange(Fixtures.base64(try Mint.token()))
        let archive = try directory.write("", to: "s.saz")
        var script = "import zipfile\nz = zipfile.ZipFile('\(archive)', 'w', zipfile.ZIP_DEFLATED)\n"
        for (index, call) in calls.enumerated() {
            for (end, text) in [("c.txt", call.request), ("m.xml", "<Session/>"), ("s.txt", call.answer)] {
                let file = try directory.write(text, to: "\(index)_\(end)")
                script += "z.write('\(file)', 'raw/0\(index)_\(end)')\n"
            }
        }
        let made = try Program("python3").run(["-c", script + "z.close()"])
        #expect(made.status == 0, "\(made)")
        let lines = try inspect(try Data(contentsOf: URL(filePath: archive)))
        expectTwoPlays(lines, "Fiddler")
    }

    @Test("what a header says of a length takes nothing away, and an answer without a request stays text")
    func lengths() throws {
        let token = Fixtures.base64(try Mint.token())
        let request = "GET /live HTTP/1.1\nHost: play.example\n\n"
        for (text, status, isCalls) in [
            ("\(request)HTTP/1.1 200 OK\nContent-Length: -1\n\n\(token)\n", 200, true),
            (
                "\(request)HTTP/1.1 200 OK\nContent-Length: 9\nContent-Encoding: gzip\n\n{\"a\":1,\n\"b\":\"\(token)\"}\n",
                200, true
            ),
            ("\(request)HTTP/1.1 103 Early Hints\nLink: a\n\nHTTP/1.1 200 OK\nA: b\n\n\(token)\n", 200, true),
            ("\(request)HTTP/1.1 302 Found\nLocation: a\n\nHTTP/1.1 200 OK\nA: b\n\n\(token)\n", 302, false),
            (
                "\(request)HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n\(String(token.utf8.count, radix: 16))\n\(token)\n0\n",
                200, true
            ),
        ] {
            let lines = try inspect(Data(text.utf8))
            let tokens = lines.filter { $0.code != "CALL" }
            #expect(
                tokens.map(\.code) == ["VERIFIED"] && tokens[0].way?.contains("HTTP") == isCalls, "\(text): \(lines)")
            #expect(isCalls ? lines.first?.status == status : true, "\(text): \(lines)")
        }
        let sent = "media_token=\(token.replacing("=", with: "%253D"))"
        for interim in ["", "HTTP/1.1 100 Continue\n\n"] {
            let text =
                "POST /play HTTP/1.1\nHost: a\nContent-Length: \(sent.utf8.count)\n\n\(interim)\(sent)\nHTTP/1.1 200 OK\nA: b\n\n"
            #expect(try inspect(Data(text.utf8)).last?.code == "INVALID_TOKEN_FORMAT", "\(interim)")
        }
        let retried = "--> POST https://b/play\nX-Media-Token: \(token)\n--> END POST\n"
        let failed = "<-- HTTP FAILED: java.net.SocketTimeoutException: timeout\n"
        let text =
            "\(retried)\(failed)\(retried)<-- 200 https://b/play (12ms)\nA: b\n\nok\n<-- END HTTP (2-byte body)\n"
        let calls = try inspect(Data(text.utf8)).filter { $0.code == "CALL" }
        #expect(calls.map { $0.notes?.last?.kind } == ["no answer arrived", "sent again"], "\(calls)")
        for header in [
            "Cookie: a=b; mt=\(token); c=d", "cookie: mt=\"\(token)\"", "Authorization: bearer \(token)", "X: \(token)",
        ] {
            let lines = try inspect(Data("GET /a HTTP/1.1\nHost: b\n\(header)\n\n".utf8))
            #expect(
                lines.map(\.code) == ["CALL", "VERIFIED"] && lines[0].notes?.isEmpty == true, "\(header): \(lines)")
        }
        let folded = "GET /a HTTP/1.1\nX-Media-Token: \(token.prefix(76))\n \(token.dropFirst(76))\n\n"
        #expect(try inspect(Data(folded.utf8)).map(\.code) == ["VERIFIED"])
        let piped =
            "GET /a HTTP/1.1\nA: b\n\nGET /b?\(token) HTTP/1.1\nA: b\n\nHTTP/1.1 402 A\nA: b\n\nHTTP/1.1 201 B\nA: b\n\n"
        #expect(try inspect(Data(piped.utf8)).first { $0.call == "/b" }?.status == 201)
    }
}
