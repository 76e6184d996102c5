internal import Basics
internal import EventLoops
internal import Glibc
package import Synchronization

/// A socket that a worker accepts on.
struct HTTPWorkerSocket: Sendable {
    let descriptor: Int32
    let isTLS: Bool
    /// Whether the socket outlives the server, with the connections that it has not accepted.
    let isShared: Bool

    /// Closes a socket that no worker has taken over.
    func close() { Glibc.close(descriptor) }
}

/// One thread's share of a server: its loop, its listening sockets, its connections.
///
/// The requests that one event-loop iteration brought are handed to the handler as one group when the iteration ends.
final class HTTPWorker {
    private let loop: EventLoop
    private let limits: HTTPLimits
    private let handler: HTTPHandler
    private let identity: Guarded<TLSServer?>
    private let count: HTTPConnectionCount
    private var acceptors: [(listener: ConnectionListener, isShared: Bool)] = []
    private var table: HTTPConnectionTable
    /// The sockets of the table's connections, by slot.
    private var sockets: [HTTPSocket?] = []
    private var answering: HTTPAnswering?
    private var arrived: [HTTPExchange] = []
    private var timer: LoopTimer?
    private var stopTimers: [LoopTimer] = []
    /// Whether the requests that wait for their answers filled much of the memory when the event loop's iteration
    /// began.
    private var wasCrowded = false
    private var isStopping = false
    /// Whether connections on which no request is on its way are closed.
    private var hasParted = false
    private var isStopped = false
    private var now = ContinuousClock.now
    private var date = HTTPDate()
    /// Room for what is read, and for what is written, at a time.
    private let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var out = ByteWriter(capacity: 4096)

    /// Creates a worker, which closes the listening sockets with its end, also if this throws.
    init(
        _ loop: EventLoop, _ listening: [HTTPWorkerSocket], _ limits: HTTPLimits, share: Int,
        _ count: HTTPConnectionCount, _ identity: Guarded<TLSServer?>, _ handler: HTTPHandler
    ) throws(EventLoopError) {
        (self.loop, self.limits, self.handler, self.identity, self.count) = (loop, limits, handler, identity, count)
        table = HTTPConnectionTable(limits, share: share)
        answering = HTTPAnswering(self)
        do {
            for socket in listening { acceptors.append((try listen(on: socket), socket.isShared)) }
        } catch {
            // The socket that failed has closed itself.
            for socket in listening.dropFirst(acceptors.count + 1) { socket.close() }
            throw error
        }
        tick()
    }

    private func listen(on socket: HTTPWorkerSocket) throws(EventLoopError) -> ConnectionListener {
        try ConnectionListener(
            socket.descriptor, on: loop,
            accepted: { [unowned self] in adopt($0, from: $1, isSecured: socket.isTLS) },
            paused: { HTTPServer.acceptPauses.add(1, ordering: .relaxed) })
    }

    deinit {
        for slot in sockets.indices { close(slot) }
        space.deallocate()
    }

    /// Serves until ``stop(withinMilliseconds:)`` has come to its end.
    func run() {
        while !isStopped {
            // Requests that clients had sent before their last answer wait for nothing.
            wasCrowded = table.isCrowded
            loop.turn(waits: arrived.isEmpty)
            now = .now
            for slot in table.largest() {
                close(slot)
                HTTPServer.unfinishedClosed.add(1, ordering: .relaxed)
            }
            let group = arrived
            arrived = []
            if !group.isEmpty { handler.handle(group) }
            if isStopping, hasParted ? table.isQuiet : acceptors.isEmpty && table.isEmpty { isStopped = true }
        }
    }

