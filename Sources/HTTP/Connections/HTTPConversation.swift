package import Basics

/// One connection's conversation without its socket: bytes in, requests out, answers in, bytes out.
package struct HTTPConversation: Sendable {
    /// The stage of the connection's current request.
    package enum State: Sendable {
        /// No request is on its way.
        case idle
        /// A part of a request, or of TLS's handshake, has come.
        case arriving
        /// A request waits for its answer. Nothing is read meanwhile.
        case answering
        /// An answer is being sent. Nothing is read meanwhile.
        case sending
        /// The last answer was sent. What the client sends is dropped until it closes the connection, because a client
        /// that still sends would lose an answer behind which the connection is closed at once (RFC 9112, 9.6).
        case leaving
    }

    /// The next step for the worker that owns the socket.
    package enum Event: Sendable {
        case nothing
        case answer(HTTPRequest)
        /// Send `100 Continue`.
        case sendContinue
        /// Answer a request that is refused.
        case refuse(HTTPRefusal)
        /// Tell the client that nothing more will come, and read until it closes.
        case leave
    }

    package let peer: String
    package private(set) var state: State
    /// When the state began.
    package private(set) var since: ContinuousClock.Instant
    private let limits: HTTPMessageLimits
    private var reader: HTTPRequestReader
    private var form = HTTPAnswerForm()
    /// The bytes of memory that a request takes while it waits for its answer.
    private var requestBytes = 0
    /// What is left of an answer that the client does not take as fast as it is sent.
    package private(set) var unsent: [UInt8] = []

    /// - Parameter isSecured: Whether TLS's handshake comes first, of which no bytes are seen here.
    package init(
        from peer: String, isSecured: Bool, _ limits: HTTPMessageLimits, at now: ContinuousClock.Instant
    ) {
        (self.peer, self.limits, reader) = (peer, limits, HTTPRequestReader(limits))
        (state, since) = (isSecured ? .arriving : .idle, now)
    }

    /// The bytes of memory that an unfinished request takes, also one that has come before its predecessor's answer was
    /// sent; 0 while a request is answered.
    package var unfinishedBytes: Int {
        switch state {
        case .idle, .arriving, .sending: reader.heldBytes
        case .answering, .leaving: 0
        }
    }

    /// The bytes of memory that the request which waits for its answer takes, and those that came after it; 0 if none
    /// waits.
    package var waitingBytes: Int { awaitsAnswer ? requestBytes : 0 }

    /// Whether a request waits for its answer, or for the answer's last byte to be sent.
    package var isBusy: Bool {
        switch state {
        case .answering, .sending: true
        case .idle, .arriving, .leaving: false
        }
    }

    /// Whether a request waits for its answer.
    package var awaitsAnswer: Bool {
        if case .answering = state { true } else { false }
    }

    /// Takes bytes that have come from the client.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: ContinuousClock.Instant) -> Event {
        switch state {
        case .leaving: return .nothing
        case .idle: enter(.arriving, at: now)
        case .arriving, .answering, .sending: break
        }
        reader.append(bytes)
        return isBusy ? .nothing : advance(at: now)
    }

    private mutating func advance(at now: ContinuousClock.Instant) -> Event {
        // The bytes that came; content that is decoded from chunks is no larger.
        requestBytes = reader.heldBytes
        switch reader.next(from: peer) {
        case .unfinished:
            if !reader.isInsideRequest { enter(.idle, at: now) }
            return .nothing
        case .awaitsContinue: return .sendContinue
        case .request(let request):
            form = request.answerForm
            requestBytes += request.fieldBytes
            enter(.answering, at: now)
            return .answer(request)
        case .refused(let refusal):
            form = reader.refusalForm
            enter(.answering, at: now)
            return end(with: refusal)
        }
    }

    /// Refuses the request that waits for its answer.
    package mutating func refuse(_ refusal: HTTPRefusal) -> Event {
        form.keepsConnection = false
        return end(with: refusal)
    }

    private mutating func end(with refusal: HTTPRefusal) -> Event {
        // Nothing more is read, so what has come need not be kept.
        (reader, requestBytes) = (HTTPRequestReader(limits), 0)
        return .refuse(refusal)
    }

    /// Writes the answer to the request that waits for it.
    ///
    /// - Parameter isLast: Whether the connection ends with this answer even if the client would keep it.
    package mutating func answer(
        _ answer: HTTPAnswer, isLast: Bool, date: [UInt8], to out: inout ByteWriter, at now: ContinuousClock.Instant
    ) {
        if isLast { form.keepsConnection = false }
        answer.write(to: &out, form, date: date)
        enter(.sending, at: now)
    }

    /// Keeps what could not be sent of an answer.
    package mutating func keep(unsent: [UInt8]) { self.unsent = unsent }

    /// Goes on when all of an answer was sent.
    package mutating func hasSent(at now: ContinuousClock.Instant) -> Event {
        unsent = []
        guard form.keepsConnection else {
            reader = HTTPRequestReader(limits)
            enter(.leaving, at: now)
            return .leave
        }
        // What came meanwhile is the beginning of the next request.
        enter(reader.isInsideRequest ? .arriving : .idle, at: now)
        return reader.isInsideRequest ? advance(at: now) : .nothing
    }

    private mutating func enter(_ state: State, at now: ContinuousClock.Instant) {
        (self.state, since) = (state, now)
    }
}
