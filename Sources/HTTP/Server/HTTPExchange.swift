/// A request that waits for its answer. It is answered once, on its loop's thread.
///
/// This is a class, so that groups of exchanges pass on one reference each.
package final class HTTPExchange {
    package let request: HTTPRequest
    private let ticket: HTTPConnectionTable.Ticket
    private let answering: HTTPAnswering

    init(_ request: HTTPRequest, _ ticket: HTTPConnectionTable.Ticket, _ answering: HTTPAnswering) {
        (self.request, self.ticket, self.answering) = (request, ticket, answering)
    }

    /// Sends the answer.
    ///
    /// - Returns: Whether the client still waited for it; false if the client has gone, or the request was answered
    ///   before.
    @discardableResult
    package func answer(_ answer: HTTPAnswer) -> Bool {
        answering.worker?.answer(ticket, with: answer) ?? false
    }
}

/// Leads from a worker's exchanges to the worker, which may end before them. All of them share one, because a weak
/// reference costs more than the rest of an exchange.
final class HTTPAnswering {
    fileprivate(set) weak var worker: HTTPWorker?

    init(_ worker: HTTPWorker) { self.worker = worker }
}

/// Handles the requests of one worker, on its thread.
package struct HTTPHandler {
    /// Answers what one event-loop iteration brought, at once or later.
    let handle: (_ group: [HTTPExchange]) -> Void
    /// Makes the answer to a request that the server refuses.
    let refuse: (HTTPRefusal) -> HTTPAnswer

    package init(
        handle: @escaping (_ group: [HTTPExchange]) -> Void,
        refuse: @escaping (HTTPRefusal) -> HTTPAnswer = { HTTPAnswer($0.status) }
    ) {
        (self.handle, self.refuse) = (handle, refuse)
    }
}