    /// Accepts no more connections, waits for the answers that are due, and ends ``run()``.
    ///
    /// A client may send on a connection that it keeps in the moment in which the server closes it, and cannot know
    /// then whether its request was served. So the server rather announces the end with the answer to one more request.
    func stop(withinMilliseconds patience: Int) {
        guard !isStopping else { return }
        isStopping = true
        for acceptor in acceptors where !acceptor.isShared { acceptor.listener.dropNewcomers() }
        stopTimers = [
            loop.timer(afterMilliseconds: HTTPLimits.refusingMilliseconds) { [unowned self] in
                for acceptor in acceptors { acceptor.listener.acceptWaiting() }
                acceptors = []
            },
            loop.timer(afterMilliseconds: limits.partingMilliseconds) { [unowned self] in hasParted = true },
            loop.timer(afterMilliseconds: patience) { [unowned self] in isStopped = true },
        ]
    }

    /// Looks twice a second for connections that have lasted too long, which for ten thousand takes less than a
    /// millisecond, and accepts again after a pause.
    private func tick() {
        now = .now
        for overdue in table.overdue(at: now) {
            switch overdue {
            case .close(let slot): close(slot)
            case .unanswered(let ticket): answer(ticket, with: HTTPAnswer(500), isLast: true)
            }
        }
        for acceptor in acceptors { acceptor.listener.resume() }
        timer = loop.timer(afterMilliseconds: 500) { [unowned self] in tick() }
    }

    /// Takes a connection over that was accepted, unless there are too many.
    private func adopt(_ socket: Int32, from peer: String, isSecured: Bool) {
        guard count.enter(peer, limits) else {
            Glibc.close(socket)
            return
        }
        let tls = isSecured ? identity.withLock { $0 } : nil
        // A listener for TLS never speaks in the clear.
        guard !isSecured || tls != nil else {
            Glibc.close(socket)
            return count.leave(peer)
        }
        guard let stream = ByteStream(socket, accepting: tls) else { return count.leave(peer) }
        now = .now
        let slot = table.add(from: peer, isSecured: isSecured, at: now)
        while sockets.count <= slot { sockets.append(nil) }
        sockets[slot] = HTTPSocket(stream, by: tls, on: loop) { [unowned self] canWrite in
            canWrite ? resumeSending(slot) : receive(slot)
        }
    }

    private func close(_ slot: Int) {
        sockets[slot] = nil
        if let peer = table.remove(slot) { count.leave(peer) }
    }

    private func receive(_ slot: Int) {
        guard let socket = sockets[slot] else { return }
        guard table.reads(slot) else { return socket.watch.watchReading(false) }
        switch socket.stream.read(into: space) {
        case .moved(let count):
            socket.watch.watchWriting(false)
            let bytes = UnsafeRawBufferPointer(rebasing: space[..<count])
            perform(table.receive(slot, bytes, at: now), on: slot)
            // Handling other events of this iteration would only add to the sums. Requests that already waited do not
            // get their answers any sooner by that.
            if table.isOverfull || table.isCrowded && !wasCrowded { loop.endTurn() }
        case .waitsToRead: socket.watch.watchWriting(false)
        case .waitsToWrite: socket.watch.watchWriting(true)
        case .ended, .failed: close(slot)
        }
    }

    private func perform(_ event: HTTPConversation.Event, on slot: Int) {
        switch event {
        case .nothing: sockets[slot]?.watch.watchReading(true)
        case .answer(let request):
            guard let answering else { return }
            arrived.append(HTTPExchange(request, table.ticket(slot), answering))
        case .sendContinue:
            let sent = Self.proceed.withUnsafeBytes { sockets[slot]?.send($0) }
            // A socket that takes not even this at once belongs to a client that does not read.
            guard sent == Self.proceed.count else { return close(slot) }
            sockets[slot]?.watch.watchReading(true)
        case .refuse(let refusal): answer(table.ticket(slot), with: handler.refuse(refusal), isLast: true)
        case .leave:
            sockets[slot]?.stream.finishWriting()
            sockets[slot]?.watch.watchReading(true)
        }
    }

