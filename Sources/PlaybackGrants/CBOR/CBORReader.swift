internal import Basics
internal import CCBOR

/// Reads one complete CBOR value with libcbor's decoder of single heads.
///
/// libcbor's own tree would allocate as many items as a head claims. This reader allocates nothing before it has seen
/// the bytes, and rejects ambiguous input: indefinite lengths, duplicate keys, text that is not UTF-8, and tags.
struct CBORReader {
    private static let depthLimit = 8
    private static let valueLimit = 256

    private let bytes: [UInt8]
    private var next = 0
    private var values = 0

    /// The value that `bytes` encode.
    ///
    /// - Throws: ``CBORError`` if they are not exactly one value, or hold something that is not read here.
    static func value(of bytes: [UInt8]) throws(CBORError) -> CBORValue {
        var reader = CBORReader(bytes)
        let value = try reader.readValue(depth: 0)
        guard reader.next == bytes.count else { throw reader.error("something after the end of the value") }
        return value
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func error(_ found: String, at position: Int? = nil) -> CBORError {
        CBORError(found: found, position: position ?? next)
    }

    private mutating func readValue(depth: Int) throws(CBORError) -> CBORValue {
        values += 1
        guard depth < Self.depthLimit else { throw error("more than \(Self.depthLimit) values in each other") }
        guard values <= Self.valueLimit else { throw error("more than \(Self.valueLimit) values") }
        let position = next
        switch try readHead() {
        case .value(let value): return value
        // A head may claim more than Int can hold. libcbor 0.8 passes that as a negative number.
        case .array(let count) where (0...Self.valueLimit).contains(count):
            var items: [CBORValue] = []
            for _ in 0..<count { items.append(try readValue(depth: depth + 1)) }
            return .array(items)
        case .map(let count) where (0...Self.valueLimit).contains(count): return try readMap(count, depth: depth)
        case .array, .map: throw error("an array or map of more than \(Self.valueLimit) items", at: position)
        case .refused: throw error(refused(at: position), at: position)
        }
    }

    private mutating func readMap(_ count: Int, depth: Int) throws(CBORError) -> CBORValue {
        var pairs: [CBORPair] = []
        for _ in 0..<count {
            let position = next
            let key = try readValue(depth: depth + 1)
            guard !pairs.contains(where: { $0.key == key }) else {
                throw error("the key \(printable(key.shown, limit: 40)) twice in a map", at: position)
            }
            pairs.append(CBORPair(key: key, value: try readValue(depth: depth + 1)))
        }
        return .map(pairs)
    }

    private mutating func readHead() throws(CBORError) -> CBORHead {
        var head = CBORHead.refused
        let result = bytes[next...].withUnsafeBufferPointer { rest in
            withUnsafeMutablePointer(to: &head) {
                cbor_stream_decode(rest.baseAddress, rest.count, CBORHead.callbacks, $0)
            }
        }
        switch result.status {
        case CBOR_DECODER_FINISHED: next += result.read
        case CBOR_DECODER_NEDATA: throw error("an end in the middle of a value")
        // libcbor does not know all tags.
        default: head = .refused
        }
        return head
    }

    /// What stands at a head that is not read (RFC 8949, 3).
    private func refused(at position: Int) -> String {
        let (major, details) = (bytes[position] >> 5, bytes[position] & 31)
        switch (major, details) {
        case (_, 28...30): return "a head that RFC 8949 reserves"
        case (7, 31): return "a break"
        case (_, 31): return "an indefinite length"
        case (3, _): return "a text that is not UTF-8"
        case (6, _): return "the tag \(number(at: position))"
        default: return "the simple value \(number(at: position))"
        }
    }

    /// The number in a head.
    private func number(at position: Int) -> UInt64 {
        let details = bytes[position] & 31
        guard details >= 24 else { return UInt64(details) }
        return bytes[(position + 1)...].prefix(1 << Int(details - 24)).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Why CBOR is not read: what stands where. It may be valid CBOR all the same.
struct CBORError: Error, Equatable, CustomStringConvertible {
    let found: String
    /// The position in bytes.
    let position: Int

    var description: String { "\(found) at byte \(position)" }
}

/// The contents of one head.
private enum CBORHead {
    case value(CBORValue)
    case array(Int)
    case map(Int)
    /// An indefinite length, or a value of a kind that is not used here.
    case refused

    private static func set(_ context: UnsafeMutableRawPointer?, _ head: CBORHead) {
        context?.assumingMemoryBound(to: CBORHead.self).pointee = head
    }

    /// libcbor counts in `size_t`, and since 0.10 in `uint64_t`. It has seen the bytes, so the count is one of `Int`.
    private static func array(_ start: UnsafePointer<UInt8>?, _ count: some BinaryInteger) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// The callbacks are created once, then only read, by any number of threads, and never freed. A head whose callback
    /// is not set here stays `refused`.
    nonisolated(unsafe) static let callbacks: UnsafePointer<cbor_callbacks> = {
        var callbacks = cbor_empty_callbacks
        callbacks.uint8 = { set($0, .value(.unsigned(UInt64($1)))) }
        callbacks.uint16 = { set($0, .value(.unsigned(UInt64($1)))) }
        callbacks.uint32 = { set($0, .value(.unsigned(UInt64($1)))) }
        callbacks.uint64 = { set($0, .value(.unsigned($1))) }
        callbacks.negint8 = { set($0, .value(.negative(UInt64($1)))) }
        callbacks.negint16 = { set($0, .value(.negative(UInt64($1)))) }
        callbacks.negint32 = { set($0, .value(.negative(UInt64($1)))) }
        callbacks.negint64 = { set($0, .value(.negative($1))) }
        callbacks.byte_string = { set($0, .value(.bytes(array($1, $2)))) }
        callbacks.string = { context, start, count in
            guard let text = String(validating: array(start, count), as: UTF8.self) else { return }
            set(context, .value(.text(text)))
        }
        callbacks.array_start = { set($0, .array(Int(clamping: $1))) }
        callbacks.map_start = { set($0, .map(Int(clamping: $1))) }
        callbacks.boolean = { set($0, .value(.boolean($1))) }
        callbacks.null = { set($0, .value(.null)) }
        callbacks.float2 = { set($0, .value(.number(Double($1)))) }
        callbacks.float4 = { set($0, .value(.number(Double($1)))) }
        callbacks.float8 = { set($0, .value(.number($1))) }
        let place = UnsafeMutablePointer<cbor_callbacks>.allocate(capacity: 1)
        place.initialize(to: callbacks)
        return UnsafePointer(place)
    }()
}
