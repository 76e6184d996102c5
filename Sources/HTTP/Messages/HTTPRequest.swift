internal import Basics

/// A request of which every byte has arrived.
///
/// Its parts are places in the bytes of its connection, which the request shares and does not copy.
package struct HTTPRequest: Sendable {
    /// A header field: the places of its name, and of its value without the blanks around that.
    struct Field: Sendable {
        let name: Range<UInt32>
        let value: Range<UInt32>
    }

    // A request is copied from hand to hand, so it refers to as little as possible.

    /// The bytes of the head, and behind them those of the content unless that came in chunks.
    private let message: ArraySlice<UInt8>
    /// The places of the header fields.
    let fields: [Field]
    /// The content that came in chunks.
    private let chunks: [UInt8]?
    private let methodPlace: Range<UInt32>
    private let targetPlace: Range<UInt32>
    private let headLength: Int
    /// The length of the target's path.
    private let pathLength: Int
    /// What the request asks of the form of its answer.
    package let answerForm: HTTPAnswerForm
    /// The address that the request came from; empty for a Unix socket.
    package let peer: String

    init(_ message: ArraySlice<UInt8>, _ head: HTTPHead, headLength: Int, chunks: [UInt8]?, peer: String) {
        (self.message, fields, self.chunks, self.peer) = (message, head.fields, chunks, peer)
        (self.headLength, methodPlace, targetPlace) = (headLength, head.method, head.target)
        answerForm = head.answerForm
        let begin = message.startIndex
        let target = message[(begin + Int(head.target.lowerBound))..<(begin + Int(head.target.upperBound))]
        pathLength = (target.position(of: UInt8(ascii: "?")) ?? target.endIndex) - target.startIndex
    }

    /// The bytes of memory that the request's list of header fields takes, apart from the bytes that were sent.
    package var fieldBytes: Int { fields.capacity * MemoryLayout<Field>.stride }

    /// The content, without its coding.
    package var body: ArraySlice<UInt8> { chunks.map { $0[...] } ?? message.dropFirst(headLength) }

    /// The method, such as `GET`. Its case counts (RFC 9110, 9.1).
    package var method: ArraySlice<UInt8> { self[methodPlace] }

    /// The request target (RFC 9112, 3.2).
    package var target: ArraySlice<UInt8> { self[targetPlace] }

    /// The path as it was sent, still percent-encoded.
    package var path: ArraySlice<UInt8> { target.prefix(pathLength) }

    /// What follows the question mark, still percent-encoded; `nil` if the target has none.
    package var query: ArraySlice<UInt8>? {
        let target = target
        return pathLength < target.count ? target.dropFirst(pathLength + 1) : nil
    }

    /// The values of all fields of this name, in the order in which they were sent.
    package func values(of name: HTTPFieldName) -> [ArraySlice<UInt8>] {
        var (found, next) = ([ArraySlice<UInt8>](), 0)
        while let value = nextValue(of: name, from: &next) { found.append(value) }
        return found
    }

    /// The names and values of all fields, in the order in which they were sent.
    package var allFields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        fields.map { (self[$0.name], self[$0.value]) }
    }

    /// The value of the next field of this name.
    ///
    /// - Parameter place: Where the search begins among the fields: 0, and then what the call before has left.
    package func nextValue(of name: HTTPFieldName, from place: inout Int) -> ArraySlice<UInt8>? {
        guard let index = index(of: name, from: place) else { return nil }
        place = index + 1
        return self[fields[index].value]
    }

    /// The value of the first field of this name.
    package func firstValue(of name: HTTPFieldName) -> ArraySlice<UInt8>? {
        index(of: name, from: 0).map { self[fields[$0].value] }
    }

    /// The value of the field; `nil` unless there is exactly one of this name.
    package func onlyValue(of name: HTTPFieldName) -> ArraySlice<UInt8>? {
        guard let index = index(of: name, from: 0), self.index(of: name, from: index + 1) == nil else { return nil }
        return self[fields[index].value]
    }

    // Unreached: The gate reads the bytes of a header; its text is read by the page of `inspect` and by the sandbox.
    /// The value of the field as text; `nil` unless there is exactly one of this name, and it is UTF-8.
    package func onlyText(of name: HTTPFieldName) -> String? { onlyValue(of: name).flatMap { String(utf8: $0) } }

    private func index(of name: HTTPFieldName, from start: Int) -> Int? {
        message.withUnsafeBufferPointer { bytes in
            var index = start
            while index < fields.count {
                let place = Int(fields[index].name.lowerBound)..<Int(fields[index].name.upperBound)
                if name.isSame(as: UnsafeBufferPointer(rebasing: bytes[place])) { return index }
                index += 1
            }
            return nil
        }
    }

    /// The bytes at a place.
    subscript(place: Range<UInt32>) -> ArraySlice<UInt8> {
        message[(message.startIndex + Int(place.lowerBound))..<(message.startIndex + Int(place.upperBound))]
    }
}