    private static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Sends an answer, unless the client has gone.
    ///
    /// - Returns: Whether the client still waited for it.
    @discardableResult
    func answer(_ ticket: HTTPConnectionTable.Ticket, with answer: HTTPAnswer, isLast: Bool = false) -> Bool {
        out.removeAll()
        let isLast = isLast || isStopping || hasOtherClients(ticket.slot)
        let isWanted = table.answer(
            ticket, answer, isLast: isLast, date: date.field(), to: &out, at: now)
        guard isWanted, let socket = sockets[ticket.slot] else { return false }
        let sent = out.withBytes { socket.send($0) }
        goOn(ticket.slot, sent, unsent: sent == out.count ? [] : Array(out.bytes.dropFirst(sent ?? 0)))
        return true
    }

    /// Whether the client of a connection was accepted by other rules than there are now.
    private func hasOtherClients(_ slot: Int) -> Bool {
        guard let accepted = sockets[slot]?.tls else { return false }
        let tls = identity.withLock { $0 }
        return tls !== accepted && tls?.clients != accepted.clients
    }

    private func resumeSending(_ slot: Int) {
        now = .now
        let bytes = table.unsent(slot)
        // TLS may have had to write before it could read.
        guard !bytes.isEmpty else { return receive(slot) }
        guard let socket = sockets[slot] else { return }
        let sent = bytes.withUnsafeBytes { socket.send($0) }
        goOn(slot, sent, unsent: Array(bytes.dropFirst(sent ?? 0)))
    }

    /// Goes on after an attempt to send.
    ///
    /// - Parameters:
    ///   - sent: How many bytes the socket took; `nil` if the connection has failed.
    ///   - unsent: The bytes that it did not take.
    private func goOn(_ slot: Int, _ sent: Int?, unsent: [UInt8]) {
        guard sent != nil, let watch = sockets[slot]?.watch else { return close(slot) }
        watch.watchWriting(!unsent.isEmpty)
        guard unsent.isEmpty else {
            table.keep(slot, unsent: unsent)
            return watch.watchReading(false)
        }
        perform(table.hasSent(slot, at: now), on: slot)
    }
}

/// The socket of a connection, and the watch on it.
private final class HTTPSocket {
    /// The watch, which must end before its socket does: properties end in the order in which they are declared.
    let watch: SocketWatch
    let stream: ByteStream
    /// The rules by which the client was accepted; `nil` in the clear.
    let tls: TLSServer?

    init(
        _ stream: consuming ByteStream, by tls: TLSServer?, on loop: EventLoop,
        _ action: @escaping (_ canWrite: Bool) -> Void
    ) {
        watch = SocketWatch(loop, stream.socket, action)
        self.stream = stream
        self.tls = tls
        watch.watchReading(true)
    }

    /// Sends as many bytes as the socket takes.
    ///
    /// - Returns: how many that were; `nil` if the connection has failed.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var sent = 0
        while sent < bytes.count {
            switch stream.write(UnsafeRawBufferPointer(rebasing: bytes[sent...])) {
            case .moved(let count): sent += count
            case .waitsToRead, .waitsToWrite: return sent
            case .ended, .failed: return nil
            }
        }
        return sent
    }
}

/// The value of an answer's Date field (RFC 9110, 5.6.7), made once a second.
private struct HTTPDate {
    private var second = 0
    private var text: [UInt8] = []

    mutating func field() -> [UInt8] {
        var now = Glibc.time(nil)
        guard now != second else { return text }
        var (fields, space) = (tm(), [CChar](repeating: 0, count: 32))
        gmtime_r(&now, &fields)
        // In the C locale, which a process has unless it asks for another.
        let length = strftime(&space, space.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
        (second, text) = (now, space.prefix(length).map { UInt8(bitPattern: $0) })
        return text
    }
}

extension HTTPServer {
    /// How often a socket of this process has paused for half a second because there was no descriptor for the next
    /// connection.
    package static let acceptPauses = Atomic<Int>(0)
    /// How many connections this process has closed for the bytes of their unfinished requests.
    package static let unfinishedClosed = Atomic<Int>(0)
}
