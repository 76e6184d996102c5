internal import CCBOR

/// Writes CBOR by libcbor, with the shortest heads (RFC 8949, 4.2.1).
enum CBORWriter {
    static func bytes(of value: CBORValue) -> [UInt8] {
        var output: [UInt8] = []
        append(value, to: &output)
        return output
    }

    private static func append(_ value: CBORValue, to output: inout [UInt8]) {
        switch value {
        case .unsigned(let number): output += head { cbor_encode_uint(number, $0, $1) }
        case .negative(let number): output += head { cbor_encode_negint(number, $0, $1) }
        case .bytes(let bytes): output += head { cbor_encode_bytestring_start(bytes.count, $0, $1) } + bytes
        case .text(let text): output += head { cbor_encode_string_start(text.utf8.count, $0, $1) } + text.utf8
        case .array(let items):
            output += head { cbor_encode_array_start(items.count, $0, $1) }
            for item in items { append(item, to: &output) }
        case .map(let pairs):
            output += head { cbor_encode_map_start(pairs.count, $0, $1) }
            for pair in pairs {
                append(pair.key, to: &output)
                append(pair.value, to: &output)
            }
        case .boolean(let flag): output += head { cbor_encode_bool(flag, $0, $1) }
        case .number(let number): output += head { cbor_encode_double(number, $0, $1) }
        case .null: output += head { cbor_encode_null($0, $1) }
        }
    }

    private static func head(_ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) -> [UInt8] {
        let longest = 9
        return [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            count = encode(buffer.baseAddress, longest)
        }
    }
}
