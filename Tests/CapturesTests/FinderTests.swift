import Basics
import Foundation
import TestSupport
import Testing

@testable import Captures

@Suite struct FinderTests {
    @Test("A token is found in each form that people have", arguments: Form.all)
    func forms(_ form: Form) throws {
        for pieceSize in [8 << 20, 64 << 10] {
            let finding = try #require(tokens(in: form.capture, pieceSize: pieceSize, expecting: form.token).first)
            #expect(finding.clearText == Array(form.token.utf8), "\(finding.way)")
            for layer in form.layers { #expect(finding.way.contains(layer), "\(finding.way)") }
            #expect(tokens(in: form.capture, pieceSize: pieceSize, expecting: form.token).count == 1)
        }
    }

    @Test(
        "A token has the name that stands before it, and no number or escape",
        arguments: [
            ("X-Media-Token: ", ["X-Media-Token"]), (#"{a: "Host: x\nX-Media-Token: "#, ["X-Media-Token"]),
            (#"{a: \u0022mt\u0022:\u0022"#, []), (#"C:\dir\_token="#, ["_token"]),
            ("--media-token=", ["--media-token"]), ("10:04:32: ", []), ("+0100: ", []), ("localhost:8080: ", []),
            ("https://a.example:432 = ", []),
        ])
    func labels(_ before: String, _ names: [String]) {
        #expect(tokens(in: Array((before + Form.token + "\n").utf8)).map(\.way) == [names])
    }

    @Test(
        "A tag that a text mentions hides no token behind it, and is none",
        arguments: [
            "expected <signatureInfo> but got", "no tag `<signatureInfo` in", "<signatureInfo>, then <signatureInfo>: ",
            "<signatureInfo>…</signatureInfo>, not", "<signatureInfo></signatureInfo>", "<signatureInfo>",
        ])
    func mentions(_ mention: String) {
        for text in [Form.token, Form.base64] {
            for separator in [" token=", "\n"] {
                let found = tokens(in: Array((mention + separator + text + "\n" + mention + "\n").utf8))
                #expect(found.map(\.isWhole) == [true], "\(found.map(\.way))")
                let isToken = found.first?.clearText == Array(Form.token.utf8)
                #expect(isToken)
            }
        }
    }

    @Test("A token that was cut is found, and hides none behind it")
    func cuts() {
        for length in [60, 150, 200, 215, 250, 400] {
            for separator in ["\n", " next="] {
                let found = tokens(in: Array((Form.token.prefix(length) + separator + Form.token).utf8))
                #expect(found.map(\.isWhole) == [false, true], "\(length) \(found.map(\.way)) \(found.map(\.line))")
            }
        }
    }

    @Test("A token is found in what a program makes of it", arguments: ProgramForm.all)
    func programs(_ form: ProgramForm) throws {
        let found = tokens(in: try form.capture())
        let finding = try #require(found.first)
        #expect(finding.clearText == Array(Form.token.utf8), "\(finding.way)")
        for layer in form.layers { #expect(finding.way.contains(layer), "\(finding.way)") }
        #expect(found.count == 1, "\(found.map { ($0.way, $0.line, $0.isWhole) })")
    }

    @Test("A token is found under each three layers, in any order", arguments: Form.wrappers, Form.wrappers)
    func layers(_ inner: Form.Wrapper, _ middle: Form.Wrapper) {
        for outer in Form.wrappers {
            let text = outer.wrap(middle.wrap(inner.wrap(Form.token)))
            for capture in [text, "before it=\(text) and=after"] {
                let isFound = tokens(in: Array(capture.utf8)).map(\.clearText) == [Array(Form.token.utf8)]
                #expect(isFound, "\(inner.name), \(middle.name), \(outer.name): \(capture.prefix(120))")
            }
        }
    }

    @Test("A capture without a token gives none")
    func none() {
        for text in [
            "", "{}", "[]", "{", "signatureInfo", "\u{0}\u{0}\u{0}\u{0}", String(repeating: "A", count: 100_000),
        ] {
            #expect(tokens(in: Array(text.utf8)).isEmpty, "\(text.prefix(20))")
        }
    }

    @Test("An answer without a token is found where its quotes are escaped, and where it has no error")
    func escapedDenials() {
        let denial =
            #"{"decisions":[{"resource":"TNT","authorized":false,"error":{"action":"none","code":"denied"}}]}"#
        let quoted = denial.replacing("\"", with: "\\\"")
        for text in [
            "resp=\"\(quoted)\" token=\(Form.token)", "Optional(\"\(quoted)\")\n\(Form.token)",
            "\(denial.replacing("\"", with: "&quot;")) \(Form.token)",
            "{ \"body\": \"\(quoted.replacing("\\", with: #"\\"#).replacing("\"", with: "\\\""))\", \(Form.token)",
        ] {
            let found = findings(in: Array(text.utf8))
            #expect(
                found.compactMap(\.error?.code) == ["denied"] && found.count == 2,
                "\(text.prefix(200)) \(found.map(\.way))")
        }
        let silent =
            #"{"decisions":[{"resource":"TNT","authorized":false,"token":{"serializedToken":"\#(Form.base64)"}}]}"#
        #expect(findings(in: Array(silent.utf8)).compactMap(\.error?.code) == ["authorized is false"])
    }

    @Test(
        "An answer without a token gives the error of Adobe Pass, wherever it stands",
        arguments: [
            ("", ""), ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", "\n"), ("curl -s x\n", ""),
            (Form.token + "\n", "\n" + Form.token),
        ])
    func denials(_ before: String, _ after: String) {
        let denial = #"{"decisions":[{"resource":"TNT","authorized":false,"error":{"action":"none","code":"denied"}}]}"#
        for answer in [denial, #"{"action":"none","status":403,"code":"denied"}"#] {
            let errors = findings(in: Array((before + answer + after).utf8)).compactMap(\.error)
            #expect(errors.map(\.code) == ["denied"])
            #expect(errors.first?.action == "none")
        }
        let tokens = tokens(in: Array((before + denial + after).utf8)).count
        #expect(tokens == (before + after).components(separatedBy: "</authToken>").count - 1)
    }

    @Test("A token is found wherever a piece of the capture ends, once, and on its line")
    func pieces() throws {
        for length in stride(from: 5600, through: 8400, by: 67) {
            let lines =
                String(repeating: "a line of 16 b \n", count: length / 16) + String(repeating: "x", count: length % 16)
            for token in [Form.token, Form.base64, Fixtures.percentEncoded(Form.token)] {
                let found = tokens(in: Array((lines + " " + token + "\nand more\n").utf8), pieceSize: 8192)
                #expect(found.map(\.line) == [length / 16 + 1], "\(length)")
                #expect(found.first?.clearText == Array(Form.token.utf8), "\(length)")
            }
        }
    }

    @Test(
        "Each of several tokens has the line on which it begins",
        arguments: [
            Form.token.replacing("<", with: "&lt;").replacing(">", with: "&gt;"),
            #"""
            {
              "mvpd": "x",
              "action": "none",
              "token": "\#(Form.base64)"
            }
            """#,
            Form.wrapped(Form.token, at: 300, "\n09:12:31 D Gate: "),
            Form.wrapped(Form.token, at: 300),
            Form.wrapped(Form.token, at: 7),
            Form.token,
        ])
    func lines(_ text: String) {
        let text = "09:12:31 D Gate: " + text
        let count = text.components(separatedBy: "\n").count
        let begin = text.contains("{") ? 4 : 1
        let found = tokens(in: Array((text + "\n" + text + "\n" + text + "\n").utf8))
        #expect(found.map(\.line) == [begin, begin + count, begin + 2 * count])
    }

    @Test("A packed text is unpacked up to a limit, and what comes behind it is still found")
    func bombs() throws {
        func bomb(_ megabytes: Int, _ then: String) throws -> String {
            let zeros = "head -c \(megabytes)000000 /dev/zero"
            let command = "(printf '%s ' '\(Form.token)'; \(zeros); printf '%s' '\(Form.token)') | gzip"
            return try Program("sh").succeed(["-c", command + then + " | base64 -w0"])
        }
        let (short, long) = (try bomb(3, ""), try bomb(80, ""))
        #expect(tokens(in: Array("\(short)\n\(try bomb(3, " | gzip"))\n".utf8)).count == 4)
        let text = Array(#"{"a":"\#(long)"}"#.utf8) + Array("\n\(short)\n\(Form.token)\n".utf8)
        #expect(tokens(in: text).count == 4)
        #expect(unread(in: text).first?.hasPrefix("line 1, a › Base64 › gzip: only the first ") == true)
        // A file is the capture itself, and read to its end.
        #expect(tokens(in: Array(try #require(Data(base64Encoded: short)))).count == 2)
    }

    private func unread(in capture: [UInt8]) -> [String] {
        var unread: [String] = []
        TokenFinder(expecting: Form.token).search(capture) { part in
            if case .unread(let reason) = part { unread.append(reason) }
        }
        return unread
    }

    /// Without one budget, the first of these takes time that grows with the square of its length, and the second never
    /// ends.
    @Test(
        "a small capture that would cost without end ends, and says what was left out",
        arguments: [
            "python3 -c 'import sys; sys.stdout.buffer.write(bytes([120, 10, 0x1F, 0x8B, 8]) * 100000)'",
            """
            python3 -c 'import io, sys, zipfile
            def archive(files):
                out = io.BytesIO(); z = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED)
                for name, text in files: z.writestr(name, text)
                z.close(); return out.getvalue()
            inner = archive([("zeros", bytes(20000000))])
            for _ in range(2): inner = archive([(str(n), inner) for n in range(30)])
            sys.stdout.buffer.write(inner)'
            """,
            "python3 -c 'import sys; sys.stdout.buffer.write((b\"PK\\3\\4\" + bytes(26)) * 40000)'",
        ])
    func withoutEnd(command: String) throws {
        let capture = try Program("sh").succeed(["-c", command + " | base64 -w0"])
        let reasons = unread(in: Array(try #require(Data(base64Encoded: capture))))
        #expect(reasons.last?.hasPrefix("not all of it was searched") == true, "\(reasons.suffix(3))")
    }

    @Test("what a budget allows grows with what was read, up to a limit, and no price is paid twice")
    func budget() {
        let budget = CaptureBudget()
        let least = budget.allowed
        #expect(budget.pay(least) && !budget.pay(1) && budget.isExceeded && budget.spent == least)
        budget.add(read: 10)
        #expect(budget.allowed == least + 1000 && budget.pay(1000) && !budget.pay(1))
        budget.add(read: 1 << 24)
        #expect(budget.allowed == least + 1 << 29)
        budget.add(read: 1 << 40)
        #expect(budget.allowed > 1 << 42, "a capture that is not packed may be of any length")
        #expect(budget.ofGuesses.allowed == least)
    }

    @Test("what was left out says where it began")
    func excess() {
        let budget = CaptureBudget()
        #expect(budget.excess == nil)
        for line in [7, 9] {
            budget.place = { "\(line) › HAR › entry 2" }
            #expect(!budget.pay(.max))
        }
        #expect(budget.excess?.hasSuffix("; the first text left out is at line 7 › HAR › entry 2") == true)
        #expect(!budget.ofGuesses.pay(.max) && budget.ofGuesses.excess?.hasSuffix(" bytes") == true)
    }

    @Test("no part of a capture is in two grants, whose length would grow with its square")
    func overlappingGrants() {
        for line in ["CloudFront-Key-Pair-Id=\"\n", "CloudFront-Key-Pair-Id=a;b\"\n", "&Key-Pair-Id=\"a"] {
            let capture = Array(String(repeating: line, count: 2000).utf8)
            var length = 0
            TokenFinder(expecting: Form.token).search(capture) { part in
                for case .grant(let text) in part.findings.map(\.content) { length += text.utf8.count }
            }
            #expect(length > 0 && length <= capture.count, "\(line)")
        }
    }

    @Test("a value in many arrays takes not many times as long as another")
    func nestedArrays() {
        func time(depth: Int) -> Duration {
            let capture = String(repeating: "[", count: depth) + String(repeating: "1,", count: 20_000)
            return Program.processorTime { TokenFinder(expecting: Form.token).search(Array(capture.utf8)) { _ in } }
        }
        let (flat, nested) = (time(depth: 1), time(depth: 60))
        #expect(nested < flat * 8, "\(nested) and \(flat)")
    }

    @Test(
        "a capture of accents takes not many times as long as one of letters",
        arguments: [
            #"{"NAME":{"NAME":{"NAME":{"NAME":{"NAME":{"NAME":{"NAME":[VALUES]}}}}}}}"#,
            #"{"decisions":[{"action":"TEXT","authorized":"TEXT","code":"TEXT","status":403}]}"#,
            #"{"status":403,"message":"TEXT","details":"TEXTa"}"#, #"{"name":"TEXT","value":"eyJ.a"}"#,
            "<error><code>NAME</code><message>NAMEa</message></error>",
            #"{"log":{"entries":[{"request":{"method":"TEXT","url":"TEXT?TEXT=","headers":[{"name":"TEXT","value":""}]}}]}}"#,
            #"{"log":{"entries":[{"_error":"TEXT","request":{"postData":{"text":"a=&TEXT="}}}]}}"#,
        ])
    func accents(form: String) {
        func time(_ character: String) -> Duration {
            let capture = form.replacing("NAME", with: String(repeating: character, count: 40))
                .replacing("TEXT", with: String(repeating: character, count: 6000))
                .replacing("VALUES", with: String(repeating: "{},\"{\",", count: 4000))
            return Program.processorTime { TokenFinder(expecting: Form.token).search(Array(capture.utf8)) { _ in } }
        }
        let (letters, accents) = (time("abcd"), time("\u{301}\u{316}"))
        #expect(accents < letters * 8 + .milliseconds(20), "\(accents) and \(letters)")
    }

    @Test("of many grants, each is found once, with the name of its parameter or without")
    func manyGrants() {
        let grants = (1000..<4000).map { "exp=1700000000~acl=/\($0)*~hmac=\(String(repeating: "0", count: 60))\($0)" }
        let items = grants.map { #"{"url":"https://a.example/?hdnts=\#($0)","value":"\#($0)"}"# }
        var found = 0
        TokenFinder(expecting: Form.token).search(Array("{\"a\":[\(items.joined(separator: ","))]}".utf8)) {
            found += $0.findings.count
        }
        #expect(found == grants.count)
    }

    @Test("What an archive has beside a token is searched too, or said not to be")
    func archives() throws {
        let script = """
            import sys, zipfile
            z = zipfile.ZipFile(sys.stdout.buffer, "w", zipfile.ZIP_DEFLATED)
            for name in ("first", "behind a long one"):
                z.writestr(name, "\(Form.token)")
                z.writestr("repeated", "GET /health 200\\n" * 200000)
            z.writestr(zipfile.ZipInfo("", (2026, 1, 1, 0, 0, 0)), "")
            info = zipfile.ZipInfo("lzma"); info.compress_type = zipfile.ZIP_LZMA; z.writestr(info, "x" * 99)
            z.writestr("last", "\(Form.base64)")
            z.close()
            """
        let archive = try Program("sh").succeed(["-c", "python3 -c '\(script)' | base64 -w0"])
        var (ways, unread) = ([[String]](), [String]())
        TokenFinder(expecting: Form.token).search(Array(try #require(Data(base64Encoded: archive)))) { part in
            ways += part.findings.map(\.way)
            if case .unread(let reason) = part { unread.append(reason) }
        }
        #expect(ways == [["ZIP", "first"], ["ZIP", "behind a long one"], ["ZIP", "last", "Base64"]])
        #expect(unread == ["lzma in the ZIP archive was not searched: it is packed by method 14"])
    }

    @Test(
        "A token whose resource has line breaks, quotes and other letters is found as it was signed",
        arguments: [
            { $0 }, { $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") },
            { (text: String) in
                (0..<2).reduce(text) { text, _ in
                    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
                }
            },
            { $0.replacing("\"", with: "\"\"") }, { $0.replacing("'", with: "''") },
            { $0.replacing("'", with: #"'\''"#) },
            { $0.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : String(format: "\\x%02X", $0) }.joined() },
            { $0.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : String(format: "\\%03o", $0) }.joined() },
        ] as [@Sendable (String) -> String])
    func resources(_ write: @Sendable (String) -> String) {
        let resource = "<rss version=\"2.0\">\n  <channel>\n   <title>Tom's \u{e9}t\u{e9}</title>\n  </channel>\n</rss>"
        let token = Form.token.replacing("TNT", with: resource)
        for capture in ["x=\(write(token))\n", "(\"\(write(token))\")"] {
            let found = findings(in: Array(capture.utf8), expecting: token)
            #expect(found.contains { $0.clearText == Array(token.utf8) }, "\(capture)")
        }
    }

    @Test("Documents within documents take time in proportion to their length")
    func nesting() {
        var text = String(repeating: "A", count: 1000)
        for _ in 0..<8 {
            let open = String(repeating: #"{"action":"#, count: 60)
            text = Data("\(open)\"\(text)\"".utf8).base64EncodedString()
        }
        #expect(tokens(in: Array(text.utf8)).isEmpty)
        #expect(tokens(in: Array((String(repeating: "Bearer ", count: 300_000) + Form.base64).utf8)).count == 1)
    }

    @Test("A service's own code and status are no error of Adobe Pass")
    func otherServices() {
        for text in [#"{"code":200,"status":"ok"}"#, #"{"code":"404","status":404}"#, #"{"code":"x","status":200}"#] {
            #expect(findings(in: Array(text.utf8)).isEmpty, "\(text)")
        }
    }

    private func tokens(
        in capture: [UInt8], pieceSize: Int = 8 << 20, expecting token: String = Form.token
    ) -> [Finding] {
        findings(in: capture, pieceSize: pieceSize, expecting: token).filter {
            if case .token = $0.content { true } else { false }
        }
    }
}

extension Finding {
    /// The error that it is; `nil` if it is none.
    var error: ServiceError? {
        if case .error(let error) = content { error } else { nil }
    }
}

/// Everything that a capture holds, also in the entries of an archive.
func findings(
    in capture: [UInt8], pieceSize: Int = 8 << 20, chunk: Int = 1000, expecting token: String = Form.token
) -> [Finding] {
    var (rest, found) = (capture[...], [Finding]())
    TokenFinder(pieceSize: pieceSize, expecting: token).search {
        defer { rest = rest.dropFirst(chunk) }
        return Array(rest.prefix(chunk))
    } _: { part in
        found += part.findings
    }
    return found
}

extension TokenFinder {
    /// A finder to which this token is good, as if a key had verified it.
    init(pieceSize: Int = 8 << 20, expecting token: String) {
        self.init(pieceSize: pieceSize) { text in
            if text.elementsEqual(token.utf8) { return .good }
            let signature = text.dropFirst("<signatureInfo>".utf8.count).prefix { $0 != UInt8(ascii: "<") }
            let hasForm =
                text.last == UInt8(ascii: ">") && text.starts(with: "<signatureInfo>".utf8)
                && signature.count > 100 && signature.count.isMultiple(of: 4)
                && signature.allSatisfy { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
            return hasForm ? .form : .none
        }
    }
}
