package import EventLoop
internal import Glibc
internal import Threading

/// Handles what one turn of a loop brought. Each exchange is answered by it, then or later, on the loop's thread.
package typealias HTTPHandler = (_ group: [HTTPExchange]) -> Void

/// An HTTP server: a loop on each of its threads, and sockets that they share. It knows nothing of what it serves.
package final class HTTPServer: Sendable {
    /// Why it cannot serve.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The ports that it listens on, in the order of the listeners; 0 for a path.
    package let ports: [UInt16]
    private let count: HTTPConnectionCount
    private let threads: [ServiceThread]
    private let controls: [HTTPWorkerControl]

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - listeners: where to listen.
    ///   - workers: threads.
    ///   - handler: called once on each thread, with its loop, for what is to handle its requests.
    package init(
        _ listeners: [HTTPListener], workers: Int, limits: HTTPLimits = HTTPLimits(),
        handler: @escaping @Sendable (EventLoop) -> HTTPHandler
    ) throws(Failure) {
        var sockets: [[Int32]] = []
        do {
            for listener in listeners { sockets.append(try listener.listen(workers: workers)) }
        } catch {
            for socket in sockets.joined() { close(socket) }
            throw error
        }
        ports = sockets.map { Self.port(of: $0[0]) }
        count = HTTPConnectionCount()
        var (threads, controls) = ([ServiceThread](), [HTTPWorkerControl]())
        for number in 0..<workers {
            let control = HTTPWorkerControl()
            let own = sockets.map { $0[number] }
            let thread = ServiceThread { [count] in control.serve(own, limits, count, handler) }
            guard let thread else { throw Failure("cannot start thread \(number + 1) of \(workers)") }
            threads.append(thread)
            controls.append(control)
        }
        (self.threads, self.controls) = (threads, controls)
        for control in controls { if let failure = control.waitUntilServing() { throw failure } }
    }

    /// Connections that are open.
    package var connections: Int { count.current }

    /// Takes no more connections, answers what is on its way, and returns when that is done, or after `patience`.
    package func stop(withinMilliseconds patience: Int) {
        for control in controls { control.stop(withinMilliseconds: patience) }
        for thread in threads { thread.join() }
    }

    private static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        // The port lies at the same place in the addresses of both families.
        let isInternet = address.sin6_family == sa_family_t(AF_INET) || address.sin6_family == sa_family_t(AF_INET6)
        return code == 0 && isInternet ? UInt16(bigEndian: address.sin6_port) : 0
    }
}

/// What other threads may ask of a worker.
///
/// `@unchecked Sendable`: its state is touched under its lock only.
private final class HTTPWorkerControl: @unchecked Sendable {
    private let lock = Lock()
    private var outcome: Result<LoopWaker, HTTPServer.Failure>?
    private var patience = 0

    /// The life of a worker's thread.
    func serve(
        _ sockets: [Int32], _ limits: HTTPLimits, _ count: HTTPConnectionCount, _ handler: (EventLoop) -> HTTPHandler
    ) {
        do {
            let loop = try EventLoop()
            let worker = try HTTPWorker(loop, sockets, limits, count, handler(loop))
            let waker = try LoopWaker(loop) { [unowned worker] in
                worker.stop(withinMilliseconds: self.lock.withLock { self.patience })
            }
            lock.withLock { outcome = .success(waker) }
            worker.run()
            withExtendedLifetime(waker) {}
            lock.withLock { outcome = nil }
        } catch {
            let failure = error as? HTTPServer.Failure ?? HTTPServer.Failure("cannot serve: no file descriptors left")
            lock.withLock { outcome = .failure(failure) }
        }
    }

    /// `nil` once it serves.
    func waitUntilServing() -> HTTPServer.Failure? {
        while true {
            switch lock.withLock({ outcome }) {
            case .success: return nil
            case .failure(let failure): return failure
            case nil: usleep(1000)
            }
        }
    }

    func stop(withinMilliseconds patience: Int) {
        lock.withLock {
            self.patience = patience
            if case .success(let waker) = outcome { waker.wake() }
        }
    }
}
