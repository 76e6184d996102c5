package import Basics

/// The conversations of one worker, without their sockets: how much memory they take together, and which have lasted
/// too long.
package struct HTTPConnectionTable: Sendable {
    /// Names the request that an answer is for.
    package struct Ticket: Sendable, Hashable {
        package let slot: Int
        fileprivate let number: UInt64
    }

    /// Why a connection has lasted too long.
    package enum Overdue: Sendable {
        case close(slot: Int)
        /// The handler has not answered.
        case unanswered(Ticket)
    }

    private struct Slot {
        var conversation: HTTPConversation
        /// Whether there is a connection. The conversation of one that was removed is as new.
        var isOpen = true
        /// The number of the request that waits for its answer.
        var request: UInt64 = 0
        /// The conversation's part of the table's sums.
        var counted = Sums()

        /// Changes the conversation.
        ///
        /// - Parameter next: The number that a request gets if one has come whole.
        mutating func change<Result>(
            next: UInt64, _ change: (inout HTTPConversation) -> Result
        ) -> Result {
            let awaited = conversation.awaitsAnswer
            let result = change(&conversation)
            counted = Sums(
                unfinished: conversation.unfinishedBytes, waiting: conversation.waitingBytes,
                busy: conversation.isBusy ? 1 : 0)
            if conversation.awaitsAnswer, !awaited { request = next }
            return result
        }
    }

    /// What one connection, or all of a table together, have on their way.
    private struct Sums {
        /// The bytes of memory that unfinished requests take.
        var unfinished = 0
        /// The bytes of memory that requests take while they wait for their answers.
        var waiting = 0
        /// How many requests wait for their answer, or for its last byte to be sent.
        var busy = 0

        mutating func replace(_ old: Sums, by new: Sums) {
            unfinished += new.unfinished - old.unfinished
            waiting += new.waiting - old.waiting
            busy += new.busy - old.busy
        }
    }

    private let limits: HTTPLimits
    /// The most bytes that all unfinished requests may take together. Requests that wait for their answers may take as
    /// many again.
    private let share: Int
    // The elements are no optionals, because reading one would copy the slot.
    private var slots: [Slot] = []
    private var free: [Int] = []
    /// How many changes there were. Each request gets another number from it.
    private var changes: UInt64 = 0
    private var sums = Sums()

    package init(_ limits: HTTPLimits, share: Int) { (self.limits, self.share) = (limits, share) }

    /// Whether there is no connection.
    package var isEmpty: Bool { free.count == slots.count }

    /// Whether no request waits for its answer, or for the answer's last byte to be sent.
    package var isQuiet: Bool { sums.busy == 0 }

    /// Whether unfinished requests take more memory than they may.
    package var isOverfull: Bool { sums.unfinished > share }

    /// Whether so many bytes wait for their answers that these should be made before more is read.
    package var isCrowded: Bool { sums.waiting > share / 2 }

    /// Adds a connection.
    ///
    /// - Returns: The slot that names it, until it is removed.
    package mutating func add(from peer: String, isSecured: Bool, at now: ContinuousClock.Instant) -> Int {
        let slot = Slot(conversation: HTTPConversation(from: peer, isSecured: isSecured, limits.message, at: now))
        if let place = free.popLast() {
            slots[place] = slot
            return place
        }
        slots.append(slot)
        return slots.count - 1
    }

    /// Forgets a connection.
    ///
    /// - Returns: The address of its client; `nil` if there is no such connection.
    package mutating func remove(_ slot: Int) -> String? {
        guard slots[slot].isOpen else { return nil }
        let peer = slots[slot].conversation.peer
        sums.replace(slots[slot].counted, by: Sums())
        slots[slot] = Slot(
            conversation: HTTPConversation(
                from: "", isSecured: false, limits.message, at: slots[slot].conversation.since), isOpen: false)
        free.append(slot)
        return peer
    }

    /// Whether bytes are read from the client.
    package func reads(_ slot: Int) -> Bool { !slots[slot].conversation.isBusy }

    /// What is left of an answer that a client does not take as fast as it is sent.
    package func unsent(_ slot: Int) -> [UInt8] { slots[slot].conversation.unsent }

    /// Takes bytes that have come from the client.
    package mutating func receive(
        _ slot: Int, _ bytes: UnsafeRawBufferPointer, at now: ContinuousClock.Instant
    ) -> HTTPConversation.Event {
        admit(change(slot) { $0.receive(bytes, at: now) }, slot)
    }

    /// A name for the request that waits for its answer on a connection.
    package func ticket(_ slot: Int) -> Ticket { Ticket(slot: slot, number: slots[slot].request) }

    /// Writes an answer.
    ///
    /// - Returns: Whether the request still waits for it. The client may have gone, and another come in its place.
    package mutating func answer(
        _ ticket: Ticket, _ answer: HTTPAnswer, isLast: Bool, date: [UInt8], to out: inout ByteWriter,
        at now: ContinuousClock.Instant
    ) -> Bool {
        guard slots[ticket.slot].request == ticket.number, slots[ticket.slot].conversation.awaitsAnswer else {
            return false
        }
        change(ticket.slot) { $0.answer(answer, isLast: isLast, date: date, to: &out, at: now) }
        return true
    }

    /// Keeps what could not be sent of an answer.
    package mutating func keep(_ slot: Int, unsent: [UInt8]) { slots[slot].conversation.keep(unsent: unsent) }

    /// Goes on when all of an answer was sent.
    package mutating func hasSent(_ slot: Int, at now: ContinuousClock.Instant) -> HTTPConversation.Event {
        admit(change(slot) { $0.hasSent(at: now) }, slot)
    }

    /// The bytes of memory up to which a request is always taken, so that a store which stalls for a moment costs no
    /// answers. The limit on connections bounds the memory of such requests.
    private static let smallRequest = 8192

    /// Refuses a request that has come if it and those that wait for their answers take more memory than they may.
    private mutating func admit(_ event: HTTPConversation.Event, _ slot: Int) -> HTTPConversation.Event {
        guard case .answer = event, sums.waiting > share, slots[slot].counted.waiting > Self.smallRequest else {
            return event
        }
        return change(slot) { $0.refuse(.overloaded) }
    }

    /// The connections with the largest unfinished requests, which must be closed. It is empty unless the table is
    /// overfull; otherwise it frees an eighth of the share, so that sorting is not needed in every event-loop
    /// iteration.
    package func largest() -> [Int] {
        guard isOverfull else { return [] }
        var (excess, chosen) = (sums.unfinished - (share - share / 8), [Int]())
        for slot in slots.indices.filter({ counted($0) > 0 }).sorted(by: { counted($0) > counted($1) }) {
            guard excess > 0 else { break }
            chosen.append(slot)
            excess -= counted(slot)
        }
        return chosen
    }

    private func counted(_ slot: Int) -> Int { slots[slot].counted.unfinished }

    /// The connections that have been at what they do for too long.
    package func overdue(at now: ContinuousClock.Instant) -> [Overdue] {
        slots.indices.compactMap { index in
            guard slots[index].isOpen else { return nil }
            let milliseconds =
                switch slots[index].conversation.state {
                case .idle: limits.idleMilliseconds
                case .arriving, .sending: limits.arrivalMilliseconds
                case .answering: HTTPLimits.answeringMilliseconds
                case .leaving: HTTPLimits.leavingMilliseconds
                }
            guard now - slots[index].conversation.since > .milliseconds(milliseconds) else { return nil }
            if slots[index].conversation.awaitsAnswer {
                return .unanswered(Ticket(slot: index, number: slots[index].request))
            }
            return .close(slot: index)
        }
    }

    /// Changes a conversation, and counts what that changes for the worker.
    private mutating func change<Result>(
        _ slot: Int, _ change: (inout HTTPConversation) -> Result
    ) -> Result {
        changes += 1
        let before = slots[slot].counted
        let result = slots[slot].change(next: changes, change)
        sums.replace(before, by: slots[slot].counted)
        return result
    }
}
