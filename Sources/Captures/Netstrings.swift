internal import Basics

/// The typed netstrings that mitmproxy writes flows in: `5:hello,` has the length before a text, and its type after it.
struct Netstrings {
    /// What is left of a text that no netstring begins.
    private(set) var rest: ArraySlice<UInt8>

    private static let longestLength = 10
    private static let depthLimit = 16

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// Whether a file begins with a flow, which is a list of names and values.
    static func begins(_ head: ArraySlice<UInt8>) -> Bool {
        let digits: ArraySlice<UInt8> = head.prefix(longestLength).prefix(while: \.isDigit)
        let inner = head[digits.endIndex...].dropFirst()
        let name = inner.drop(while: \.isDigit)
        return !digits.isEmpty && head[digits.endIndex...].first == UInt8(ascii: ":")
            && name.startIndex > inner.startIndex
            && name.first == UInt8(ascii: ":")
            && name.dropFirst().first.map { $0.isLetterOrDigit && !$0.isDigit } == true
    }

    /// Reports each value of all flows with its path, which begins with the number of the flow.
    mutating func walk(_ report: ([JSONWalker.Step], [UInt8], Int) -> Void) {
        var number = 0
        while let flow = next() {
            Self.walk(flow, [.index(number)], report)
            number += 1
        }
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
