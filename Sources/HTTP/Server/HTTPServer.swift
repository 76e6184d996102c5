internal import Basics
package import EventLoops
internal import Glibc

/// An HTTP server: a loop on each of its threads, and sockets that they share. It knows nothing of what it serves.
package final class HTTPServer: Sendable {
    /// The addresses on which the server listens, with the port that the system chose in place of port 0, and all that
    /// systemd has opened.
    package let listeners: [HTTPListener]
    /// The addresses, systemd's included, at which others on the network can read and change what is said.
    package let exposedListeners: [HTTPListener]
    private let sockets: [ListeningSocket]
    private let count: HTTPConnectionCount
    /// The TLS settings of new connections. Open connections keep those that they were made with.
    private let identity: Guarded<TLSServer?>
    private let threads: [ServiceThread]
    private let controls: [HTTPWorkerControl]

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - listeners: where to listen.
    ///   - workers: threads.
    ///   - unixMode: permissions of Unix sockets.
    ///   - tls: for the listeners that speak TLS; without it, they close every connection.
    ///   - handler: called once on each thread, with its loop, for what is to handle its requests.
    package init(
        _ listeners: [HTTPListener], workers: Int, limits: HTTPLimits = HTTPLimits(), unixMode: UInt32 = 0o660,
        tls: TLSServer? = nil, handler: @escaping @Sendable (EventLoop) -> HTTPHandler
    ) throws(HTTPServerError) {
        var sockets: [ListeningSocket] = []
        do {
            for listener in listeners {
                sockets += try ListeningSocket.open(listener, workers: workers, unixMode: unixMode)
            }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        self.sockets = sockets
        self.listeners = sockets.map { socket in
            if case .tcp = socket.listener.socket { socket.bound } else { socket.listener }
        }
        exposedListeners = sockets.map(\.bound).filter(\.isExposed)
        (count, identity) = (HTTPConnectionCount(), Guarded(tls))
        var (threads, controls, failure) = ([ServiceThread](), [HTTPWorkerControl](), HTTPServerError?.none)
        for number in 0..<workers {
            let control = HTTPWorkerControl()
            let own = sockets.map {
                HTTPWorkerSocket(
                    descriptor: $0.descriptors[number], isTLS: $0.listener.isTLS, isShared: $0.isShared)
            }
            let share = limits.unfinishedShare(of: workers)
            let thread = ServiceThread { [count, identity] in
                control.serve(own, limits, share: share, count, identity, handler)
            }
            guard let thread else {
                for later in number..<workers { for socket in sockets { Glibc.close(socket.descriptors[later]) } }
                failure = HTTPServerError("cannot start thread \(number + 1) of \(workers)")
                break
            }
            threads.append(thread)
            controls.append(control)
        }
        (self.threads, self.controls) = (threads, controls)
        for control in controls { failure = control.waitUntilServing() ?? failure }
        guard let failure else { return }
        stop(withinMilliseconds: 0)
        throw failure
    }

    /// The certificate and client rules that new TLS connections get; `nil` without TLS.
    package var tls: TLSServer? { identity.withLock { $0 } }

    /// Shows another certificate, and demands others, from the next connection on.
    package func replace(_ tls: TLSServer?) { identity.withLock { $0 = tls } }

    /// The addresses among `listeners` at which a server would exchange clear text with a network. A process that
    /// serves must not call this, because it takes systemd's sockets.
    package static func exposedListeners(among listeners: [HTTPListener]) -> [HTTPListener] {
        ListeningSocket.places(of: listeners).filter(\.isExposed)
    }

    /// Connections that are open.
    package var connections: Int { count.current }

    /// Takes no more connections, answers what is on its way and, for a second, what clients still ask on open
    /// connections, each of which ends with its answer. Returns when that is done, or after `patience`.
    package func stop(withinMilliseconds patience: Int) {
        for socket in sockets { socket.withdraw() }
        for control in controls { control.stop(withinMilliseconds: patience) }
        for thread in threads { thread.join() }
    }
}

/// Lets the server's thread start and stop a worker.
private final class HTTPWorkerControl: Sendable {
    private struct State {
        /// The worker's waker once it serves, or why it cannot; `nil` before that, and after the worker has ended.
        var outcome: Result<LoopWaker.Signal, HTTPServerError>?
        /// Milliseconds for which a worker that is to stop goes on answering.
        var patience = 0
    }

    private static let noDescriptors = HTTPServerError("cannot serve: no file descriptors left")

    private let state = Guarded(State())

    /// The life of a worker's thread.
    func serve(
        _ sockets: [HTTPWorkerSocket], _ limits: HTTPLimits, share: Int, _ count: HTTPConnectionCount,
        _ identity: Guarded<TLSServer?>, _ handler: (EventLoop) -> HTTPHandler
    ) {
        let loop: EventLoop
        do { loop = try EventLoop() } catch {
            for socket in sockets { socket.close() }
            return state.withLock { $0.outcome = .failure(Self.noDescriptors) }
        }
        do throws(EventLoopError) {
            let worker = try HTTPWorker(loop, sockets, limits, share: share, count, identity, handler(loop))
            let waker = try LoopWaker(loop) { [unowned worker, state] in
                worker.stop(withinMilliseconds: state.withLock { $0.patience })
            }
            state.withLock { $0.outcome = .success(waker.signal) }
            worker.run()
            withExtendedLifetime(waker) {}
            state.withLock { $0.outcome = nil }
        } catch {
            state.withLock { $0.outcome = .failure(Self.noDescriptors) }
        }
    }

    /// Waits until the worker serves or has failed, and returns its error; `nil` if it serves.
    func waitUntilServing() -> HTTPServerError? {
        while true {
            switch state.withLock({ $0.outcome }) {
            case .success: return nil
            case .failure(let failure): return failure
            case nil: usleep(1000)
            }
        }
    }

    func stop(withinMilliseconds patience: Int) {
        state.withLock {
            $0.patience = patience
            if case .success(let signal) = $0.outcome { signal.wake() }
        }
    }
}
