/// A command's words.
package typealias RedisCommand = [String]

/// A server's reply to a command.
package enum RedisReply: Equatable, Sendable {
    /// A simple string or a bulk string.
    case text(String)
    case integer(Int64)
    case array([RedisReply])
    /// The null reply: there is no such key, or `NX` found one.
    case null
    case error(RedisErrorReply)
    /// No reply came, and none will, because the connection ended. The server may or may not have carried the command
    /// out.
    case lost

    /// The text of a string reply.
    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements of an array reply.
    var array: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// An error that a server replied.
package struct RedisErrorReply: Equatable, Sendable {
    package let line: String

    package init(line: String) {
        self.line = line
    }

    /// The first word, which names the error: `MOVED`, `OOM`, `LOADING`, …
    var code: Substring { line.prefix { $0 != " " } }

    /// The server that a cluster names instead of the one that was asked; `nil` for any other error (Redis Cluster
    /// specification, "Redirection and resharding").
    var redirection: RedisRedirection? {
        let words = line.split(separator: " ")
        guard words.count == 3, ["MOVED", "ASK"].contains(words[0]), let slot = Int(words[1]),
            let colon = words[2].lastIndex(of: ":"), let port = Int32(words[2][words[2].index(after: colon)...])
        else { return nil }
        return RedisRedirection(
            slot: slot, host: String(words[2][..<colon]), port: port, isAsking: words[0] == "ASK")
    }
}

/// A cluster's instruction to ask another server about a slot.
struct RedisRedirection: Hashable {
    let slot: Int
    /// Empty for the host of the server that redirects. An IPv6 address has colons of its own.
    let host: String
    let port: Int32
    /// Whether the instruction holds for one command only (`ASK`): the slot is being moved to that server.
    let isAsking: Bool
}
