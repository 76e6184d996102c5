internal import Basics

/// The typed netstrings that mitmproxy writes flows in: `5:hello,` has the length before a text, and its type after it.
struct Netstrings {
    /// What is left of a text that no netstring begins.
    private(set) var rest: ArraySlice<UInt8>

    private static let longestLength = 10
    private static let depthLimit = 64
    private static let longestName = 40

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// The number of bytes that show whether a file is one of flows.
    static let head = 80

    /// Whether a file begins with a flow: a list of names and values, whose first name has the length given before it.
    static func begins(_ head: ArraySlice<UInt8>) -> Bool {
        guard let (_, content) = parts(of: head) else { return false }
        var items = Netstrings(content)
        guard let (name, type) = items.next(), (1...longestName).contains(name.count), ",;".utf8.contains(type) else {
            return false
        }
        return name.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") } && items.rest.first?.isDigit == true
    }

    /// Whether what is left begins as a netstring does, and was cut.
    var isCut: Bool { Self.parts(of: rest) != nil }

    /// The length at the beginning of a netstring, and what follows its colon; `nil` for a text that begins otherwise.
    private static func parts(of text: ArraySlice<UInt8>) -> (length: Int, rest: ArraySlice<UInt8>)? {
        let digits: ArraySlice<UInt8> = text.prefix(longestLength).prefix(while: \.isDigit)
        guard let length = Int(String(decoding: digits, as: UTF8.self)),
            text[digits.endIndex...].first == UInt8(ascii: ":")
        else { return nil }
        return (length, text[digits.endIndex...].dropFirst())
    }

    /// Reports each value of all flows with its path, which begins with the number of the flow: in the order in which
    /// their requests began, as the file has them in that in which they ended.
    mutating func walk(_ report: ([JSONWalker.Step], [UInt8], Int) -> Void) {
        var flows: [(item: Item, began: Double)] = []
        while let item = next() {
            let time = Self.member("request", of: item).flatMap { Self.member("timestamp_start", of: $0) }
            let began = time.flatMap { Double(String(decoding: $0.content, as: UTF8.self)) }
            flows.append((item, began ?? flows.last?.began ?? 0))
        }
        let inOrder = flows.enumerated().sorted { ($0.element.began, $0.offset) < ($1.element.began, $1.offset) }
        for (number, flow) in inOrder.enumerated() { Self.walk(flow.element.item, [.index(number)], report) }
    }

    private typealias Item = (content: ArraySlice<UInt8>, type: UInt8)

    private mutating func next() -> Item? {
        guard let (length, content) = Self.parts(of: rest).map({ ($0.length, $0.rest.prefix($0.length)) }),
            content.count == length, let type = rest[content.endIndex...].first
        else { return nil }
        rest = rest[(content.endIndex + 1)...]
        return (content, type)
    }

    /// The value that a list of names and values has for a name; `nil` if it has none.
    private static func member(_ name: StaticString, of item: Item) -> Item? {
        var items = Netstrings(item.content)
        while let next = items.next(), let value = items.next() {
            if next.content.isSame(as: name) { return value }
        }
        return nil
    }

    private static func walk(
        _ item: Item, _ path: [JSONWalker.Step], _ report: ([JSONWalker.Step], [UInt8], Int) -> Void
    ) {
        var (items, place) = (Netstrings(item.content), 0)
        guard path.count < depthLimit else { return }
        switch item.type {
        case UInt8(ascii: "}"):
            while let name = items.next(), let value = items.next() {
                walk(value, path + [.name(JSONName(String(decoding: name.content, as: UTF8.self)))], report)
            }
        case UInt8(ascii: "]"):
            while let value = items.next() {
                walk(value, path + [.index(place)], report)
                place += 1
            }
        default: report(path, Array(item.content), 1)
        }
    }
}
