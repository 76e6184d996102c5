internal import CHiredis

/// What a server says to a command.
enum RedisReply: Equatable {
    /// A simple or a bulk string.
    case text(String)
    case integer(Int64)
    case array([RedisReply])
    /// The null reply: no such key, or `NX` found one.
    case null
    /// An error, by its first word and the whole line.
    case error(RedisErrorReply)
    /// None came, and none will: the connection is gone. Whether the server carried the command out, nobody knows.
    case lost

    init(_ reply: UnsafePointer<redisReply>) {
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

    /// The text of a string reply.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements of an array reply.
    var array: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// A server's error.
struct RedisErrorReply: Equatable {
    let line: String

    /// The word that tells which error it is: `MOVED`, `OOM`, `LOADING`, …
    var code: Substring { line.prefix { $0 != " " } }

    /// Where a cluster sends the client instead (Redis Cluster specification, "Redirection and resharding").
    var redirection: RedisRedirection? {
        let words = line.split(separator: " ")
        guard words.count == 3, let address = RedisAddress(words[2]) else { return nil }
        switch words[0] {
        case "MOVED": return RedisRedirection(address: address, isAsking: false)
        case "ASK": return RedisRedirection(address: address, isAsking: true)
        default: return nil
        }
    }
}

/// The node that a cluster names instead of the one that was asked.
struct RedisRedirection: Hashable {
    let address: RedisAddress
    /// For this one command only, after `ASKING`: the slot is on its way there.
    let isAsking: Bool
}

/// Host and port of a server.
struct RedisAddress: Hashable, CustomStringConvertible {
    let host: String
    let port: Int32

    init(host: String, port: Int32) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`, as redirections have it; an IPv6 address has colons of its own.
    init?(_ text: Substring) {
        guard let colon = text.lastIndex(of: ":"), let port = Int32(text[text.index(after: colon)...]),
            colon > text.startIndex
        else { return nil }
        self.init(host: String(text[..<colon]), port: port)
    }

    var description: String {
        host.contains(":") ? "redis://[\(host)]:\(port)" : "redis://\(host):\(port)"
    }
}
