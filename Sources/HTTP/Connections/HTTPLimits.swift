/// The limits on a client's connections, requests and time.
package struct HTTPLimits: Sendable, Equatable {
    /// The most bytes of a request's line and header fields. A longer head is answered with 431.
    package var headerBytes = 32_768
    /// The most bytes of a request's content. Longer content is answered with 413.
    package var bodyBytes = 262_144
    /// Milliseconds from a request's first byte to its last, and for a client to take its answer. The connection is
    /// closed after that.
    package var arrivalMilliseconds = 10_000
    /// Milliseconds that a connection may be open without a request on its way.
    package var idleMilliseconds = 75_000
    /// The most connections at a time. Further ones are closed at once.
    package var connections = 20_000
    /// The most connections at a time from one address. Unix sockets are not counted.
    package var connectionsPerPeer = 20_000
    /// The most bytes of memory that unfinished requests of all connections may take. Beyond that, the connections with
    /// the most of them are closed.
    package var unfinishedBytes = 67_108_864
    /// Milliseconds for which a server that stops waits for one more request on each open connection.
    package var partingMilliseconds = 1_000

    /// Milliseconds for which a client may still send after the connection's last answer.
    static let leavingMilliseconds = 2_000
    /// Milliseconds that a server which stops gives clients that have begun to connect, before it closes its TCP
    /// sockets.
    static let refusingMilliseconds = 10
    /// Milliseconds for which a request may wait for its answer. A request beyond that is answered with 500; only a
    /// fault of the handler can be the cause.
    static let answeringMilliseconds = 60_000

    package init() {}

    var message: HTTPMessageLimits { HTTPMessageLimits(headBytes: headerBytes, contentBytes: bodyBytes) }

    /// One worker's part of ``unfinishedBytes``; see ``leastUnfinishedBytes(of:)``.
    func unfinishedShare(of workers: Int) -> Int {
        max(unfinishedBytes, leastUnfinishedBytes(of: workers)) / max(1, workers)
    }

    /// The least that ``unfinishedBytes`` can be: each worker needs room for the longest request, which takes up to
    /// four times its bytes.
    package func leastUnfinishedBytes(of workers: Int) -> Int { 4 * (headerBytes + bodyBytes) * workers }
}
