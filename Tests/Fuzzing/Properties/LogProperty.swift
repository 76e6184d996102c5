internal import Basics
internal import HTTP
internal import MediaTokenGate

/// What the log takes from a request is short, of few characters, and in the request; no long word gets into a reason.
enum LogProperty {
    /// The first three are refused.
    private static let networks = [
        "10.0.0.1/8", "10.0.0.0/33", "here", "10.0.0.0/8", "2001:db8::/33", "192.0.2.1",
    ]
    /// What is trusted, with peers on Unix sockets and without.
    private static let trusted = [networks + ["unix"], networks].map {
        TrustedProxies($0.compactMap { TrustedProxy($0) })
    }

    static func check(_ request: HTTPRequest) throws {
        let values = request.headers.map(\.value)
        if let id = RequestID.of(request) {
            let isPlain = id.utf8.allSatisfy { $0.isLetterOrDigit || "+-./:=@_".utf8.contains($0) }
            try demand((1...64).contains(id.utf8.count) && isPlain, "an ID that could be a token")
            try demand(values.contains { $0.contains(id) }, "an ID that the request does not have")
        }
        for (peer, proxies) in ["", "10.1.2.3", "203.0.113.7", "nowhere"].flatMap({ peer in trusted.map { (peer, $0) } }
        ) {
            let sent = HTTPRequest(method: "GET", path: "/", headers: request.headers, peer: peer)
            guard let client = proxies.client(of: sent) else { continue }
            let isPlain = client.utf8.allSatisfy { $0.isLetterOrDigit || ".:".utf8.contains($0) }
            try demand(
                ["", "10.1.2.3"].contains(peer) && isPlain && client.utf8.count <= 45, "a client that is no address")
            try demand(values.contains { $0.contains(client) }, "a client that the request does not have")
        }
    }

    static func check(_ reply: GateReply) throws {
        guard var reason = reply.detail else {
            return try demand([200, 204].contains(reply.answer.status), "denied without a reason")
        }
        let short = reason.withUTF8 { bytes in
            var writer = ByteWriter(capacity: 256)
            LogReason.write(UnsafeRawBufferPointer(bytes), to: &writer)
            return writer.text
        }
        let longest = short.utf8.split(separator: UInt8(ascii: " ")).map(\.count).max() ?? 0
        // A cut word has an ellipsis behind it, and a value that was cut its quotation mark and what follows that.
        try demand(longest <= 32 && short.utf8.count <= 516, "a word of \(longest) bytes in the log")
    }
}
