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

    /// Whether a file begins with a flow, which is a list of names and values: the first name has the length that stands before it, and a value
    /// follows.
    static func begins(_ head: ArraySlice<UInt8>) -> Bool {
        let digits: ArraySlice<UInt8> = head.prefix(longestLength).prefix(while: \.isDigit)
        guard !digits.isEmpty, head[digits.endIndex...].first == UInt8(ascii: ":") else { return false }
        var items = Netstrings(head[digits.endIndex...].dropFirst())
        guard let (name, type) = items.next(), (1...longestName).contains(name.count), ",;".utf8.contains(type) else {
            return false
        }
        return name.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") } && items.rest.first?.isDigit == true
    }

    /// Whether what is left begins as a netstring does, and was cut.
    var isCut: Bool {
        let digits: ArraySlice<UInt8> = rest.prefix(Self.longestLength).prefix(while: \.isDigit)
        return !digits.isEmpty && rest[digits.endIndex...].first == UInt8(ascii: ":")
    }

    /// Reports each value of all flows with its path, which begins with the number of the flow: in the order in which their requests began, as
    /// the file has them in that in which they ended.
    mutating func walk(_ report: ([JSONWalker.Step], [UInt8], Int) -> Void) {
        var flows: [(item: Item, began: Double)] = []
        while let item = next() {
            var began = flows.last?.began ?? 0
            Self.walk(item, []) { path, value, _ in
                guard path == [.name("request"), .name("timestamp_start")] else { return }
                began = Double(String(decoding: value, as: UTF8.self)) ?? began
            }
            flows.append((item, began))
        }
        let inOrder = flows.enumerated().sorted { ($0.element.began, $0.offset) < ($1.element.began, $1.offset) }
        for (number, flow) in inOrder.enumerated() { Self.walk(flow.element.item, [.index(number)], report) }
    }

    private typealias Item = (content: ArraySlice<UInt8>, type: UInt8)

    private mutating func next() -> Item? {
        let digits: ArraySlice<UInt8> = rest.prefix(Self.longestLength).prefix(while: \.isDigit)
        guard let length = Int(String(decoding: digits, as: UTF8.self)),
            rest[digits.endIndex...].first == UInt8(ascii: ":")
        else { return nil }
        let content = rest[digits.endIndex...].dropFirst().prefix(length)
        guard content.count == length, let type = rest[content.endIndex...].first else { return nil }
        rest = rest[(content.endIndex + 1)...]
        return (content, type)
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
