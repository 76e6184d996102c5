internal import CCBOR

/// Writes CBOR by libcbor, with the shortest heads (RFC 8949, 4.2.1).
enum CBORWriter {
    private static let longestHead = 9

    static func bytes(of value: CBORValue) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256)
        append(value, to: &output)
        return output
    }

    private static func append(_ value: CBORValue, to output: inout [UInt8]) {
        switch value {
        case .unsigned(let number): head(&output) { cbor_encode_uint(number, $0, $1) }
        case .negative(let number): head(&output) { cbor_encode_negint(number, $0, $1) }
        case .bytes(let bytes):
            head(&output) { cbor_encode_bytestring_start(bytes.count, $0, $1) }
            output += bytes
        case .text(let text):
            head(&output) { cbor_encode_string_start(text.utf8.count, $0, $1) }
            output += text.utf8
        case .array(let items):
            head(&output) { cbor_encode_array_start(items.count, $0, $1) }
            for item in items { append(item, to: &output) }
        case .map(let pairs):
            head(&output) { cbor_encode_map_start(pairs.count, $0, $1) }
            for pair in pairs {
                append(pair.key, to: &output)
                append(pair.value, to: &output)
            }
        case .boolean(let flag): head(&output) { cbor_encode_bool(flag, $0, $1) }
        case .number(let number): head(&output) { cbor_encode_double(number, $0, $1) }
        case .null: head(&output) { cbor_encode_null($0, $1) }
        }
    }

    private static func head(_ output: inout [UInt8], _ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestHead) { buffer in
            output += buffer[..<encode(buffer.baseAddress, longestHead)]
        }
    }
}
