internal import CCBOR

/// Writes CBOR with libcbor, value by value, with the shortest heads (RFC 8949, 4.2.1).
struct CBORWriter: Sendable {
    private static let longestHead = 9

    fileprivate var bytes: [UInt8]

    fileprivate init(behind bytes: [UInt8] = []) {
        self.bytes = bytes
        self.bytes.reserveCapacity(256)
    }

    /// The bytes of `head`, followed by what `write` adds.
    static func bytes(behind head: [UInt8] = [], _ write: (inout CBORWriter) -> Void) -> [UInt8] {
        var writer = CBORWriter(behind: head)
        write(&writer)
        return writer.bytes
    }

    mutating func add(_ number: Int64) {
        if number >= 0 {
            head { cbor_encode_uint(UInt64(number), $0, $1) }
        } else {
            head { cbor_encode_negint(UInt64(-1 - number), $0, $1) }
        }
    }

    mutating func add(_ text: String) {
        head { cbor_encode_string_start(text.utf8.count, $0, $1) }
        bytes += text.utf8
    }

    mutating func add(_ string: [UInt8]) {
        head { cbor_encode_bytestring_start(string.count, $0, $1) }
        bytes += string
    }

    /// Adds the head of an array. The caller adds the items next.
    mutating func addArray(of count: Int) {
        head { cbor_encode_array_start(count, $0, $1) }
    }

    /// Adds a map. Its head counts its pairs, so the pairs are written first.
    mutating func addMap(_ write: (inout CBORMapWriter) -> Void) {
        var map = CBORMapWriter()
        write(&map)
        head { cbor_encode_map_start(map.count, $0, $1) }
        bytes += map.pairs.bytes
    }

    private mutating func head(_ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestHead) { buffer in
            let count = encode(buffer.baseAddress, buffer.count)
            bytes += UnsafeMutableBufferPointer(rebasing: buffer[..<count])
        }
    }
}

/// Collects the pairs of a map whose keys are numbers. A pair whose value is `nil` is omitted.
struct CBORMapWriter: Sendable {
    fileprivate var pairs = CBORWriter()
    fileprivate var count = 0

    mutating func add(_ label: Int64, _ number: Int64?) {
        if let number { add(label) { $0.add(number) } }
    }

    mutating func add(_ label: Int64, _ text: String?) {
        if let text { add(label) { $0.add(text) } }
    }

    mutating func add(_ label: Int64, _ string: [UInt8]?) {
        if let string { add(label) { $0.add(string) } }
    }

    /// Adds all pairs of another map.
    mutating func add(_ other: CBORMapWriter) {
        count += other.count
        pairs.bytes += other.pairs.bytes
    }

    /// - Parameter write: Adds the pair's value.
    mutating func add(_ label: Int64, _ write: (inout CBORWriter) -> Void) {
        count += 1
        pairs.add(label)
        write(&pairs)
    }
}
