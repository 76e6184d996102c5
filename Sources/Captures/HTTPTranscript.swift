internal import TextEncodings

/// The calls that a text shows: as they went over a connection, as `curl -v` and mitmdump print them, or as OkHttp logs them.
///
/// A message is a line that begins one, with at least one header below it, a blank line, and what follows up to the next message. Each of its
/// lines may have the same frame: `> `, an indent, or what a logger writes before it, in which digits may differ.
struct HTTPTranscript {
    /// The way's name of calls that no HAR file has.
    static let name = "HTTP"

    private struct Message {
        let start: Start
        let line: Int
        var headers: [(name: String, value: ArraySlice<UInt8>, line: Int)] = []
        var body: [UInt8] = []

        func value(of name: String) -> ArraySlice<UInt8>? {
            headers.first { $0.name.isSame(ignoringCaseOf: name) }?.value
        }
    }

    private var calls: [(request: Message, answer: Message?)] = []
    /// The last calls without an answer, by their places.
    private var open: [Int] = []
    private static let mostOpen = 32
    /// The text without its calls. It has the same lines.
    private(set) var rest: [UInt8] = []

    /// Reads the calls of a text; `nil` if it shows none.
    init?(_ text: ArraySlice<UInt8>) {
        guard ["HTTP/", "--> "].contains(where: { text.firstRange(of: Array($0.utf8)) != nil }) else { return nil }
        var lines = FramedLines(text)
        while let line = lines.peek {
            let number = lines.number
            guard let start = Start(line), let message = lines.message(start, on: number) else {
                rest += line + [0x0A]
                lines.skip()
                continue
            }
            rest += Array(repeating: 0x0A, count: lines.number - number)
            add(message)
        }
        guard !calls.isEmpty else { return nil }
    }

    /// An answer belongs to the last request that has none; of several, to the one whose URL it names.
    private mutating func add(_ message: Message) {
        guard message.start.status != nil else {
            open = open.suffix(Self.mostOpen) + [calls.count]
            return calls.append((message, nil))
        }
        let named = open.lastIndex { calls[$0].request.start.target.hasSameBytes(as: message.start.target) }
        guard let index = named ?? open.indices.last else { return }
        calls[open.remove(at: index)].answer = message
    }

    /// Reports each value of the calls at the path that it has in a HAR file.
    func report(_ take: ([JSONWalker.Step], [UInt8], Int) -> Void) {
        for (index, call) in calls.enumerated() {
            let entry: [JSONWalker.Step] = [.name("log"), .name("entries"), .index(index)]
            func report(_ names: [JSONName], _ value: some Sequence<UInt8>, _ line: Int) {
                take(entry + names.map { .name($0) }, Array(value), line)
            }
            func report(_ message: Message, as part: JSONName, content: [JSONName]) {
                for (index, header) in message.headers.enumerated() {
                    let path: [JSONWalker.Step] = entry + [.name(part), .name("headers"), .index(index)]
                    take(path + [.name("name")], Array(header.name.utf8), header.line)
                    take(path + [.name("value")], Array(header.value), header.line)
                }
                if !message.body.isEmpty { report([part] + content, message.body, message.line) }
            }
            let request = call.request
            if let time = request.start.time, time.hasZone {
                report(["startedDateTime"], time.text.utf8, request.line)
            }
            report(["request", "method"], request.start.method.utf8, request.line)
            let host = request.start.target.hasPrefix("/") ? request.value(of: "Host").map { "http://".utf8 + $0 } : nil
            report(["request", "url"], (host ?? []) + request.start.target.utf8, request.line)
            report(request, as: "request", content: ["postData", "text"])
            guard let answer = call.answer, let status = answer.start.status else { continue }
            report(["response", "status"], "\(status)".utf8, answer.line)
            report(answer, as: "response", content: ["content", "text"])
        }
    }

    /// The first line of a message.
    private struct Start {
        /// What stands before it on the line.
        let frame: ArraySlice<UInt8>
        private(set) var method = ""
        /// The target of the request; of an answer as well, if a logger says it.
        private(set) var target = ""
        /// The status of an answer; `nil` for a request.
        private(set) var status: Int?
        let time: LineTime?

        private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        private static let mostWords = 16

