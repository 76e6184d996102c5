internal import MediaToken

/// What the devices of a party do; all their plays depend on each other.
package struct CrowdStory: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        /// A viewer logs in and plays.
        case plain
        /// The first password is wrong.
        case wrongPassword = "wrong-password"
        /// The token is posted twice at once.
        case doubleTap = "double-tap"
        /// The token is posted again with its idempotency key, as if the first answer had been lost.
        case retry
        /// Several devices post one token at once.
        case shared
        /// A thief posts the token before its owner does.
        case stolenBefore = "stolen-before"
        /// A thief posts the token after its owner.
        case stolenAfter = "stolen-after"
        /// The app restarts between login and play.
        case restart
        /// The viewer also plays in a second app, which shares the login.
        case appSwitch = "app-switch"
        /// The viewer also plays in a second app, of another team, which shares no login.
        case otherTeam = "other-team"
        /// The token is posted for a path that no route names, and then for the right one.
        case wrongRoute = "wrong-route"
        /// The name of the MVPD is that of a test card.
        case card

        /// How many in a hundred parties have the story; the rest is plain.
        fileprivate var percent: Int {
            switch self {
            case .plain: 0
            case .wrongPassword, .otherTeam: 2
            case .stolenBefore, .stolenAfter, .appSwitch, .wrongRoute: 3
            case .retry, .shared, .restart: 6
            case .doubleTap: 8
            case .card: 12
            }
        }

        fileprivate var isForSeveral: Bool { [.shared, .stolenBefore, .stolenAfter].contains(self) }
    }

    /// A token that is posted to the gate.
    package struct Post: Sendable, Equatable {
        /// Who posts it, if that matters. The report shows the name in parentheses after the gate's code.
        package var poster: String?
        /// Whether it is posted for a path that no route names.
        package var isElsewhere = false
        /// Whether it has an idempotency key, one for all posts of the token.
        package var hasKey = false
    }

    /// The test cards that a crowd plays with.
    ///
    /// Two kinds are left out: those that need an MRSS resource, and the one whose tokens are two minutes old, because
    /// a gate whose store is younger than that rejects them.
    package static let cards = TestCard.all.filter { !$0.name.hasPrefix("mrss-") && $0.name != "clock-behind" }
    private static let cardsByName = Dictionary(uniqueKeysWithValues: cards.map { ($0.name, $0) })

    package let kind: Kind
    /// The number of devices; a second app is on the device of the first.
    package let devices: Int
    /// The name of the test card; `nil` if the story has none.
    package let card: String?

    package init(_ kind: Kind, devices: Int = 1, card: String? = nil) {
        (self.kind, self.devices, self.card) = (kind, devices, card)
    }

    /// Draws a story for a party of at most `most` devices.
    ///
    /// - Parameter only: The kinds to draw from; all if it is empty.
    init(most: Int, only: [Kind], by random: inout SandboxRandom) {
        let percent = Int.random(in: 0..<100, using: &random)
        var sum = 0
        let drawn = Kind.allCases.first { kind in
            sum += kind.percent
            return percent < sum
        }
        var kind = only.isEmpty ? drawn ?? .plain : only[percent % only.count]
        if kind.isForSeveral, most < 2 { kind = .plain }
        let group = kind == .shared ? min(most, Int.random(in: 2...6, using: &random)) : kind.isForSeveral ? 2 : 1
        self.init(kind, devices: group, card: kind == .card ? Self.cards.randomElement(using: &random)?.name : nil)
    }

    package var name: String { card.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }

    /// Whether the viewer plays in a second app too.
    package var hasSecondApp: Bool { kind == .appSwitch || kind == .otherTeam }

    /// What is posted with each token: steps one after the other, and posts at once within each.
    package var posts: [[Post]] {
        switch kind {
        case .doubleTap: [[Post(), Post()]]
        case .retry: [[Post(hasKey: true)], [Post(hasKey: true)]]
        case .shared: [Array(repeating: Post(), count: devices)]
        case .stolenBefore: [[Post(poster: "thief")], [Post(poster: "owner")]]
        case .stolenAfter: [[Post(poster: "owner")], [Post(poster: "thief")]]
        case .wrongRoute: [[Post(isElsewhere: true)], [Post()]]
        case .plain, .wrongPassword, .restart, .appSwitch, .otherTeam, .card: [[Post()]]
        }
    }

    // MARK: What must happen

    /// The gate's code for a post, followed by the poster's name in parentheses if the post has one.
    package static func code(_ code: String, of post: Post) -> String {
        post.poster.map { "\(code) (\($0))" } ?? code
    }

    /// How often a token of the party may be accepted.
    package func acceptancesPerToken(hasRetryWindow: Bool) -> Int { kind == .retry && hasRetryWindow ? 2 : 1 }

    /// What must happen to the party.
    ///
    /// - Parameters:
    ///   - hasRetryWindow: Whether the gate's route accepts a token again from the same client.
    ///   - segments: The segments that each play fetches; `nil` if no stream is played.
    package func expectation(hasRetryWindow: Bool, segments: Int?) -> CrowdOutcome {
        var outcome = CrowdOutcome()
        let (valid, used) = (VerdictCode.validToken.rawValue, VerdictCode.tokenAlreadyUsed.rawValue)
        let card = card.flatMap { Self.cardsByName[$0] }
        let plays = card.map { $0.verdict == .validToken ? 1 : 0 } ?? (hasSecondApp ? 2 : 1)
        switch kind {
        case .plain, .restart, .appSwitch, .otherTeam: break
        case .wrongPassword: outcome.note(.login, "wrong password")
        case .doubleTap: outcome.note(.play, used)
        case .retry: outcome.note(.play, hasRetryWindow ? valid : used)
        case .shared: outcome.note(.play, used, times: devices - 1)
        case .stolenBefore, .stolenAfter: outcome.note(.play, Self.code(used, of: posts[1][0]))
        case .wrongRoute: outcome.note(.play, "ROUTE_UNKNOWN")
        case .card:
            if let card, card.verdict == nil { outcome.note(.decision, card.refusal) }
            if let verdict = card?.verdict, verdict != .validToken { outcome.note(.play, verdict.rawValue) }
        }
        outcome.note(.login, "logged in", times: kind == .otherTeam ? 2 : 1)
        outcome.note(.login, "logged out", times: kind == .otherTeam ? 2 : 1)
        outcome.note(.login, CrowdOutcome.loggedOutElsewhere, times: kind == .appSwitch ? 1 : 0)
        outcome.note(.play, Self.code(valid, of: posts[0][0]), times: plays)
        if let segments {
            outcome.note(.stream, CrowdOutcome.opened, times: plays * (1 + segments))
            outcome.note(.stream, CrowdOutcome.shut, times: plays)
        }
        return outcome
    }
}

extension TestCard {
    /// What the service answers in place of a media token: a code of an error, or its status.
    fileprivate var refusal: String {
        switch effect {
        case .deny(let error), .refuse(let error): error.code
        case .disturb(.unavailable): "HTTP 503"
        case .disturb(.throttled): "HTTP 429"
        default: "unreadable"
        }
    }
}
