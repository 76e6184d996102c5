internal import Basics
internal import CLibEvent
internal import Glibc

/// A socket address, as the resolver returns it.
struct SocketAddress: Sendable {
    private let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

    /// The address family, such as `AF_INET`.
    var family: Int32 { withPointer { address, _ in Int32(address?.pointee.sa_family ?? 0) } }

    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Value) -> Value {
        bytes.withUnsafeBytes {
            body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
    }
}

/// The addresses of hosts, which a thread looks up, one name at a time in a process: the host's resolver may take
/// seconds.
enum HostAddresses {
    typealias Found = Result<[SocketAddress], StreamConnection.Ending>

    struct Host: Hashable {
        let name: String
        let port: UInt16
    }

    private struct State {
        /// The hosts that wait to be looked up.
        var queue: [Host] = []
        /// The callers that wait for a host in the queue, or for one that is being looked up, each by a number.
        var waiting: [Host: [Int: @Sendable (Found) -> Void]] = [:]
        /// The addresses that were found last.
        var known: [Host: [SocketAddress]] = [:]
        var count = 0
    }

    private static let state = Guarded(State())
    private static let thread = JobThreads(most: 1) {
        guard let host = state.withLock({ $0.queue.isEmpty ? nil : $0.queue.removeFirst() }) else { return false }
        let (code, addresses) = resolve(host, flags: AI_NUMERICSERV)
        let (found, waiting) = state.withLock { state in
            // What the resolver says replaces what it said before; that it says nothing does not.
            if code != EAI_AGAIN { state.known[host] = code == 0 ? addresses : nil }
            let found = state.known[host].map { Found.success($0) } ?? .failure(failure(code))
            return (found, state.waiting.removeValue(forKey: host) ?? [:])
        }
        for done in waiting.values { done(found) }
        return true
    }

    /// The addresses that an earlier look-up has found.
    static func known(of host: Host) -> [SocketAddress]? { state.withLock { $0.known[host] } }

    /// The address that a host's name itself is; `nil` for a name that has to be looked up.
    static func written(in host: Host) -> [SocketAddress]? {
        let (code, addresses) = resolve(host, flags: AI_NUMERICSERV | AI_NUMERICHOST)
        return code == 0 ? addresses : nil
    }

    /// Has the thread look a host up. All that ask for a host while it is looked up share the outcome.
    ///
    /// - Returns: The number by which ``cancel(_:of:)`` ends the wait.
    static func lookUp(_ host: Host, _ done: @escaping @Sendable (Found) -> Void) -> Int {
        let (number, waiting) = state.withLock { state -> (Int, Int) in
            state.count += 1
            let isNew = state.waiting[host] == nil
            state.waiting[host, default: [:]][state.count] = done
            guard isNew else { return (state.count, 0) }
            state.queue.append(host)
            return (state.count, state.queue.count)
        }
        if waiting > 0 { thread.wake(for: waiting) }
        return number
    }

    /// Forgets one who waits; the look-up goes on, since the thread cannot be called back.
    static func cancel(_ number: Int, of host: Host) { state.withLock { $0.waiting[host]?[number] = nil } }

    private static func failure(_ code: Int32) -> StreamConnection.Ending {
        StreamConnection.Ending(description: "cannot be looked up: \(String(cString: gai_strerror(code)))")
    }

    /// - Returns: The resolver's error, or 0, and the addresses.
    private static func resolve(_ host: Host, flags: Int32) -> (Int32, [SocketAddress]) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host.name, String(host.port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        let addresses = sequence(first: found) { $0?.pointee.ai_next }.compactMap { entry -> SocketAddress? in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            return SocketAddress(
                bytes: [UInt8](UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))))
        }
        return (code, addresses)
    }
}

/// A connection's wait for the addresses of its host, which ends with this object.
final class AddressWait {
    private let host: HostAddresses.Host
    private var number = 0
    private var mailbox: LoopMailbox<HostAddresses.Found>?
    private var patience: LoopTimer?

    /// - Parameters:
    ///   - patience: The milliseconds after which the addresses that were found last serve, if any were.
    ///   - found: Called once on the loop's thread.
    init(
        for host: HostAddresses.Host, patience: Int, on loop: EventLoop,
        _ found: @escaping (HostAddresses.Found) -> Void
    ) throws(EventLoopError) {
        self.host = host
        let mailbox = try LoopMailbox(loop, found)
        self.mailbox = mailbox
        if let known = HostAddresses.known(of: host) {
            self.patience = loop.timer(afterMilliseconds: patience) { found(.success(known)) }
        }
        number = HostAddresses.lookUp(host) { [slot = mailbox.slot] in slot.put($0) }
    }

    deinit { HostAddresses.cancel(number, of: host) }
}
