internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken

/// What changed from call to call of a capture: who is asked for what, and what became of its tokens.
///
/// Each call is compared with those before it. Its time is that of the server, as far as that is known.
struct CaptureHistory {
    /// One thing that a person who looks for the fault should see.
    struct Note: Equatable {
        enum Kind: Equatable {
            /// The call before was about another one.
            case changed(Subject)
            /// The token is about another one than what is around it.
            case differs(Subject)
            case usedTwice, sentAgain, expired, clocks, unanswered, wrongKind, failed, throttled, grantExpired, damaged
        }
        let kind: Kind
        let detail: String

        var title: String {
            switch kind {
            case .changed(let subject): "\(subject.rawValue) changed"
            case .differs(let subject): "other \(subject.rawValue)"
            case .usedTwice: "used twice"
            case .sentAgain: "sent again"
            case .expired: "expired in between"
            case .clocks: "clocks apart"
            case .unanswered: "no answer arrived"
            case .wrongKind: "wrong kind"
            case .failed: "failed"
            case .throttled: "throttled"
            case .grantExpired: "grant expired"
            case .damaged: "damaged"
            }
        }
    }

    /// A token as a call has it.
    struct Token {
        let id: TokenID
        let kind: TokenKind
        let isSent: Bool
        let issued: Timestamp?
        let expires: Timestamp?
        /// What its fields say.
        let claims: Stated
        /// What the document around it says.
        let stated: Stated
    }

    /// A call with its tokens, as a comparison needs them.
    struct Call {
        let made: CapturedCall
        let tokens: [Token]

        /// What the call is about: what its request says, else what its tokens say.
        var about: Stated {
            let claims = tokens.map(\.claims)
            return Stated { subject in made.stated[subject] ?? claims.lazy.compactMap { $0[subject] }.first }
        }
    }

    private typealias Seen = (value: String, call: Int)

    private let skew: Duration
    private var last: [Subject: Seen] = [:]
    private var received: [TokenID: (call: Int, time: Timestamp?)] = [:]
    private var sent: [TokenID: (call: Int, status: Int?, isDecided: Bool)] = [:]
    /// How far the client's clock is ahead, in milliseconds, and of which host's clock.
    private var known: (distance: Int64, host: String?)?
    /// The hosts of which it was said that their clocks are not that of the first one.
    private var strayHosts: Set<String> = []

    /// - Parameter skew: how far two clocks may be apart before it is said.
    init(skew: Duration) { self.skew = skew }

    /// When a call was made: by the server's clock if its answer or an earlier call tells that, else by the client's.
    func time(of call: Call) -> Timestamp? {
        let answered = lead(of: call) == nil ? call.made.answerTime : nil
        return answered ?? call.made.startTime?.advanced(byMilliseconds: -(known?.distance ?? 0))
    }

    /// Compares a call with those before it.
    mutating func add(_ call: Call) -> [Note] {
        var notes = clockNotes(call)
        let about = call.about
        for subject in Subject.allCases {
            guard let value = about[subject] else { continue }
            if let before = last[subject], !before.value.hasSameBytes(as: value) {
                let detail = "\(shown(value)) here, \(shown(before.value)) in entry \(before.call)"
                notes.append(Note(kind: .changed(subject), detail: detail))
            }
            last[subject] = (value, call.made.number)
        }
        for token in call.tokens {
            notes += differences(of: token, in: call) + (token.isSent ? useNotes(token, in: call) : [])
            if !token.isSent, received[token.id] == nil { received[token.id] = (call.made.number, time(of: call)) }
        }
        return notes
    }

    /// Where a token is for something else than the call that holds it says.
    private func differences(of token: Token, in call: Call) -> [Note] {
        Subject.allCases.flatMap { subject -> [Note] in
            guard let signed = token.claims[subject] else { return [] }
            let (around, request) = (token.stated[subject], call.made.stated[subject])
            let other = around.flatMap { request?.hasSameBytes(as: $0) == true ? nil : $0 }
            let others = [(other, "the document around it"), (request, "the request")]
            return others.compactMap { value, place in
                guard let value, !value.hasSameBytes(as: signed) else { return nil }
                return Note(kind: .differs(subject), detail: "the token has \(shown(signed)), \(place) \(shown(value))")
            }
        }
    }

