internal import Basics
package import EventLoops
package import HTTP
package import MediaToken
internal import PlaybackGrants
package import ReplayStores

/// A running gate, which handles the requests that each event-loop iteration brings.
package final class GateService: Sendable {
    /// The values that a reload replaces together.
    private struct Rules: Sendable {
        let gate: Gate
        let verifier: MediaTokenVerifier
        /// The requestors that the settings name.
        let requestors: Set<RequestorID>
        let trustedProxies: TrustedProxies
        let pseudonyms: ViewerPseudonyms?
        let configurationHash: String
        let reportOnly: ReportOnly

        init(_ settings: GateSettings, keys: KeyRing, store: ConfiguredReplayStore) {
            gate = settings.gate
            (requestors, trustedProxies) = (settings.requestors, settings.trustedProxies)
            (pseudonyms, configurationHash) = (settings.pseudonyms, settings.hash(with: keys))
            reportOnly = settings.reportOnly
            verifier = MediaTokenVerifier(keys: keys, policy: settings.policy, replays: store)
        }
    }

    private let currentRules: Guarded<Rules>
    private let store: ConfiguredReplayStore
    private let ready: StoreReadiness
    private let metrics: GateMetrics
    private let log: GateLog
    private let signing: GrantSigning

    /// The most tokens in a group. It bounds how long the first of them waits for the last.
    private static let largestGroup = 64

    package init(
        _ settings: GateSettings, keys: KeyRing, store: ConfiguredReplayStore, ready: StoreReadiness,
        metrics: GateMetrics, log: GateLog
    ) {
        currentRules = Guarded(Rules(settings, keys: keys, store: store))
        (self.store, self.ready, self.metrics, self.log) = (store, ready, metrics, log)
        signing = GrantSigning(mostThreads: settings.workers)
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

    /// Identifies settings and keys, to find out whether two gates have the same.
    var configurationHash: String { rules.configurationHash }

    /// What the gate only reports on.
    var reportOnly: ReportOnly { rules.reportOnly }

    private var rules: Rules { currentRules.withLock { $0 } }

    /// Creates the handler of one event loop, which it does not block: what waits for a server, a resolver or another
    /// process does so elsewhere.
    package func handler(on loop: EventLoop) -> HTTPHandler {
        let ask = store.claimer(on: loop) ?? { [store] group, now, done in done(store.claim(group, at: now)) }
        let claim: ReplayClaimer = { [metrics] group, now, done in
            let start = ContinuousClock.now
            ask(group, now) { answers in
                metrics.countStore(ContinuousClock.now - start)
                done(answers)
            }
        }
        let (grants, examinations) = (LoopGrants(signing, on: loop), LoopExaminations(on: loop))
        return HTTPHandler(
            handle: { [self] exchanges in handle(exchanges, claim, grants, examinations) },
            refuse: { [self] refusal in refuse(refusal) })
    }

    /// Ends the signing threads' work. The caller must have ended the event loops, which give them more.
    package func stop() { signing.stop() }

    /// The answer to a request that the server refuses; nothing of such a request is logged.
    private func refuse(_ refusal: HTTPRefusal) -> HTTPAnswer {
        let reply =
            refusal == .overloaded
            ? AnswerFormat.document.undecided(refusal.reason)
            : RequestError(refusal.status, .requestInvalid, refusal.reason).reply
        metrics.count(AnswerRecords(time: .now, microseconds: nil, records: [AnswerRecord(code: reply.row)]))
        return reply.answer
    }

    private func handle(
        _ exchanges: [HTTPExchange], _ claim: @escaping ReplayClaimer, _ grants: LoopGrants,
        _ examinations: LoopExaminations
    ) {
        let (start, now, rules) = (ContinuousClock.now, Timestamp.now, rules)
        var (pending, answered) = ([(AskedExchange, VerificationTask)](), [AnswerRecord]())
        pending.reserveCapacity(exchanges.count)
        for exchange in exchanges {
            let asked = AskedExchange(exchange, rules.gate.place(of: exchange.request))
            switch rules.gate.task(exchange.request, asking: asked.place, at: now) {
            case .settled(let reply): answered.append(answer(asked, with: reply, by: rules))
            case .explain(let request): examinations.add { [self] in explain(asked, request, since: start) }
            case .verify(let task):
                if let order = task.order, grants.refuses(order, at: now) {
                    let reply = task.finished(task.format.undecided(Self.signingIsBusy), at: now)
                    answered.append(answer(asked, with: reply, by: rules))
                } else {
                    pending.append((asked, task))
                }
            }
        }
        finish(answered, since: start)
        for begin in stride(from: 0, to: pending.count, by: Self.largestGroup) {
            let group =
                pending.count <= Self.largestGroup ? pending : Array(pending[begin...].prefix(Self.largestGroup))
            metrics.countVerified(group.count)
            verify(group, by: rules, claimingBy: claim, grants, since: start)
        }
    }

    private func explain(
        _ asked: AskedExchange, _ request: ExplanationRequest, since start: ContinuousClock.Instant
    ) {
        let rules = rules
        let examination = rules.verifier.examine(
            request.token, for: request.requestors, request.resource, at: .now, seeksCause: !request.isForProxy)
        let record = AnswerRecord(token: examination.id)
        finish([answer(asked, with: request.reply(to: examination), by: rules, record)], since: start)
    }

    private static let signingIsBusy =
        "\(GrantSigning.capacity) grants wait for their signatures; the token is not consumed, so ask again"

    private func verify(
        _ group: [(asked: AskedExchange, task: VerificationTask)], by rules: Rules,
        claimingBy claim: @escaping ReplayClaimer,
        _ grants: LoopGrants, since start: ContinuousClock.Instant
    ) {
        let requests = group.map(\.task.request)
        rules.verifier.verify(requests, at: .now, claimingBy: claim) { [self] outcomes, ids in
            let now = Timestamp.now
            var answered: [AnswerRecord] = []
            answered.reserveCapacity(group.count)
            for (index, outcome) in outcomes.enumerated() {
                let (asked, task) = group[index]
                let record = AnswerRecord(outcome, ids[index], of: task.request, known: rules.requestors)
                if case .failure(.replayStore(let error)) = outcome { ready.claimFailed(error) }
                var made: GrantOrder.Outcome?
                let claims = outcome.authenticClaims
                let reportsWithGrants = rules.reportOnly.makesGrants
                if let order = task.order,
                    let holder = task.holder(of: outcome, ids[index], reportsWithGrants: reportsWithGrants, at: now)
                {
                    made = grants.make(order, identifier: holder.identifier, firstUse: holder.firstUse)
                    guard made != nil else {
                        grants.sign(
                            order, identifier: holder.identifier, firstUse: holder.firstUse, isRetry: holder.isRetry
                        ) { [self] made in
                            let reply = task.reply(to: outcome, made, at: .now)
                            finish([answer(asked, with: reply, by: rules, record, of: claims)], since: start)
                        }
                        continue
                    }
                }
                let reply = task.reply(to: outcome, made, at: now)
                answered.append(answer(asked, with: reply, by: rules, record, of: claims))
            }
            finish(answered, since: start)
        }
    }

    /// Sends an answer.
    ///
    /// - Parameter claims: The claims of the token, if it is authentic.
    /// - Returns: What is recorded of it.
    private func answer(
        _ asked: AskedExchange, with reply: GateReply, by rules: Rules, _ record: AnswerRecord = AnswerRecord(),
        of claims: MediaTokenClaims? = nil
    ) -> AnswerRecord {
        let request = asked.exchange.request
        var (record, answer) = (record, reply.answer)
        let requestID = RequestID.of(request)
        if let requestID { answer.add("X-Request-Id", requestID) }
        for (name, value) in rules.gate.corsFields(for: request, asking: asked.place) { answer.add(name, value) }
        let isSent = asked.exchange.answer(answer)
        (record.code, record.place, record.grant) = (reply.row, asked.place, reply.grant)
        record.wouldBe = reply.wouldBe
        record.isLogged = log.takesNext(isAllowed: reply.isAllowed && reply.wouldBe == nil)
        if record.isLogged {
            (record.detail, record.route, record.claims) = (reply.detail, reply.route, claims)
            record.app = AnswerRecord.app(request.firstValue(of: GateField.userAgent))
            record.viewer = claims.flatMap { rules.pseudonyms?.name($0) }
            (record.requestID, record.isSent) = (requestID, isSent)
            (record.peer, record.client) = (request.peer, rules.trustedProxies.client(of: request))
        }
        return record
    }

    /// Has log and metrics record the answers of a group.
    private func finish(_ answered: [AnswerRecord], since start: ContinuousClock.Instant) {
        guard !answered.isEmpty else { return }
        let microseconds = (ContinuousClock.now - start).wholeMicroseconds
        let group = AnswerRecords(time: .now, microseconds: microseconds, records: answered)
        metrics.count(group)
        log.add(group)
    }
}

extension AnswerRecord {
    /// Records a verdict.
    ///
    /// - Parameter known: the requestors that the settings name. A caller may send any text as requestor, even a token,
    ///   so any other is recorded as "other".
    fileprivate init(
        _ outcome: Result<Verdict, VerificationError>, _ id: TokenID?, of request: VerificationRequest,
        known: Set<RequestorID>
    ) {
        self.init(token: id)
        if case .success(.accepted(let token)) = outcome {
            (requestor, accepted) = (token.requestor.description, token)
            return
        }
        requestor = request.expectation.requestors.first { known.contains($0) }?.description ?? "other"
        if case .failure(.replayStore) = outcome { isStoreError = true }
    }
}

extension ExplanationRequest {
    /// The answer to an examination.
    package func reply(to examination: Examination) -> GateReply {
        guard isForProxy else { return GateReply(explaining: examination) }
        var reply = GateReply(withoutMedia: examination)
        if reportsOnly { reply = AnswerFormat.subrequest.report(reply) }
        reply.route = route
        return reply
    }
}

extension VerificationTask {
    /// The answer to the outcome of a verification. If the token is accepted, this first makes the ordered grant.
    ///
    /// - Parameter reportsWithGrants: Whether a grant is also made for a refused token where the gate only reports.
    package func reply(
        to outcome: Result<Verdict, VerificationError>, reportsWithGrants: Bool = false, at now: Timestamp
    ) -> GateReply {
        let holder = holder(of: outcome, nil, reportsWithGrants: reportsWithGrants, at: now)
        let made = holder.flatMap { order?.outcome(identifier: $0.identifier, firstUse: $0.firstUse, at: now) }
        return reply(to: outcome, made, at: now)
    }

    /// The answer to the outcome of a verification.
    ///
    /// - Parameter made: The ordered grant; `nil` if none was made.
    fileprivate func reply(
        to outcome: Result<Verdict, VerificationError>, _ made: GrantOrder.Outcome?, at now: Timestamp
    ) -> GateReply {
        finished(answer(to: outcome, made, at: now), made, at: now)
    }

    /// The answer with its route, and with the request allowed where the gate only reports.
    ///
    /// - Parameter made: The grant that was made; `nil` if none was.
    fileprivate func finished(_ reply: GateReply, _ made: GrantOrder.Outcome? = nil, at now: Timestamp) -> GateReply {
        var reply = reply
        if reportsOnly, !reply.isAllowed {
            let play = (try? made?.get()).flatMap { made in order?.play(made, at: now) }
            reply = format.report(reply, url: order?.streamURL, play, at: now)
        }
        reply.route = route
        return reply
    }

    /// The token in whose name the ordered grant is made; `nil` if none is to be made: the token is refused, and the
    /// settings do not say that a gate which only reports makes grants all the same.
    fileprivate func holder(
        of outcome: Result<Verdict, VerificationError>, _ id: TokenID?, reportsWithGrants: Bool, at now: Timestamp
    ) -> (identifier: [UInt8], firstUse: Timestamp, isRetry: Bool)? {
        if case .success(.accepted(let token)) = outcome {
            return (token.replayKey.identifier, token.firstUse, token.isRetry)
        }
        guard reportsOnly && reportsWithGrants else { return nil }
        let words = [id?.word ?? .random(in: 0 ... .max), .random(in: 0 ... .max)]
        return (words.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }, now, false)
    }

    private func answer(
        to outcome: Result<Verdict, VerificationError>, _ made: GrantOrder.Outcome?, at now: Timestamp
    ) -> GateReply {
        switch outcome {
        case .success(.accepted(let token)):
            do throws(GrantError) {
                let made = try made?.get()
                return format.accept(token, made.flatMap { made in order.map { $0.play(made, at: now) } })
            } catch {
                return format.undecided("the token is consumed, and its grant cannot be made: \(error)")
            }
        case .success(.rejected(let rejection)): return format.reject(rejection, at: now)
        case .failure(let error): return format.undecided("\(error)")
        }
    }
}

extension Result where Success == Verdict {
    /// The claims of a token whose signature was verified, whatever became of it.
    fileprivate var authenticClaims: MediaTokenClaims? {
        switch self {
        case .success(.accepted(let token)): token.claims
        case .success(.rejected(let rejection)): rejection.authenticClaims
        case .failure: nil
        }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int {
        Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
    }
}

/// An exchange, and the part of the gate that its request asks.
private struct AskedExchange {
    let exchange: HTTPExchange
    let place: GateDestination?

    init(_ exchange: HTTPExchange, _ place: GateDestination?) { (self.exchange, self.place) = (exchange, place) }
}
