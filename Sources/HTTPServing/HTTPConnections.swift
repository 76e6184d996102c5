internal import CLibEventHTTP
internal import EventLoops
package import Synchronization

/// The connections of one worker: how many there are, from whom, and how long each has been at what it does.
///
/// libevent's own timeout would let a peer live that moves a byte now and then. So they are looked through twice a second,
/// which for ten thousand takes less than a millisecond.
final class HTTPConnections {
    /// One that was made in this turn of the loop, and is not known as a connection yet.
    private struct Fresh {
        let buffer: OpaquePointer
        let isTLS: Bool
        let isLost: Bool
    }

    private let loop: EventLoop
    private let limits: HTTPLimits
    private let count: HTTPConnectionCount
    /// The most bytes that this worker's unfinished requests may take.
    private let share: Int
    /// Bytes that the unfinished requests of all this worker's connections take.
    private var unfinished = 0
    private var fresh: [Fresh] = []
    private var known: [OpaquePointer: HTTPConnection] = [:]

    init(_ loop: EventLoop, _ limits: HTTPLimits, _ count: HTTPConnectionCount, share: Int) {
        (self.loop, self.limits, self.count, self.share) = (loop, limits, count, share)
    }

    /// Whether no request waits for its answer, or for the answer's last byte to be sent.
    var areQuiet: Bool { !known.values.contains(where: \.isAnswering) }

    /// - Parameter isLost: whether it must be closed, unread.
    func accepted(_ buffer: OpaquePointer, isTLS: Bool, isLost: Bool) {
        fresh.append(Fresh(buffer: buffer, isTLS: isTLS, isLost: isLost))
    }

    /// Gets to know the connections that were made in this turn, which ended with that: nothing was read from them yet.
    func adopt() {
        for one in fresh {
            // evhttp tells of a connection only with its first request. But it is what evhttp gave the buffer to call back with.
            var argument: UnsafeMutableRawPointer?
            bufferevent_getcb(one.buffer, nil, nil, nil, &argument)
            guard let pointer = argument.map({ OpaquePointer($0) }),
                evhttp_connection_get_bufferevent(pointer) == one.buffer
            else { continue }
            adopt(pointer, one)
        }
        fresh.removeAll(keepingCapacity: true)
    }

    private func adopt(_ pointer: OpaquePointer, _ fresh: Fresh) {
        let connection = HTTPConnection(pointer, fresh.buffer, self, isTLS: fresh.isTLS)
        guard !fresh.isLost, count.enter(connection.peer, limits) else {
            evhttp_connection_free(pointer)
            return
        }
        known[pointer] = connection
        connection.watch()
    }

