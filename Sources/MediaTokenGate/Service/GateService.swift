package import EventLoops
package import HTTPServing
package import MediaToken
internal import PlaybackGrants
package import ReplayStores
internal import Threading

/// A running gate, which handles the requests that each event-loop iteration brings.
package final class GateService: Sendable {
    /// The values that a reload replaces together.
    private struct Rules: Sendable {
        let gate: Gate
        let verifier: MediaTokenVerifier
        /// The requestors that the settings name.
        let requestors: Set<RequestorID>

        init(_ settings: GateSettings, keys: KeyRing, store: ReplayStore) {
            gate = settings.gate
            requestors = settings.requestors
            verifier = MediaTokenVerifier(keys: keys, policy: settings.policy, replays: store.cache)
        }
    }

    private let currentRules: Guarded<Rules>
    private let store: ReplayStore
    private let metrics: GateMetrics
    private let log: GateLog

    /// The most tokens in a group. It bounds how long the first of them waits for the last.
    private static let largestGroup = 64

    package init(_ settings: GateSettings, keys: KeyRing, store: ReplayStore, metrics: GateMetrics, log: GateLog) {
        currentRules = Guarded(Rules(settings, keys: keys, store: store))
        (self.store, self.metrics, self.log) = (store, metrics, log)
        // Chooses and tests the engine now, so that no group waits for that.
        _ = SignatureEngine.name
    }

    /// Replaces settings and keys, from the next iteration of each event loop. Listeners, limits and the store stay.
    package func apply(_ settings: GateSettings, keys: KeyRing) {
        let rules = Rules(settings, keys: keys, store: store)
        currentRules.withLock { $0 = rules }
    }

    /// The number of log lines that were lost.
    var lostLogLines: Int { log.lostLines }

    package var keys: KeyRing { rules.verifier.keys }

    private var rules: Rules { currentRules.withLock { $0 } }

    /// Creates the handler of one event loop. It queries the store without blocking that loop.
    package func handler(on loop: EventLoop) -> HTTPHandler {
        let session = store.session(on: loop)
        return { [self] exchanges in handle(exchanges, session) }
    }

    private func handle(_ exchanges: [HTTPExchange], _ session: (any PipelinedReplayCache)?) {
        let (start, rules) = (ContinuousClock.now, rules)
        var pending: [PendingExchange] = []
        for exchange in exchanges {
            switch rules.gate.task(exchange.request, at: .now) {
            case .settled(let reply): finish(exchange, with: reply, since: start)
            case .explain(let request):
                let examination = rules.verifier.examine(request.token, for: request.expectation, at: .now)
                finish(exchange, with: ExplanationDocument.reply(examination), since: start)
            case .verify(let task): pending.append(PendingExchange(exchange: exchange, task: task))
            }
        }
        for begin in stride(from: 0, to: pending.count, by: Self.largestGroup) {
            let group = Array(pending[begin...].prefix(Self.largestGroup))
            verify(group, by: rules, claimingIn: session, since: start)
        }
    }

    private func verify(
        _ group: [PendingExchange], by rules: Rules, claimingIn session: (any PipelinedReplayCache)?,
        since start: ContinuousClock.Instant
    ) {
        let requests = group.map(\.task.request)
        let conclude = { [self] (outcomes: [Result<Verdict, VerificationError>]) in
            for (pending, outcome) in zip(group, outcomes) {
                let reply = pending.task.reply(to: outcome, at: .now)
                let facts = VerdictFacts(outcome, of: pending.task.request, known: rules.requestors)
                finish(pending.exchange, with: reply, facts: facts, since: start)
            }
        }
        if let session {
            rules.verifier.verify(requests, at: .now, claimingIn: session, conclude)
        } else {
            conclude(rules.verifier.verify(requests, at: .now))
        }
    }

    private func finish(
        _ exchange: HTTPExchange, with reply: GateReply, facts: VerdictFacts = VerdictFacts(),
        since start: ContinuousClock.Instant
    ) {
        exchange.answer(reply.answer)
        let microseconds = (ContinuousClock.now - start).wholeMicroseconds
        metrics.count(
            reply.status, requestor: facts.requestor, microseconds: microseconds, isStoreError: facts.isStoreError)
        log.add(
            GateLog.Entry(
                time: .now, status: reply.status,
                requestor: facts.requestor, mvpd: facts.mvpd, key: facts.key, microseconds: microseconds,
                request: Self.identifier(exchange.request.values(of: "X-Request-Id")),
                peer: exchange.request.peer, firstUse: facts.firstUse))
    }

    /// The value of `X-Request-Id`, if it looks like an ID: a client that sets it could put a token there.
    static func identifier(_ headers: [String]) -> String? {
        guard headers.count == 1, (1...64).contains(headers[0].utf8.count),
            headers[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return headers[0]
    }
}

/// What log and metrics record of a verdict in addition to its status.
private struct VerdictFacts {
    private(set) var requestor: String?
    private(set) var mvpd, key: String?
    /// The time of the first acceptance, if this one is a retry.
    private(set) var firstUse: Timestamp?
    private(set) var isStoreError = false

    /// There is no verdict.
    init() {}

    /// - Parameter known: the requestors that the settings name. A caller may send any text as requestor, even a token, so
    ///   any other is recorded as "other".
    init(
        _ outcome: Result<Verdict, VerificationError>, of request: VerificationRequest, known: Set<RequestorID>
    ) {
        if case .success(.accepted(let token)) = outcome {
            (requestor, mvpd) = (token.claims.requestor.description, token.claims.mvpd.description)
            (key, firstUse) = (token.key, token.isRetry ? token.firstUse : nil)
            return
        }
        requestor = request.expectation.requestors.first { known.contains($0) }?.description ?? "other"
        if case .failure(.replayStore) = outcome { isStoreError = true }
    }
}

extension VerificationTask {
    /// The answer to the outcome of a verification. If the token is accepted, this first makes the ordered grant.
    package func reply(to outcome: Result<Verdict, VerificationError>, at now: Timestamp) -> GateReply {
        switch outcome {
        case .success(.accepted(let token)):
            do throws(GrantError) {
                return format.accept(token, try order?.fulfil(for: token, at: now))
            } catch {
                return format.undecided("the token is consumed, and its grant cannot be made: \(error)")
            }
        case .success(.rejected(let rejection)): return format.reject(rejection)
        case .failure(let error): return format.undecided("\(error)")
        }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
}

private struct PendingExchange {
    let exchange: HTTPExchange
    let task: VerificationTask
}

/// The result of every check of a token that was examined without being consumed.
private struct ExplanationDocument: Encodable {
    let checks: [CheckObject]

    static func reply(_ examination: Examination) -> GateReply {
        let document = ExplanationDocument(checks: examination.reports.map(CheckObject.init))
        let headers = [(name: "Content-Type", value: "application/json"), GateHeader.noStore]
        return GateReply(HTTPAnswer(200, headers: headers, body: JSONLine.body(document)), status: "EXPLAINED")
    }
}
