internal import Basics

/// The calls that a text shows: as they went over a connection, as `curl -v` and mitmdump print them, or as OkHttp logs
/// them.
///
/// A message is a line that begins one, with at least one header below it, a blank line, and what follows up to the
/// next message. Each of its lines may have the same frame: `> `, an indent, or what a logger writes before it, in
/// which digits may differ.
struct HTTPTranscript {
    /// The way's name of calls that no HAR file has.
    static let name = "HTTP"

    /// A value at the path that it has in an entry of a HAR file.
    private typealias Value = (path: [JSONWalker.Step], value: [UInt8], line: Int)

    private let lines: [ArraySlice<UInt8>]
    private var next = 0
    /// The place before which no message begins: the lines there were read as headers, and were none.
    private var plainUntil = 0
    private var calls: [(target: String, values: [Value], isAnswered: Bool)] = []
    /// The last calls without a response, by their places.
    private var open: [Int] = []
    /// The text without its calls. It has the same lines.
    private(set) var rest: [UInt8] = []

    /// The lines of other writers within messages.
    private var others: Set<Int> = []

    private static let mostOpen = 32
    private static let mostOthers = 8

    /// Reads the calls of a text; `nil` if it shows none.
    init?(_ text: ArraySlice<UInt8>) {
        guard ["HTTP/", "--> "].contains(where: { text.firstRange(of: Array($0.utf8)) != nil }) else { return nil }
        lines = (text.last == 0x0A ? text.dropLast() : text).split(separator: 0x0A, omittingEmptySubsequences: false)
        while next < lines.count {
            let begin = next
            let start = next < plainUntil ? nil : Start(lines[next])
            let isCall = start.map { start in readMessage(start).map { add($0, start) } ?? false } ?? false
            next = max(next, begin + 1)
            for index in begin..<next { rest += (isCall && !others.contains(index) ? [] : lines[index]) + [0x0A] }
        }
        guard !calls.isEmpty else { return nil }
    }

    /// Adds a message.
    ///
    /// - Returns: Whether it is a request or the response to one.
    private mutating func add(_ values: [Value], _ start: Start) -> Bool {
        guard let status = start.status else {
            open = open.suffix(Self.mostOpen) + [calls.count]
            calls.append((start.target, values, false))
            return true
        }
        // Another response to the same request follows a 103.
        guard status >= 200 || status == 101 else { return false }
        // Responses on a connection have the order of their requests (RFC 9112, 9.3.2); a logger may name the URL.
        let named = start.target.isEmpty ? nil : open.lastIndex { calls[$0].target.hasSameBytes(as: start.target) }
        let place = named ?? (start.frame.isEmpty ? open.indices.first : open.indices.last)
        guard let place else { return false }
        let index = open.remove(at: place)
        calls[index].values += values
        calls[index].isAnswered = true
        return true
    }

    /// Reports each value of the calls at the path that it has in a HAR file.
    func report(_ take: ([JSONWalker.Step], [UInt8], Int) -> Void) {
        let hasAnswers = calls.contains(where: \.isAnswered)
        for (index, call) in calls.enumerated() {
            let entry: [JSONWalker.Step] = [.name("log"), .name("entries"), .index(index)]
            for (path, value, line) in call.values { take(entry + path, value, line) }
            // As browsers write it of a call that got no response.
            guard hasAnswers, !call.isAnswered, let line = call.values.last?.line else { continue }
            take(entry + [.name("response"), .name("status")], Array("0".utf8), line)
        }
    }

