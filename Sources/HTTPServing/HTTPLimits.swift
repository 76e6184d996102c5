/// What a peer may take of the server.
package struct HTTPLimits: Sendable, Equatable {
    /// Bytes of a request's line and headers. A longer one is answered with 431.
    package var headerBytes = 32_768
    /// Bytes of a request's body. A longer one is answered with 413.
    package var bodyBytes = 262_144
    /// Milliseconds from a request's first byte to its last, and for a peer to take its answer. Then the connection is closed.
    package var arrivalMilliseconds = 10_000
    /// Milliseconds that a connection may be open without a request on its way.
    package var idleMilliseconds = 75_000
    /// Connections at a time; those beyond are closed at once.
    package var connections = 20_000
    /// The same from one address; Unix sockets are not counted.
    package var connectionsPerPeer = 20_000

    /// Bytes that may have come, over all connections, of requests that are not whole yet. Beyond that the connections with the
    /// most of them are closed.
    package var unfinishedBytes = 67_108_864

    package init() {}

    /// One worker's part of ``unfinishedBytes``; see ``leastUnfinishedBytes(of:)``.
    func unfinishedShare(of workers: Int) -> Int {
        max(unfinishedBytes, leastUnfinishedBytes(of: workers)) / max(1, workers)
    }

    /// The least that ``unfinishedBytes`` can be: each worker needs room for the longest request, whose lines and packets take up
    /// to four times their bytes.
    package func leastUnfinishedBytes(of workers: Int) -> Int { 4 * (headerBytes + bodyBytes) * workers }
}
