internal import Basics
internal import EventLoops
internal import MediaToken

/// A connection to a server, logged in: commands go out and replies come in, in the same order.
final class RedisConnection {
    private let address: RedisAddress
    private let replyReader = RedisReplyReader()
    private let received: ([RedisReply]) -> Void
    private let ended: (ReplayStoreError) -> Void
    private var stream: StreamConnection?
    /// Whether the first reply will be that to the login.
    private var awaitsLogin: Bool
    /// The replies so far, until there are two of them. A server that serves no more clients sends an error and closes
    /// the connection.
    private var firstReplies: [RedisReply] = []

    /// Begins to connect and to log in. Commands can be sent at once.
    ///
    /// - Parameters:
    ///   - tls: what this side shows and demands; `nil` for a store without TLS.
    ///   - received: called with the replies to commands.
    ///   - ended: called once when the connection could not be made or has ended, unless it was closed before.
    init(
        to address: RedisAddress, _ configuration: RedisConfiguration, tls: TLSClient?, on loop: EventLoop,
        received: @escaping ([RedisReply]) -> Void, ended: @escaping (ReplayStoreError) -> Void
    ) throws(ReplayStoreError) {
        self.address = address
        self.received = received
        self.ended = ended
        guard address.host != RedisServers.unknownHost else {
            throw .unavailable("a node of the cluster announces no host name; set its cluster-announce-hostname")
        }
        guard let port = UInt16(exactly: address.port) else {
            throw .unavailable("\(address) was named by its cluster, and has no port from 0 to 65535")
        }
        let password = try Self.password(configuration, for: address)
        awaitsLogin = password != nil
        do throws(StreamConnection.Ending) {
            stream = try StreamConnection(
                to: address.host, port: port, tls: tls, on: loop,
                received: { [unowned self] in self.receive($0) },
                ended: { [unowned self] ending in
                    if firstReplies.count == 1, case .error(let error) = firstReplies[0] {
                        return end(error.storeError(at: address))
                    }
                    let advice = ending.wasConnected && firstReplies.isEmpty ? Self.advice(configuration) : ""
                    end(.unavailable("\(address) \(ending)\(advice)"))
                })
        } catch {
            throw .unavailable("\(address) \(error)")
        }
        if let password { send([["AUTH"] + (configuration.user.map { [$0] } ?? []) + [password]]) }
    }

    /// The password, which is read from its file for each connection, so that it can be changed while the store is
    /// open.
    private static func password(
        _ configuration: RedisConfiguration, for address: RedisAddress
    ) throws(ReplayStoreError) -> String? {
        guard let file = configuration.passwordFile else { return configuration.password }
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(file, limit: 4096, onlyRegular: true) } catch {
            throw .unavailable("no login at \(address): the password file \(file) \(error)")
        }
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { throw .unavailable("the password file \(file) is empty") }
        return String(decoding: line, as: UTF8.self)
    }

    /// What may be wrong if a server ends a connection before it has answered anything.
    private static func advice(_ configuration: RedisConfiguration) -> String {
        guard let tls = configuration.tls else { return "; a port for TLS needs rediss://" }
        return tls.certificate == nil ? "; a server that demands a client's certificate needs tls-certificate" : ""
    }

    /// Sends commands in one piece.
    func send(_ commands: [RedisCommand]) {
        stream?.send(RedisCommandWriter.bytes(of: commands))
    }

    /// Ends the connection. No callback is called afterwards.
    func close() {
        stream?.close()
        stream = nil
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        replyReader.feed(bytes)
        var replies: [RedisReply] = []
        do throws(RedisReplyReader.ProtocolError) {
            while let reply = try replyReader.next() { replies.append(reply) }
        } catch {
            return end(.unavailable("\(address) does not speak Redis' protocol"))
        }
        firstReplies += replies.prefix(2 - firstReplies.count)
        if awaitsLogin, let login = replies.first {
            awaitsLogin = false
            if case .error(let error) = login { return end(error.loginError(at: address)) }
            replies.removeFirst()
        }
        if !replies.isEmpty { received(replies) }
    }

    private func end(_ error: ReplayStoreError) {
        close()
        ended(error)
    }
}
