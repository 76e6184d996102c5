/// Something that happens to a device, with a reason.
package struct CrowdEvent: Hashable, Comparable, Sendable {
    package enum Stage: String, CaseIterable, Sendable { case login, decision, play, stream }

    package let stage: Stage
    package let code: String

    package init(_ stage: Stage, _ code: String) { (self.stage, self.code) = (stage, code) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.stage.rawValue, left.code) < (right.stage.rawValue, right.code)
    }
}

/// What happens to a party, or must happen: how often each event occurs.
package struct CrowdOutcome: Sendable, Hashable {
    package private(set) var events: [CrowdEvent: Int] = [:]

    package init() {}

    package mutating func note(_ stage: CrowdEvent.Stage, _ code: String, times: Int = 1) {
        if times > 0 { events[CrowdEvent(stage, code), default: 0] += times }
    }

    /// An app whose login another app of its device has ended.
    package static let loggedOutElsewhere = "logged out by another app"
    /// A request for a part of a stream, by cookie, that was answered with 200.
    package static let opened = "opened by cookie"
    /// A request for a part of a stream, without a cookie, that was answered with 401 or 403.
    package static let shut = "refused without cookie"

    /// The events that are not in `other`, or not as often.
    func without(_ other: CrowdOutcome) -> CrowdOutcome {
        var rest = CrowdOutcome()
        for (event, count) in events {
            rest.note(event.stage, event.code, times: count - other.events[event, default: 0])
        }
        return rest
    }

    /// The events in a line.
    package var text: String {
        let texts = events.sorted { $0.key < $1.key }.map { event, count in
            "\(event.stage.rawValue) \(event.code) × \(count)"
        }
        return texts.isEmpty ? "nothing" : texts.joined(separator: ", ")
    }
}

/// Compares what happened to a crowd with what had to.
package struct CrowdTally: Sendable {
    /// What happened to parties of a story in the place of what had to.
    package struct Difference: Sendable, Hashable {
        package let story: String
        /// What had to happen, and did not.
        let missing: CrowdOutcome
        /// What happened, and had not to.
        let surplus: CrowdOutcome

        /// The difference in a sentence.
        package var text: String {
            if surplus.events.isEmpty { return "\(missing.text) did not happen" }
            if missing.events.isEmpty { return "\(surplus.text) happened too" }
            return "\(surplus.text) instead of \(missing.text)"
        }
    }

    /// One reason, and how often it was expected and seen.
    package struct Row: Sendable, Equatable {
        package let stage: CrowdEvent.Stage
        package let code: String
        package var expected = 0
        package var seen = 0
    }

    /// The kinds of differences that are kept, and told. A gate that answers each party with another code makes more.
    private static let mostKinds = 1000

    /// The rows, by place and code.
    private var counts: [CrowdEvent: (expected: Int, seen: Int)] = [:]
    /// The number of parties by the name of their story, and how many of them disagree.
    package private(set) var stories: [String: (parties: Int, disagreeing: Int)] = [:]
    package private(set) var devices = 0
    /// The tokens that were accepted, each counted once.
    package private(set) var plays = 0
    /// The tokens that were accepted more often than they may be.
    package private(set) var acceptedTooOften = 0
    /// The number of parties in which each difference was seen, and the number of the first of their devices.
    private var found: [Difference: (parties: Int, device: Int)] = [:]

    package init() {}

    /// Counts a party that has come to its end.
    ///
    /// - Parameter acceptances: How often each token of the party was accepted, for those that were.
    package mutating func count(
        _ party: CrowdParty, expected: CrowdOutcome, seen: CrowdOutcome, acceptances: [Int], mostAcceptances: Int
    ) {
        devices += party.story.devices
        plays += acceptances.count
        acceptedTooOften += acceptances.count { $0 > mostAcceptances }
        for (event, count) in expected.events { counts[event, default: (0, 0)].expected += count }
        for (event, count) in seen.events { counts[event, default: (0, 0)].seen += count }
        let disagrees = expected != seen
        stories[party.story.name, default: (0, 0)].parties += 1
        guard disagrees else { return }
        stories[party.story.name, default: (0, 0)].disagreeing += 1
        let difference = Difference(
            story: party.story.name, missing: expected.without(seen), surplus: seen.without(expected))
        keep(difference, (1, party.first))
    }

    package mutating func add(_ other: CrowdTally) {
        devices += other.devices
        plays += other.plays
        acceptedTooOften += other.acceptedTooOften
        counts.merge(other.counts) { ($0.expected + $1.expected, $0.seen + $1.seen) }
        stories.merge(other.stories) { ($0.parties + $1.parties, $0.disagreeing + $1.disagreeing) }
        for (difference, place) in other.found { keep(difference, place) }
    }

    private mutating func keep(_ difference: Difference, _ place: (parties: Int, device: Int)) {
        guard found[difference] != nil || found.count < Self.mostKinds else { return }
        let known = found[difference] ?? (0, place.device)
        found[difference] = (known.parties + place.parties, min(known.device, place.device))
    }

    /// The kinds of differences, those of most parties first.
    package var differences: [(difference: Difference, parties: Int, device: Int)] {
        found.map { ($0, $1.parties, $1.device) }.sorted { ($1.parties, $0.device) < ($0.parties, $1.device) }
    }

    package var disagreeing: Int { stories.values.reduce(0) { $0 + $1.disagreeing } }

    /// Whether all that happened is what had to happen, and no token was accepted too often.
    package var isAsExpected: Bool { disagreeing == 0 && acceptedTooOften == 0 }

    package var rows: [Row] {
        counts.sorted { $0.key < $1.key }.map {
            Row(stage: $0.key.stage, code: $0.key.code, expected: $0.value.expected, seen: $0.value.seen)
        }
    }
}
