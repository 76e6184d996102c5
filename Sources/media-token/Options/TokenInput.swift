internal import Basics
internal import Captures
internal import CommandShell
internal import Glibc
internal import MediaToken

/// The source of a command's tokens: an operand `TOKEN` or `@FILE`, or standard input for `-` or no operand.
struct TokenInput {
    private let operand: String?

    /// Standard input.
    init() { operand = nil }

    init(_ operands: [String]) throws(UsageError) {
        guard operands.count <= 1 else {
            throw UsageError("\(operands.count) tokens given; expected one (quote it), @FILE, or - for standard input")
        }
        operand = operands.first == "-" ? nil : operands.first
        var status = stat()
        if let operand, !operand.hasPrefix("@"), stat(operand, &status) == 0 {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let kind =
                isFolder
                ? "a folder and not a file; expected @ and the name of a file" : "a file; expected @ before its name"
            throw UsageError("'\(printable(operand))' is \(kind), or a token")
        }
    }

    /// Whether the input is an argument, which is the name of no file.
    var isArgument: Bool { operand.map { !$0.hasPrefix("@") } ?? false }

    /// The token as messages may quote it: one from a file is not quoted, since a caller who chose the argument may
    /// have chosen the file.
    func quotable(_ token: RawToken) -> RawToken {
        var token = token
        token.mayBeQuoted = operand == nil || isArgument
        return token
    }

    /// Takes the tokens from a file, or from standard input if `file` is `nil`.
    init(file: String?) {
        operand = file.map { "@" + $0 }
    }

    /// Calls `body` with the tokens in groups. A group has all tokens that one read completed, so that the tokens of a
    /// slow pipe are answered at once.
    ///
    /// An input without any token counts as one empty token.
    func forEachGroup(_ body: ([RawToken]) -> Void) throws(CommandError) {
        if let operand, !operand.hasPrefix("@") { return body([RawToken(operand)]) }
        try withReader { (reader) throws(CommandError) in
            var splitter = TokenSplitter()
            while true {
                let chunk = try reader.next()
                let tokens = chunk.isEmpty ? splitter.finish() : splitter.append(chunk[...])
                if !tokens.isEmpty { body(tokens.map(quotable)) }
                guard !chunk.isEmpty else { break }
            }
            if splitter.count == 0 { body([RawToken("")]) }
        }
    }

    /// Reads an operand `GRANT` or `@FILE`, or standard input for `-`.
    init(grant operand: String) { self.operand = operand == "-" ? nil : operand }

    /// All that the input holds.
    ///
    /// - Throws: If it has more than `limit` bytes.
    func whole(limit: Int) throws(CommandError) -> [UInt8] {
        if let operand {
            guard operand.hasPrefix("@") else { return Array(operand.utf8) }
            return try CommandError.wrap(at: operand) { try FileBytes.read(String(operand.dropFirst()), limit: limit) }
        }
        return try withReader("grant") { (reader) throws(CommandError) in
            var all: [UInt8] = []
            while case let chunk = try reader.next(), !chunk.isEmpty {
                all += chunk
                guard all.count <= limit else { throw CommandError("standard input: is longer than \(limit) bytes") }
            }
            return all
        }
    }

