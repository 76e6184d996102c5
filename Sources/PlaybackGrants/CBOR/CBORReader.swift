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

    /// The value that `bytes` encode; `nil` if they are not exactly one value.
    static func value(of bytes: [UInt8]) -> CBORValue? {
        var reader = CBORReader(bytes)
        guard let value = reader.readValue(depth: 0), reader.next == bytes.count else { return nil }
        return value
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func readValue(depth: Int) -> CBORValue? {
        values += 1
        guard depth < Self.depthLimit, values <= Self.valueLimit, let head = readHead() else { return nil }
        switch head {
        case .value(let value): return value
        // A head may claim more than Int can hold. libcbor passes that as a negative number.
        case .array(let count) where (0...Self.valueLimit).contains(count):
            var items: [CBORValue] = []
            for _ in 0..<count {
                guard let item = readValue(depth: depth + 1) else { return nil }
                items.append(item)
            }
            return .array(items)
        case .map(let count) where (0...Self.valueLimit).contains(count): return readMap(count, depth: depth)
        case .array, .map, .refused: return nil
        }
    }

    private mutating func readMap(_ count: Int, depth: Int) -> CBORValue? {
        var pairs: [CBORPair] = []
        for _ in 0..<count {
            guard let key = readValue(depth: depth + 1), !pairs.contains(where: { $0.key == key }),
                let value = readValue(depth: depth + 1)
            else { return nil }
            pairs.append(CBORPair(key: key, value: value))
        }
        return .map(pairs)
    }

    private mutating func readHead() -> CBORHead? {
        var head = CBORHead.refused
        let result = bytes[next...].withUnsafeBufferPointer { rest in
            withUnsafeMutablePointer(to: &head) {
                cbor_stream_decode(rest.baseAddress, rest.count, CBORHead.callbacks, $0)
            }
        }
        guard result.status == CBOR_DECODER_FINISHED else { return nil }
        next += result.read
        return head
    }
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

    private static func array(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The callbacks are created once, then only read, by any number of threads, and never freed. A head whose callback is not set here stays `refused`.
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
        callbacks.array_start = { set($0, .array($1)) }
        callbacks.map_start = { set($0, .map($1)) }
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