        init?(_ line: ArraySlice<UInt8>) {
            let words = line.split(maxSplits: Self.mostWords, whereSeparator: { $0 == 0x20 || $0 == 0x0D })
            func text(_ index: Int) -> String {
                words.indices.contains(index) ? String(decoding: words[index].prefix(1 << 16), as: UTF8.self) : ""
            }
            time = LineTime(beginning: line)
            for index in words.indices {
                let word = words[index]
                let isArrow = word.elementsEqual("<--".utf8) || word.elementsEqual("<<".utf8)
                if isArrow || Self.isVersion(word),
                    let status = [index + 1, index + 2].lazy.compactMap({ Self.status(text($0)) }).first
                {
                    self.status = status
                    target =
                        words.dropFirst(index).lazy.map { String(decoding: $0, as: UTF8.self) }.first {
                            $0.hasPrefix("http")
                        } ?? ""
                    frame = line[..<word.startIndex]
                    return
                }
                let isSent = index > 0 && text(index - 1) == "-->"
                guard Self.methods.contains(where: word.isSame), words.indices.contains(index + 1),
                    ["/", "http://", "https://"].contains(where: { words[index + 1].starts(with: $0.utf8) }),
                    isSent || words.count == index + 3 && Self.isVersion(words[index + 2])
                else { continue }
                (method, target) = (text(index), text(index + 1))
                frame = line[..<words[isSent ? index - 1 : index].startIndex]
                return
            }
            return nil
        }

        private static func isVersion(_ word: ArraySlice<UInt8>) -> Bool {
            word.starts(with: "HTTP/".utf8) && word.dropFirst(5).allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        }

        private static func status(_ word: String) -> Int? {
            word.utf8.count == 3 ? Int(word).flatMap { $0 >= 100 ? $0 : nil } : nil
        }

        /// Whether `curl` has printed it, which frames the headers alone.
        var isOfCurl: Bool { frame.elementsEqual("> ".utf8) || frame.elementsEqual("< ".utf8) }
    }

    /// The lines of a text, with a place among them.
    private struct FramedLines {
        private let lines: [ArraySlice<UInt8>]
        private var next = 0

        init(_ text: ArraySlice<UInt8>) {
            lines = (text.last == 0x0A ? text.dropLast() : text).split(
                separator: 0x0A, omittingEmptySubsequences: false)
        }

        /// The next line; `nil` at the end.
        var peek: ArraySlice<UInt8>? { next < lines.count ? lines[next] : nil }
        /// The number of the next line, from 1.
        var number: Int { next + 1 }

        mutating func skip() { next += 1 }

        /// Reads the rest of a message whose first line comes next; `nil`, and nothing is read, if no header follows it.
        mutating func message(_ start: Start, on line: Int) -> Message? {
            guard next + 1 < lines.count else { return nil }
            let indent = lines[next + 1].prefix(while: \.isBlank)
            guard let frame = [start.frame, indent].first(where: { Self.header(lines[next + 1], in: $0) != nil }) else {
                return nil
            }
            var message = Message(start: start, line: line)
            skip()
            while let text = peek, let header = Self.header(text, in: frame) {
                message.headers.append((header.name, header.value, number))
                skip()
            }
            guard let blank = peek, Self.without(frame, blank)?.allSatisfy(\.isASCIIWhiteSpace) == true else {
                return message
            }
            skip()
            readBody(of: &message, in: start.isOfCurl ? [] : frame)
            return message
        }

        private mutating func readBody(of message: inout Message, in frame: ArraySlice<UInt8>) {
            let length = message.value(of: "Content-Length").flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            // A request over a connection has a body only if a header says so (RFC 9112, 6.3); `curl` does not print it.
            let hasBody = message.start.status != nil || length != nil || message.value(of: "Transfer-Encoding") != nil
            guard !frame.isEmpty || hasBody && !(message.start.isOfCurl && message.start.status == nil) else { return }
            while let line = peek, Start(line) == nil, let text = Self.without(frame, line) {
                let isNoise = message.start.isOfCurl && ["* ", "{ [", "} ["].contains { line.starts(with: $0.utf8) }
                if text.starts(with: "--> END".utf8) || text.starts(with: "<-- END".utf8) { return skip() }
                if !isNoise { message.body += text + [0x0A] }
                skip()
                guard let length, frame.isEmpty, message.body.count >= length else { continue }
                message.body.removeLast(message.body.count - length)
                return
            }
            if message.body.last == 0x0A { message.body.removeLast() }
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
            let isFramed =
                line.count >= frame.count && zip(line, frame).allSatisfy { $0 == $1 || $0.isDigit && $1.isDigit }
            if isFramed { return line.dropFirst(frame.count) }
            return line.allSatisfy(\.isASCIIWhiteSpace) || frame.starts(with: line) ? [] : nil
        }
    }
}