    /// Calls `body` with each line of the input, without its line break. A line is cut after `limit` bytes.
    ///
    /// - Parameter subject: what is read, for a user at a terminal.
    func forEachLine(
        _ subject: String, limit: Int, _ body: (ArraySlice<UInt8>) -> Void
    ) throws(CommandError) {
        try withReader(subject) { (reader) throws(CommandError) in
            var line: [UInt8] = []
            while case let chunk = try reader.next(), !chunk.isEmpty {
                var rest = chunk[...]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line += rest[..<end].prefix(limit - line.count)
                    body(line[...])
                    line.removeAll(keepingCapacity: true)
                    rest = rest[(end + 1)...]
                }
                line += rest.prefix(limit - line.count)
            }
            body(line[...])
        }
    }

    /// Finds all that the input holds, in whatever form, and calls `body` with each part.
    ///
    /// - Returns: The first bytes of the input, up to the length of a token.
    func find(
        with finder: TokenFinder, _ body: @escaping (TokenFinder.Part) -> Void
    ) throws(CommandError) -> RawToken {
        if let operand, !operand.hasPrefix("@") {
            finder.search(Array(operand.utf8), body)
            return RawToken(operand)
        }
        return try withReader { (reader) throws(CommandError) in
            var (head, failure) = ([UInt8](), CommandError?.none)
            func next() -> [UInt8] {
                do throws(CommandError) {
                    let chunk = try reader.next()
                    head += chunk.prefix(RawToken.sizeLimit + 1 - head.count)
                    return chunk
                } catch {
                    failure = error
                    return []
                }
            }
            finder.search(next, body)
            if let failure { throw failure }
            return quotable(RawToken(head))
        }
    }

    /// - Parameter subject: What is read, for a user at a terminal.
    private func withReader<Value>(
        _ subject: String = "token", _ use: (ChunkReader) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        guard let operand else {
            let reader = ChunkReader(STDIN_FILENO, "standard input", subject)
            return try use(reader)
        }
        let path = String(operand.dropFirst())
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let reader = ChunkReader(descriptor, path, subject)
        return try use(reader)
    }
}

/// Reads a file, a pipe or a terminal chunk by chunk.
private final class ChunkReader {
    private let descriptor: Int32
    private let name: String
    private var terminal: TerminalInput?

    init(_ descriptor: Int32, _ name: String, _ subject: String) {
        (self.descriptor, self.name, terminal) = (descriptor, name, TerminalInput(descriptor, subject))
    }

    /// The next bytes; none at the end.
    func next() throws(CommandError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = terminal?.read(into: &chunk) ?? read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandError("\(name): \(String(cString: strerror(errno)))") }
            return Array(chunk[..<count])
        }
    }
}

/// Splits an input into tokens: one per line, except for tokens that span several lines.
///
/// Clear text may contain line breaks inside an MRSS resource, documents are often printed over several lines, and
/// encoders break Base64 into lines. Each of these forms has its own beginning, and continues up to the line that ends
/// it.
struct TokenSplitter {
    private enum Form: CaseIterable {
        case clearText, base64, xmlDocument, jsonDocument

        init?(beginning line: ArraySlice<UInt8>) {
            let line = line.drop(while: \.isASCIIWhiteSpace)
            guard
                let form = Self.allCases.first(where: { form in form.beginnings.contains { line.starts(with: $0.utf8) }
                })
            else { return nil }
            self = form
        }

        private var beginnings: [String] {
            switch self {
            case .clearText: ["<signatureInfo>"]
            case .base64: ["PHNpZ25hdHVyZUluZm8"]
            case .xmlDocument: ["<play", "<?xml"]
            case .jsonDocument: ["{", "\u{FEFF}{"]
            }
        }
    }

    /// A token of one or more lines.
    private struct Begun {
        private let form: Form
        private(set) var text: [UInt8]
        /// The length of the first line. Encoders of Base64 give it to all lines but the last.
        private let width: Int
        private(set) var isEnded: Bool

        init?(with line: ArraySlice<UInt8>) {
            guard let form = Form(beginning: line) else { return nil }
            (self.form, text, width) = (form, Array(line), line.withoutReturn.count)
            isEnded =
                switch form {
                case .clearText: line.endsToken
                case .base64:
                    !line.isBase64 || line.ends(with: "=") || line.withoutReturn.decodedEnd.ends(with: "Token>")
                case .xmlDocument: line.ends(with: "</play>")
                case .jsonDocument: line.ends(with: "}")
                }
        }

