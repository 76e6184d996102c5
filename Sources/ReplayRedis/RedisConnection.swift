internal import CHiredis
internal import EventLoops
internal import TextEncodings

/// Words of one command, as they are sent.
typealias RedisCommand = [String]

/// One connection, driven by an event loop: any number of commands in flight, replies in their order.
///
/// The connection owns hiredis' context and frees it when it is closed, at the latest in `deinit`.
final class RedisConnection {
    private var closeReason: String?
    /// Outlives the context, which is attached to it.
    private let loop: EventLoop
    private var context: UnsafeMutablePointer<redisAsyncContext>?

    /// Begins to connect. Commands may be sent at once.
    init(to address: RedisAddress, on loop: EventLoop) {
        self.loop = loop
        guard let context = redisAsyncConnect(address.host, address.port) else {
            closeReason = "cannot be reached: no memory"
            return
        }
        guard context.pointee.err == 0, redisLibeventAttach(context, loop.base) == REDIS_OK else {
            closeReason = Self.reason(context)
            redisAsyncFree(context)
            return
        }
        self.context = context
        // A peer that vanished without a word is found out even by a connection that is hardly used.
        redisEnableKeepAlive(&context.pointee.c)
        // Unretained: the context is freed with this object at the latest.
        context.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        redisAsyncSetConnectCallback(context) { context, status in
            if status != REDIS_OK { RedisConnection.hasGone(context) }
        }
        redisAsyncSetDisconnectCallback(context) { context, _ in RedisConnection.hasGone(context) }
    }

    deinit {
        close("is closed")
    }

    var isOpen: Bool { context != nil }

    /// Why it is gone, or going.
    var reason: String { closeReason ?? context.map { Self.reason($0) } ?? "closed the connection" }

    /// Sends commands in one go, and calls `completion` when the last is answered, with a reply for each. Once the connection
    /// is gone the replies are `.lost`, and `completion` may be called before this returns. There must be at least one command.
    func send(_ commands: [RedisCommand], _ completion: @escaping ([RedisReply]) -> Void) {
        let batch = RedisBatch(count: commands.count, completion)
        for command in commands {
            // hiredis calls back once for each command that it takes, whatever happens, and in their order.
            let held = Unmanaged.passRetained(batch)
            guard let context, Self.append(command, to: context, for: held.toOpaque()) else {
                held.release()
                batch.add(.lost)
                continue
            }
        }
    }

    /// Lets the connection go; what is in flight is lost.
    func close(_ reason: String) {
        guard let context else { return }
        self.context = nil
        closeReason = reason
        context.pointee.data = nil
        redisAsyncFree(context)
    }

    private static func append(
        _ command: RedisCommand, to context: UnsafeMutablePointer<redisAsyncContext>, for batch: UnsafeMutableRawPointer
    ) -> Bool {
        var bytes: [UInt8] = []
        let lengths = command.map { word in
            bytes.append(contentsOf: word.utf8)
            return word.utf8.count
        }
        return bytes.withUnsafeBytes { bytes in
            var position = 0
            var words: [UnsafePointer<CChar>?] = lengths.map { length in
                defer { position += length }
                return bytes.baseAddress.map { ($0 + position).assumingMemoryBound(to: CChar.self) }
            }
            return redisAsyncCommandArgv(context, deliver, batch, Int32(words.count), &words, lengths) == REDIS_OK
        }
    }

    /// hiredis' callback: one reply, or none because the connection is gone.
    private static let deliver:
        @convention(c) (
            UnsafeMutablePointer<redisAsyncContext>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Void = { _, reply, batch in
            guard let batch else { return }
            Unmanaged<RedisBatch>.fromOpaque(batch).takeRetainedValue()
                .add(reply.map { RedisReply($0.assumingMemoryBound(to: redisReply.self)) } ?? .lost)
        }

    /// hiredis frees the context itself after it has told so.
    private static func hasGone(_ context: UnsafePointer<redisAsyncContext>?) {
        guard let context, let owner = context.pointee.data else { return }
        let connection = Unmanaged<RedisConnection>.fromOpaque(owner).takeUnretainedValue()
        connection.context = nil
        connection.closeReason = reason(context)
    }

    private static func reason(_ context: UnsafePointer<redisAsyncContext>) -> String {
        // Of a connection that never was, the inner context alone knows why.
        let inner = context.pointee.c
        guard inner.err != 0 else { return "closed the connection" }
        let text = withUnsafeBytes(of: inner.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return inner.err == REDIS_ERR_EOF ? "closed the connection" : "cannot be reached: " + printable(text)
    }
}

/// The replies to commands that were sent together.
private final class RedisBatch {
    private var replies: [RedisReply] = []
    private let count: Int
    private let completion: ([RedisReply]) -> Void

    init(count: Int, _ completion: @escaping ([RedisReply]) -> Void) {
        self.count = count
        self.completion = completion
        replies.reserveCapacity(count)
    }

    func add(_ reply: RedisReply) {
        replies.append(reply)
        if replies.count == count { completion(replies) }
    }
}