    /// A request has arrived whole on its connection.
    func hasArrived(_ request: OpaquePointer) {
        guard let pointer = evhttp_request_get_connection(request) else { return }
        known[pointer]?.hasArrived()
        evhttp_request_set_on_complete_cb(
            request,
            { request, connections in
                guard let connections, let pointer = evhttp_request_get_connection(request) else { return }
                Unmanaged<HTTPConnections>.fromOpaque(connections).takeUnretainedValue().known[pointer]?.hasAnswered()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether all that a request's connection has brought is read by everybody as libevent reads it.
    func isTrusted(_ request: OpaquePointer) -> Bool {
        evhttp_request_get_connection(request).flatMap { known[$0] }?.isTrusted ?? false
    }

    /// Whether a request must have a Host.
    func demandsHost(_ request: OpaquePointer) -> Bool {
        evhttp_request_get_connection(request).flatMap { known[$0] }?.demandsHost ?? true
    }

    /// Has nothing more served on a request's connection, and ends it soon: behind a CONNECT, libevent would not.
    func distrust(_ request: OpaquePointer) {
        guard let pointer = evhttp_request_get_connection(request) else { return }
        known[pointer]?.isTrusted = false
    }

    /// The answer to a request is on its way.
    func isSending(_ request: OpaquePointer) {
        guard let pointer = evhttp_request_get_connection(request) else { return }
        known[pointer]?.isSending()
    }

    func hasClosed(_ pointer: OpaquePointer) {
        guard let connection = known.removeValue(forKey: pointer) else { return }
        connection.unwatch()
        unfinished -= connection.unfinished
        count.leave(connection.peer)
    }

    /// Before the server is freed, and all connections with it.
    func forgetAll() {
        for pointer in known.keys { hasClosed(pointer) }
    }

    /// Counts bytes of an unfinished request; a negative number gives them back.
    fileprivate func holds(_ bytes: Int) {
        unfinished += bytes
        // Other events of this iteration wait: handling them would only add to the sum.
        if unfinished > share { loop.endTurn() }
    }

    /// If unfinished requests take more than this worker's share, closes the connections that hold the most of them. It frees
    /// an eighth of the share, so that it need not sort in every event-loop iteration.
    func closeLargest() {
        guard unfinished > share else { return }
        let candidates = known.values.filter { !$0.isAnswering && $0.unfinished > 0 }
        for connection in candidates.sorted(by: { $0.unfinished > $1.unfinished }) {
            guard unfinished > share - share / 8 else { return }
            evhttp_connection_free(connection.pointer)
            HTTPServer.unfinishedClosed.add(1, ordering: .relaxed)
        }
    }

    func closeOverdue() {
        let now = ContinuousClock.now
        for (pointer, connection) in known where connection.isOverdue(at: now, limits) {
            evhttp_connection_free(pointer)
        }
    }
}

/// One connection. What it points to is libevent's, and there until libevent says that it has closed.
final class HTTPConnection {
    private enum State {
        case idle(since: ContinuousClock.Instant)
        case arriving(since: ContinuousClock.Instant)
        /// A request waits: the connection must stay, since the answer will be sent on it.
        case answering
        case sending(since: ContinuousClock.Instant)
    }

    let peer: String
    fileprivate let pointer: OpaquePointer
    private let buffer: OpaquePointer
    private unowned let owner: HTTPConnections
    private var watcher: OpaquePointer?
    private var state: State
    private var head = HTTPHeadScanner()
    fileprivate var isTrusted = true
    /// Memory in bytes that this connection's unfinished request takes. It is 0 from a request's arrival until its answer is
    /// sent, because libevent reads nothing meanwhile.
    private(set) var unfinished = 0
    /// The least that libevent takes for what comes into an empty buffer, and may keep.
    private static let smallestPiece = 1024
    /// The least that libevent takes for a header, which it keeps as two texts and a link.
    private static let smallestLine = 112

    init(_ pointer: OpaquePointer, _ buffer: OpaquePointer, _ owner: HTTPConnections, isTLS: Bool) {
        (self.pointer, self.buffer, self.owner) = (pointer, buffer, owner)
        // A handshake brings no bytes that we could see. It is part of the first request's way.
        state = isTLS ? .arriving(since: .now) : .idle(since: .now)
        peer = Self.peer(of: pointer)
    }

    /// The address at a connection's other end; empty for a Unix socket.
    static func peer(of pointer: OpaquePointer) -> String {
        var address: UnsafeMutablePointer<CChar>?
        var port: UInt16 = 0
        evhttp_connection_get_peer(pointer, &address, &port)
        return address.map { String(cString: $0) } ?? ""
    }

    /// Has libevent tell of its bytes and of its end. Unretained, both: the owner lets go of it only when it has closed.
    func watch() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        evhttp_connection_set_closecb(
            pointer,
            { pointer, connection in
                guard let pointer, let connection else { return }
                Unmanaged<HTTPConnection>.fromOpaque(connection).takeUnretainedValue().owner.hasClosed(pointer)
            }, me)
        watcher = evbuffer_add_cb(
            bufferevent_get_input(buffer),
            { buffer, change, connection in
                guard let buffer, let change, change.pointee.n_added > 0, let connection else { return }
                Unmanaged<HTTPConnection>.fromOpaque(connection).takeUnretainedValue()
                    .moves(buffer, from: change.pointee.orig_size, by: change.pointee.n_added)
            }, me)
    }

    func unwatch() {
        evhttp_connection_set_closecb(pointer, nil, nil)
        if let watcher { evbuffer_remove_cb_entry(bufferevent_get_input(buffer), watcher) }
        watcher = nil
    }

    var demandsHost: Bool { head.demandsHost }

    var isAnswering: Bool {
        switch state {
        case .answering, .sending: true
        case .idle, .arriving: false
        }
    }

    func hasArrived() {
        state = .answering
        hold(-unfinished)
    }

    private func hold(_ bytes: Int) {
        unfinished += bytes
        owner.holds(bytes)
    }

    func isSending() { state = .sending(since: .now) }

    /// What came meanwhile is the beginning of the next request.
    func hasAnswered() {
        let input = bufferevent_get_input(buffer)
        let next = evbuffer_get_length(input)
        hold(next)
        state = next > 0 ? .arriving(since: .now) : .idle(since: .now)
        head = HTTPHeadScanner()
        if let input { scanHead(in: input, from: 0) }
    }

    /// - Parameters:
    ///   - position: where in the buffer the bytes begin that have come.
    ///   - count: how many those are.
    private func moves(_ buffer: OpaquePointer, from position: Int, by count: Int) {
        if !isAnswering { hold(position == 0 ? max(count, Self.smallestPiece) : count) }
        if case .idle = state { state = .arriving(since: .now) }
        scanHead(in: buffer, from: position)
    }

    /// In pieces, since a peer may have sent the next thousand requests too.
    private func scanHead(in buffer: OpaquePointer, from position: Int) {
        var position = position
        while !head.hasEnded {
            var start = evbuffer_ptr()
            let count = min(4096, evbuffer_get_length(buffer) - position)
            guard count > 0, evbuffer_ptr_set(buffer, &start, position, EVBUFFER_PTR_SET) == 0 else { return }
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, copied in
                copied = max(0, Int(evbuffer_copyout_from(buffer, &start, bytes.baseAddress, count)))
            }
            let lines = head.lines
            head.scan(bytes)
            hold((head.lines - lines) * Self.smallestLine)
            if head.isOdd { isTrusted = false }
            position += count
        }
    }

    func isOverdue(at now: ContinuousClock.Instant, _ limits: HTTPLimits) -> Bool {
        switch state {
        case .idle(let since): !isTrusted || now - since > .milliseconds(limits.idleMilliseconds)
        case .arriving(let since), .sending(let since): now - since > .milliseconds(limits.arrivalMilliseconds)
        case .answering: false
        }
    }
}

extension HTTPServer {
    /// How many connections this process has closed for the bytes of their unfinished requests.
    package static let unfinishedClosed = Atomic<Int>(0)
}
