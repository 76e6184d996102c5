internal import CHiredis

/// Writes commands as Redis' protocol has them: each an array of strings, with their lengths in bytes (RESP2).
enum RedisCommandWriter {
    static func bytes(of commands: [RedisCommand]) -> [UInt8] {
        var bytes: [UInt8] = []
        for command in commands {
            append("*", command.count, to: &bytes)
            for var word in command {
                word.withUTF8 { word in
                    append("$", word.count, to: &bytes)
                    bytes += word
                }
                bytes += "\r\n".utf8
            }
        }
        return bytes
    }

    private static func append(_ kind: String, _ count: Int, to bytes: inout [UInt8]) {
        bytes += kind.utf8
        bytes += String(count).utf8
        bytes += "\r\n".utf8
    }
}

/// Reads replies out of the bytes that a server sends, however they are split.
final class RedisReplyReader {
    /// The bytes are not Redis' protocol.
    struct ProtocolError: Error {}

    private let reader = redisReaderCreate()

    deinit {
        redisReaderFree(reader)
    }

    func feed(_ bytes: UnsafeRawBufferPointer) {
        redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }

    /// The next reply; `nil` if it has not come as a whole.
    func next() throws(ProtocolError) -> RedisReply? {
        var reply: UnsafeMutableRawPointer?
        guard reader != nil, redisReaderGetReply(reader, &reply) == REDIS_OK else { throw ProtocolError() }
        guard let reply else { return nil }
        defer { freeReplyObject(reply) }
        return RedisReply(reply.assumingMemoryBound(to: redisReply.self))
    }
}

extension RedisReply {
    fileprivate init(_ reply: UnsafePointer<redisReply>) {
        let reply = reply.pointee
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .text(Self.text(of: reply))
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_ARRAY:
            self = .array(
                (0..<Int(reply.elements)).map { position in
                    guard let element = reply.element[position] else { return .null }
                    return RedisReply(element)
                })
        case REDIS_REPLY_NIL: self = .null
        default: self = .error(RedisErrorReply(line: Self.text(of: reply)))
        }
    }

    private static func text(of reply: redisReply) -> String {
        guard let bytes = reply.str else { return "" }
        return bytes.withMemoryRebound(to: UInt8.self, capacity: Int(reply.len)) {
            String(decoding: UnsafeBufferPointer(start: $0, count: Int(reply.len)), as: UTF8.self)
        }
    }
}