    /// Reads the message whose first line comes next; `nil`, and nothing is read, if no header follows it.
    private mutating func readMessage(_ start: Start) -> [Value]? {
        let first = next
        next += 1
        passOthers(start.frame)
        let line = next < lines.count ? lines[next] : []
        let frames = [start.frame, line.prefix(while: \.isBlank)]
        guard let frame = frames.first(where: { Self.header(line, in: $0) != nil }) else {
            next = first
            return nil
        }
        let part: JSONWalker.Step = start.status == nil ? .name("request") : .name("response")
        var (values, fields, count) = ([Value](), [String: ArraySlice<UInt8>](), 0)
        let time = LineTime(beginning: lines[first])
        while next < lines.count, let (name, value) = Self.header(lines[next], in: frame) {
            let path = [part, .name("headers"), .index(count)]
            values.append((path + [.name("name")], Array(name.utf8), next + 1))
            values.append((path + [.name("value")], Array(value), next + 1))
            fields[name.lowercased()] = fields[name.lowercased()] ?? value
            (count, next) = (count + 1, next + 1)
            passOthers(frame)
        }
        // A header that goes on in the next line is none that a server reads; the text is searched as it stands.
        if frame.isEmpty, next < lines.count, !lines[next].allSatisfy(\.isASCIIWhiteSpace), !Self.isEnd(lines[next]),
            Start(lines[next]) == nil
        {
            (next, plainUntil) = (first, next)
            return nil
        }
        if let status = start.status {
            values.append(([part, .name("status")], Array("\(status)".utf8), first + 1))
        } else {
            if let time, time.hasZone { values.append(([.name("startedDateTime")], Array(time.text.utf8), first + 1)) }
            let host = start.target.hasPrefix("/") ? fields["host"].map { Array("http://".utf8) + $0 } ?? [] : []
            values.append(([part, .name("method")], Array(start.method.utf8), first + 1))
            values.append(([part, .name("url")], host + start.target.utf8, first + 1))
        }
        guard next < lines.count, Self.without(frame, lines[next])?.allSatisfy(\.isASCIIWhiteSpace) == true else {
            return values
        }
        next += 1
        passOthers(frame)
        let bodyLine = next + 1
        let body = readBody(after: start, fields, in: start.isOfCurl ? [] : frame)
        let content: [JSONWalker.Step] = [.name(start.status == nil ? "postData" : "content"), .name("text")]
        if !body.isEmpty { values.append(([part] + content, body, bodyLine)) }
        return values
    }

    private mutating func readBody(
        after start: Start, _ fields: [String: ArraySlice<UInt8>], in frame: ArraySlice<UInt8>
    ) -> [UInt8] {
        let isChunked = fields["transfer-encoding"] != nil
        // What a program prints unpacked is longer than the header says.
        let said = fields["content-encoding"] == nil ? fields["content-length"] : nil
        let length = said.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        // A request over a connection has a body only if a header says so (RFC 9112, 6.3); `curl` does not print it.
        let hasBody = start.status != nil || !start.isOfCurl && (fields["content-length"] != nil || isChunked)
        guard !frame.isEmpty || hasBody else { return [] }
        var body: [UInt8] = []
        while next < lines.count, let text = Self.without(frame, lines[next]) {
            if let length, frame.isEmpty, body.count >= length { break }
            if let start = Start(lines[next]) {
                // A 100 stands before the body that it asks for.
                guard let status = start.status, status < 200, body.isEmpty else { break }
                repeat { next += 1 } while next < lines.count && lines[next].allSatisfy(\.isASCIIWhiteSpace)
                continue
            }
            // What a log has after the body.
            if frame.isEmpty, LineTime(beginning: lines[next].prefix(40)) != nil { break }
            if start.isOfCurl, text.starts(with: "* Connection".utf8) || text.starts(with: "* Closing".utf8) { break }
            next += 1
            if Self.isEnd(text) { break }
            if start.isOfCurl, ["* ", "{ [", "} ["].contains(where: { text.starts(with: $0.utf8) }) { continue }
            body += text + [0x0A]
            passOthers(frame)
        }
        if body.last == 0x0A { body.removeLast() }
        return isChunked ? Self.withoutChunks(body) : body
    }

    /// Passes lines that other writers of a log put between those of a message, if it goes on soon.
    private mutating func passOthers(_ frame: ArraySlice<UInt8>) {
        guard frame.suffix(2).isSame(as: ": ") else { return }
        let ahead = (next..<min(next + Self.mostOthers, lines.count)).first { LineFrames.hasFrame(frame, lines[$0]) }
        guard let ahead else { return }
        others.formUnion(next..<ahead)
        next = ahead
    }

