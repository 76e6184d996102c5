internal import Glibc
internal import MediaToken

/// Where a command's tokens come from: `TOKEN`, `@FILE`, or `-` and nothing at all for standard input.
struct TokenInput {
    private let operand: String?

    init(_ operands: [String]) throws(UsageError) {
        guard operands.count <= 1 else {
            throw UsageError("\(operands.count) tokens given; expected one (quote it), @FILE, or - for standard input")
        }
        operand = operands.first == "-" ? nil : operands.first
    }

    /// Hands the tokens to `body` in groups: all that one read brought, so that a pipe that trickles is answered at once.
    ///
    /// An input without any token is handed on as one that is empty.
    func forEachGroup(_ body: ([RawToken]) -> Void) throws(CommandFailure) {
        guard let operand else { return try forEachGroup(of: STDIN_FILENO, "standard input", body) }
        guard operand.hasPrefix("@") else { return body([RawToken(operand)]) }
        let path = String(operand.dropFirst())
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure("\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        try forEachGroup(of: descriptor, path, body)
    }

    private func forEachGroup(
        of descriptor: Int32, _ name: String, _ body: ([RawToken]) -> Void
    ) throws(CommandFailure) {
        var splitter = TokenSplitter()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure("\(name): \(String(cString: strerror(errno)))") }
            let tokens = count > 0 ? splitter.append(chunk[..<count]) : splitter.finish()
            if !tokens.isEmpty { body(tokens) }
            guard count > 0 else { break }
        }
        if splitter.count == 0 { body([RawToken("")]) }
    }
}

/// Cuts an input into tokens: one a line, or one document that may span lines.
///
/// Clear text may hold line breaks inside of an MRSS resource, so it goes on to the line that ends with its root.
struct TokenSplitter {
    /// Tokens found so far.
    private(set) var count = 0

    private var unread: [UInt8] = []
    private var partial: [UInt8] = []
    private var isDocument: Bool?

    private static let newline = UInt8(ascii: "\n")

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [RawToken] {
        unread += bytes
        decideKind()
        defer { dropExcess() }
        guard isDocument == false else { return [] }
        var tokens: [RawToken] = []
        var rest = unread[...]
        while let end = rest.firstIndex(of: Self.newline) {
            tokens += take(line: rest[..<end])
            rest = rest[(end + 1)...]
        }
        unread = Array(rest)
        count += tokens.count
        return tokens
    }

    mutating func finish() -> [RawToken] {
        let last = take(line: unread[...]) + takePartial()
        unread = []
        count += last.count
        return last
    }

    /// A document begins with a brace, or with a tag other than a token's.
    private mutating func decideKind() {
        guard isDocument == nil, let first = unread.first(where: { !Self.isWhiteSpace($0) }) else { return }
        let start = unread.drop(while: Self.isWhiteSpace)
        isDocument =
            first == UInt8(ascii: "{") || start.starts(with: "<play".utf8) || start.starts(with: "<?xml".utf8)
    }

    private mutating func take(line: ArraySlice<UInt8>) -> [RawToken] {
        var tokens: [RawToken] = []
        let beginsToken = line.starts(with: "<signatureInfo>".utf8)
        if beginsToken { tokens += takePartial() }
        if !partial.isEmpty || beginsToken {
            if !partial.isEmpty { partial.append(Self.newline) }
            partial += line
            let text = partial.reversed().drop(while: Self.isWhiteSpace)
            if text.starts(with: "Token>".utf8.reversed()) || partial.count > RawToken.sizeLimit {
                tokens += takePartial()
            }
        } else if !line.allSatisfy(Self.isWhiteSpace) {
            tokens.append(RawToken(Array(line)))
        }
        return tokens
    }

    private mutating func takePartial() -> [RawToken] {
        defer { partial = [] }
        return partial.isEmpty ? [] : [RawToken(partial)]
    }

    /// What is too long to be a token is kept just long enough to be refused for that.
    private mutating func dropExcess() {
        if unread.count > RawToken.sizeLimit { unread = Array(unread.prefix(RawToken.sizeLimit + 1)) }
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