        /// Takes the next line, unless another token begins there or it is no line of Base64. A line inside a document
        /// may begin like a token, and JSON of several lines ends at a brace that is not indented.
        ///
        /// - Returns: Whether the line belongs to this token.
        mutating func append(_ line: ArraySlice<UInt8>) -> Bool {
            let count = line.withoutReturn.count
            switch form {
            case .clearText: guard Form(beginning: line) == nil else { return false }
            case .base64: guard Form(beginning: line) == nil, line.isBase64, count <= width else { return false }
            case .xmlDocument, .jsonDocument: break
            }
            text.append(TokenSplitter.newline)
            text += line
            isEnded =
                switch form {
                case _ where text.count > RawToken.sizeLimit: true
                case .clearText: line.endsToken
                case .base64: count < width
                case .xmlDocument: line.ends(with: "</play>")
                case .jsonDocument: line.first == UInt8(ascii: "}")
                }
            return true
        }
    }

    /// The number of tokens found so far.
    private(set) var count = 0

    private var unread: [UInt8] = []
    private var begun: Begun?

    private static let newline = UInt8(ascii: "\n")

    /// Reads `bytes`, and returns the tokens that they complete.
    mutating func append(_ bytes: ArraySlice<UInt8>) -> [RawToken] {
        var tokens: [RawToken] = []
        var rest = (unread + bytes)[...]
        while let end = rest.firstIndex(of: Self.newline) {
            tokens += take(line: rest[..<end])
            rest = rest[(end + 1)...]
        }
        // A line that is too long for a token is kept only up to the length at which it is rejected.
        unread = Array(rest.prefix(RawToken.sizeLimit + 1))
        count += tokens.count
        return tokens
    }

    /// Ends the input, and returns the tokens that were left.
    mutating func finish() -> [RawToken] {
        let tokens = take(line: unread[...]) + endBegun()
        unread = []
        count += tokens.count
        return tokens
    }

    private mutating func take(line: ArraySlice<UInt8>) -> [RawToken] {
        guard var token = begun else {
            guard let token = Begun(with: line) else {
                return line.allSatisfy(\.isASCIIWhiteSpace) ? [] : [RawToken(Array(line))]
            }
            begun = token
            return token.isEnded ? endBegun() : []
        }
        // The text has one owner while it grows.
        begun = nil
        guard token.append(line) else { return [RawToken(token.text)] + take(line: line) }
        begun = token
        return token.isEnded ? endBegun() : []
    }

    private mutating func endBegun() -> [RawToken] {
        defer { begun = nil }
        return begun.map { [RawToken($0.text)] } ?? []
    }
}

extension ArraySlice<UInt8> {
    /// Whether `text` comes last, apart from white space.
    fileprivate func ends(with text: String) -> Bool {
        guard let last = lastIndex(where: { !$0.isASCIIWhiteSpace }) else { return false }
        return self[...last].suffix(text.utf8.count).elementsEqual(text.utf8)
    }

    /// Whether the end of a token's last element comes last. A line may also end with the beginning of one.
    fileprivate var endsToken: Bool {
        ends(with: "Token>") && lastIndex(of: UInt8(ascii: "<")).map { self[$0...].starts(with: "</".utf8) } == true
    }

    fileprivate var withoutReturn: ArraySlice<UInt8> { last == 0x0D ? dropLast() : self }

    /// Whether the line may be one of a token in Base64.
    fileprivate var isBase64: Bool {
        !withoutReturn.isEmpty && withoutReturn.allSatisfy { $0.isLetterOrDigit || "+/-_=".utf8.contains($0) }
    }

    /// The end of what a text in Base64 stands for; nothing if its end is not that of one.
    fileprivate var decodedEnd: ArraySlice<UInt8> {
        let digits = suffix(16 + count % 4)
        let decoded = [.standard, .urlSafe].lazy.compactMap { (alphabet: Base64Alphabet) in
            try? Base64.decode(digits, alphabet: alphabet, padding: .optional)
        }
        return decoded.first?[...] ?? []
    }
}