    /// Whether a logger ends a message with this line.
    private static func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
        line.begins(with: "--> END") || line.begins(with: "<-- END")
    }

    /// The content of chunks (RFC 9112, 7.1); the body as it is if it has none.
    private static func withoutChunks(_ body: [UInt8]) -> [UInt8] {
        var (rest, content) = (body[...], [UInt8]())
        while let end = rest.position(of: 0x0A),
            let size = Int(String(decoding: rest[..<end].filter { $0 != 0x0D }, as: UTF8.self), radix: 16), size > 0
        {
            content += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size).drop { $0 == 0x0D }.dropFirst()
        }
        return content.isEmpty ? body : content
    }

    private static func header(
        _ line: ArraySlice<UInt8>, in frame: ArraySlice<UInt8>
    ) -> (name: String, value: ArraySlice<UInt8>)? {
        guard let text = without(frame, line), let colon = text.prefix(80).firstIndex(of: UInt8(ascii: ":")),
            colon > text.startIndex, text[..<colon].allSatisfy({ $0.isLetterOrDigit || "-_".utf8.contains($0) })
        else { return nil }
        let value = text[(colon + 1)...].drop(while: \.isBlank)
        return (String(decoding: text[..<colon], as: UTF8.self), value.last == 0x0D ? value.dropLast() : value)
    }

    /// A line without its frame; `nil` if it has another one. A blank line may have none.
    private static func without(_ frame: ArraySlice<UInt8>, _ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if LineFrames.hasFrame(frame, line) { return line.dropFirst(frame.count) }
        return line.allSatisfy(\.isASCIIWhiteSpace) || frame.starts(with: line) ? [] : nil
    }

    /// The first line of a message.
    private struct Start {
        /// What stands before it on the line.
        let frame: ArraySlice<UInt8>
        private(set) var method = ""
        /// The target of the request; of a response as well, if a logger says it.
        private(set) var target = ""
        /// The status of a response; `nil` for a request.
        private(set) var status: Int?

        private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        private static let mostWords = 16

        init?(_ line: ArraySlice<UInt8>) {
            let words = line.split(maxSplits: Self.mostWords, whereSeparator: { $0 == 0x20 || $0 == 0x0D })
            func text(_ index: Int) -> String { String(decoding: words[index], as: UTF8.self) }
            for (index, word) in words.enumerated() {
                let isArrow = ["<--", "<<"].contains(where: word.isSame)
                if isArrow || Self.isVersion(word),
                    let status = words[(index + 1)...].prefix(2).lazy.compactMap(Self.status).first
                {
                    self.status = status
                    target =
                        words[index...].first { $0.starts(with: "http".utf8) }.map {
                            String(decoding: $0, as: UTF8.self)
                        } ?? ""
                    frame = line[..<word.startIndex]
                    return
                }
                guard Self.methods.contains(where: word.isSame), index + 1 < words.count,
                    ["/", "http://", "https://"].contains(where: { words[index + 1].starts(with: $0.utf8) })
                else { continue }
                let isLogged = index > 0 && words[index - 1].isSame(as: "-->")
                guard isLogged || words.count == index + 3 && Self.isVersion(words[index + 2]) else { continue }
                (method, target) = (text(index), text(index + 1))
                frame = line[..<words[isLogged ? index - 1 : index].startIndex]
                return
            }
            return nil
        }

        private static func isVersion(_ word: ArraySlice<UInt8>) -> Bool {
            word.begins(with: "HTTP/") && word.dropFirst(5).allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        }

        private static func status(_ word: ArraySlice<UInt8>) -> Int? {
            guard word.count == 3, let number = Int(String(decoding: word, as: UTF8.self)), number >= 100 else {
                return nil
            }
            return number
        }

        /// Whether `curl` has printed it, which frames the headers alone.
        var isOfCurl: Bool { ["> ", "< "].contains(where: frame.isSame) }
    }
}
