internal import HTTP

/// A connection's requests are the same however its bytes arrive, each begins where a strict and simple reader sees it
/// begin, and nothing is read behind a refusal.
struct HTTPProperty: FuzzProperty {
    private static let limits = HTTPMessageLimits(headBytes: 2500, contentBytes: 500)

    /// What a connection came to.
    private struct Story: Equatable {
        /// The bytes of the requests' methods, targets, fields and content.
        var requests: [[[UInt8]]] = []
        var refusal: Int?
        /// Whether it ended within a request.
        var isInsideRequest = false
    }

    /// - Parameter input: the bytes of a connection.
    func check(_ input: [UInt8]) throws {
        let whole = try Self.read(input, inPiecesOf: max(1, input.count))
        for size in [1, 2, 7, 64] {
            try demand(try Self.read(input, inPiecesOf: size) == whole, "in pieces of \(size) it is another story")
        }
        try demand(whole.refusal.map { [400, 413, 417, 431].contains($0) } ?? true, "refused with \(whole)")
        // Each request is written as HTTP/1.1 has it, and follows the one before it.
        var rest = input[...]
        for request in whole.requests {
            if rest.starts(with: [0x0D, 0x0A]) { rest = rest.dropFirst(2) }
            let fields = request[2..<(request.count - 1)]
            let line = request[0] + [0x20] + request[1] + Array(" HTTP/1.".utf8)
            try demand(rest.starts(with: line), "the request line is not where the request begins")
            guard let end = rest.dropFirst(line.count).firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else {
                throw Violation(description: "a request without an empty line")
            }
            let head = rest[..<end.lowerBound]
            try demand(Self.lineCount(head) * 2 == fields.count + 2, "there are other lines than fields")
            try demand(head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }, "controls")
            rest = rest[end.upperBound...]
            let isChunked = head.contains(ignoringCaseOf: "\r\ntransfer-encoding:")
            guard !isChunked else {
                try demand(request == whole.requests.last, "a request behind content in chunks")
                return
            }
            let content = request[request.count - 1]
            try demand(rest.starts(with: content), "the content does not follow its head")
            rest = rest.dropFirst(content.count)
        }
    }

    private static func lineCount(_ head: ArraySlice<UInt8>) -> Int {
        head.indices.count { head[$0] == 0x0A } + 1
    }

    /// The most bytes of memory that an unfinished request may take: four times its own, and 16 for each place of a
    /// field.
    private static let heldLimit = 4 * (limits.headBytes + limits.contentBytes) + 2 * 16 * HTTPMessageLimits.fields

    private static func read(_ input: [UInt8], inPiecesOf size: Int) throws -> Story {
        var (reader, story) = (HTTPRequestReader(limits), Story())
        for begin in stride(from: 0, to: input.count, by: size) {
            input[begin..<min(begin + size, input.count)].withUnsafeBytes { reader.append($0) }
            reading: while true {
                switch reader.next(from: "") {
                case .request(let request):
                    let fields = request.headers.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
                    let places = 8 * fields.count...heldLimit
                    try demand(places.contains(request.fieldBytes), "the fields take \(request.fieldBytes) bytes")
                    story.requests.append(
                        [Array(request.method), Array(request.target)] + fields + [Array(request.body)])
                    // As a server does, which reads nothing more then.
                    if !request.answerForm.keepsConnection { return story }
                case .refused(let refusal):
                    story.refusal = refusal.status
                    try demand(!reader.refusalForm.keepsConnection, "the connection stays behind a refusal")
                    return story
                case .awaitsContinue: continue
                case .unfinished:
                    try demand(reader.heldBytes <= heldLimit + 2 * size, "\(reader.heldBytes) bytes are held")
                    break reading
                }
            }
        }
        story.isInsideRequest = reader.isInsideRequest
        return story
    }
}

extension ArraySlice<UInt8> {
    fileprivate func contains(ignoringCaseOf text: String) -> Bool {
        let lowered = map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        return lowered.firstRange(of: Array(text.utf8)) != nil
    }
}