    private mutating func useNotes(_ token: Token, in call: Call) -> [Note] {
        var notes: [Note] = []
        if token.kind == .media {
            if let before = sent[token.id], before.call != call.made.number {
                let answer = before.status.map { ", which got \($0 > 0 ? String($0) : "no answer")" } ?? ""
                let first = "token \(token.id) was sent in entry \(before.call) before\(answer)"
                // What stands before a backend answers with a 5xx also after the backend has used the token up.
                notes.append(
                    before.isDecided
                        ? Note(kind: .usedTwice, detail: first)
                        : Note(kind: .sentAgain, detail: "\(first): a retry, unless the token was consumed there"))
            }
            if sent[token.id].map({ !$0.isDecided }) ?? true {
                sent[token.id] = (call.made.number, call.made.status, call.made.isDecided)
            }
        }
        if let expires = token.expires, let time = time(of: call), let before = received[token.id],
            let receipt = before.time, receipt <= expires, expires < time
        {
            let late = Span(between: expires, and: time)
            notes.append(
                Note(kind: .expired, detail: "the token of entry \(before.call) expired \(late) before it was sent"))
        }
        return notes
    }

    /// What a call tells of the client's clock.
    private struct ClockReading {
        /// How far the client's clock is ahead, in milliseconds.
        let distance: Int64
        let words: String
        /// Whose clock it was compared with.
        let other: String
    }

    private func clock(of call: Call) -> ClockReading? {
        guard let started = call.made.startTime else { return nil }
        let issued = call.tokens.first { !$0.isSent && $0.kind == .media }?.issued
        let servers: [(Timestamp?, String)] = [(call.made.answerTime, "the server's"), (issued, "that of Adobe Pass")]
        guard let (server, other) = servers.first(where: { $0.0 != nil }), let server else { return nil }
        // The server answered at some time between the beginning and the end of the call.
        let latest = started.advanced(byMilliseconds: call.made.milliseconds)
        let distance =
            server < started ? started.milliseconds(since: server) : min(0, latest.milliseconds(since: server))
        return ClockReading(distance: distance, words: "\(Span(between: started, and: server))", other: other)
    }

    /// How far the clock of a call's host is ahead of that of the first host, in milliseconds; `nil` if they agree or
    /// are one.
    private func lead(of call: Call) -> Int64? {
        guard let known, let first = known.host, let host = call.made.host, host != first, let clock = clock(of: call)
        else { return nil }
        let lead = known.distance - clock.distance
        return lead.magnitude > skew.clampedMilliseconds ? lead : nil
    }

    /// Says that the client's clock is not that of the servers, once for each distance, and that a server's clock is
    /// not that of the first one, once for each host.
    private mutating func clockNotes(_ call: Call) -> [Note] {
        guard let clock = clock(of: call) else { return [] }
        if let lead = lead(of: call), let host = call.made.host, let first = known?.host {
            guard strayHosts.insert(host).inserted else { return [] }
            let start = Timestamp(milliseconds: 0)
            let words = Span(between: start, and: start.advanced(byMilliseconds: Int64(lead.magnitude)))
            let detail = "the clock of \(host) is \(words) \(lead > 0 ? "ahead of" : "behind") that of \(first)"
            return [Note(kind: .clocks, detail: detail)]
        }
        if let known, let host = call.made.host, known.host.map({ $0 != host }) ?? false { return [] }
        let tolerance = skew.clampedMilliseconds
        let isKnown = known.map { (clock.distance - $0.distance).magnitude <= tolerance } ?? false
        let isApart = clock.distance.magnitude > tolerance
        if !isKnown || !isApart { known = (clock.distance, call.made.host) }
        guard isApart, !isKnown else { return [] }
        let detail = "the client's clock is \(clock.words) \(clock.distance > 0 ? "ahead of" : "behind") \(clock.other)"
        return [Note(kind: .clocks, detail: detail)]
    }

    private func shown(_ value: String) -> String { "'\(printable(value, limit: 60))'" }
}
